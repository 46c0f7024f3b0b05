# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Four times the program takes about four times the time to compile, whatever it is that there is more of.

Processor time of this process is compared with itself, and the bound lies far above linear growth and below that of the square:
what these tests are there for took the third or fourth power.
"""

import time

import pytest

import latewood

MATRIX = "tensor<16x16xf32>"
VECTOR = "tensor<4xf32>"


def function(arguments: list[str], lines: list[str], results: list[str], type: str, others: str = "") -> str:
    signature = f"func.func public @main({', '.join(arguments)}) -> ({', '.join([type] * len(results))})"
    returned = f"return {', '.join(results)} : {', '.join([type] * len(results))}"
    return "\n".join(["module @growth {", signature + " {", *lines, returned, "}", others, "}"])


def varied(count: int) -> str:
    """Steps of a dozen operations of all kinds, each on values of earlier ones."""
    lines, values = ["%zero = stablehlo.constant dense<0.0> : tensor<f32>"], ["%x", "%w"]
    for i in range(count // 12):
        a, b, v = values[-1], values[-min(len(values), 2 + i % 5)], f"%v{i}"
        lines += [
            f"{v}a = stablehlo.dot_general {a}, {b}, contracting_dims = [1] x [0] : ({MATRIX}, {MATRIX}) -> {MATRIX}",
            f"{v}b = stablehlo.transpose {v}a, dims = [1, 0] : ({MATRIX}) -> {MATRIX}",
            f"{v}c = stablehlo.reduce({v}b init: %zero) applies stablehlo.maximum across dimensions = [1] : ({MATRIX}, tensor<f32>) -> tensor<16xf32>",
            f"{v}d = stablehlo.broadcast_in_dim {v}c, dims = [0] : (tensor<16xf32>) -> {MATRIX}",
            f"{v}e = stablehlo.subtract {v}b, {v}d : {MATRIX}",
            f"{v}f = stablehlo.slice {v}e [0:8, 0:16] : ({MATRIX}) -> tensor<8x16xf32>",
            f"{v}g = stablehlo.slice {b} [8:16, 0:16] : ({MATRIX}) -> tensor<8x16xf32>",
            f"{v}h = stablehlo.concatenate {v}f, {v}g, dim = 0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> {MATRIX}",
            f"{v}i = stablehlo.reshape {v}h : ({MATRIX}) -> tensor<4x4x16xf32>",
            f"{v}j = stablehlo.transpose {v}i, dims = [1, 0, 2] : (tensor<4x4x16xf32>) -> tensor<4x4x16xf32>",
            f"{v}k = stablehlo.reshape {v}j : (tensor<4x4x16xf32>) -> {MATRIX}",
            f"{v} = stablehlo.{['tanh', 'logistic', 'sine'][i % 3]} {v}k : {MATRIX}",
        ]
        values.append(v)
    return function([f"%x: {MATRIX}", f"%w: {MATRIX}"], lines, [values[-1]], MATRIX)


def elementwise(count: int) -> str:
    """A chain in which each value is used again a little later."""
    lines, values = [], ["%x", "%w"]
    for i in range(count):
        earlier = values[-min(len(values), 1 + i % 7)]
        lines.append(
            f"%v{i} = stablehlo.tanh {values[-1]} : {MATRIX}"
            if i % 4 == 3
            else f"%v{i} = stablehlo.{['add', 'multiply', 'maximum'][i % 3]} {values[-1]}, {earlier} : {MATRIX}"
        )
        values.append(f"%v{i}")
    return function([f"%x: {MATRIX}", f"%w: {MATRIX}"], lines, [values[-1]], MATRIX)


def unrolled(count: int) -> str:
    lines, value = [], "%x"
    for i in range(count):
        lines.append(
            f"%d{i} = stablehlo.dot_general {value}, %w, contracting_dims = [1] x [0] : ({MATRIX}, {MATRIX}) -> {MATRIX}"
        )
        lines.append(f"%t{i} = stablehlo.tanh %d{i} : {MATRIX}")
        value = f"%t{i}"
    return function([f"%x: {MATRIX}", f"%w: {MATRIX}"], lines, [value], MATRIX)


def concatenated(count: int) -> str:
    """Pieces that are computed, and put together."""
    whole, piece = f"tensor<{count}x4xf32>", "tensor<1x4xf32>"
    lines = []
    for i in range(count):
        lines.append(f"%s{i} = stablehlo.slice %x [{count - 1 - i}:{count - i}, 0:4] : ({whole}) -> {piece}")
        lines.append(f"%p{i} = stablehlo.{['tanh', 'sine', 'cosine'][i % 3]} %s{i} : {piece}")
    pieces = ", ".join(f"%p{i}" for i in range(count))
    lines.append(f"%r = stablehlo.concatenate {pieces}, dim = 0 : ({', '.join([piece] * count)}) -> {whole}")
    return function([f"%x: {whole}"], lines, ["%r"], whole)


def updated(count: int) -> str:
    """Rows of one tensor are set one after the other, to what is read from it."""
    whole, row = f"tensor<{count}x4xf32>", "tensor<1x4xf32>"
    lines, value = ["%zero = stablehlo.constant dense<0> : tensor<i32>"], "%x"
    for i in range(count):
        lines += [
            f"%i{i} = stablehlo.constant dense<{i}> : tensor<i32>",
            f"%s{i} = stablehlo.slice {value} [{count - 1 - i}:{count - i}, 0:4] : ({whole}) -> {row}",
            f"%t{i} = stablehlo.tanh %s{i} : {row}",
            f"%u{i} = stablehlo.dynamic_update_slice {value}, %t{i}, %i{i}, %zero : ({whole}, {row}, tensor<i32>, tensor<i32>) -> {whole}",
        ]
        value = f"%u{i}"
    return function([f"%x: {whole}"], lines, [value], whole)


def signature(count: int) -> str:
    """As many arguments, and as many results."""
    arguments = [f"%a{i}: {VECTOR}" for i in range(count)]
    lines = [f"%r{i} = stablehlo.subtract %a{i}, %a{(i + 1) % count} : {VECTOR}" for i in range(count)]
    return function(arguments, lines, [f"%r{i}" for i in range(count)], VECTOR)


def calls(count: int) -> str:
    """Functions that call functions."""
    lines, others, value = [], [], "%x"
    for i in range(count):
        others.append(
            f"func.func private @f{i}(%x: {MATRIX}) -> {MATRIX} {{\n%0 = stablehlo.tanh %x : {MATRIX}\n"
            f"%1 = func.call @g{i}(%0) : ({MATRIX}) -> {MATRIX}\nreturn %1 : {MATRIX}\n}}\n"
            f"func.func private @g{i}(%x: {MATRIX}) -> {MATRIX} {{\n%0 = stablehlo.multiply %x, %x : {MATRIX}\n"
            f"return %0 : {MATRIX}\n}}"
        )
        lines.append(f"%c{i} = func.call @f{i}({value}) : ({MATRIX}) -> {MATRIX}")
        value = f"%c{i}"
    return function([f"%x: {MATRIX}"], lines, [value], MATRIX, "\n".join(others))


def conditionals(depth: int) -> str:
    """Each in a branch of the one before."""
    arguments = [f"%x: {MATRIX}"] + [f"%p{i}: tensor<i1>" for i in range(depth)]
    before = [f'%r{i} = "stablehlo.if"(%p{i}) ({{' for i in range(depth)]
    after = []
    for i in reversed(range(depth)):
        inner = f"%r{i + 1}" if i + 1 < depth else "%x"
        after += [
            f"%s{i} = stablehlo.add {inner}, %x : {MATRIX}",
            f"stablehlo.return %s{i} : {MATRIX}",
            "}, {",
            f"%e{i} = stablehlo.sine %x : {MATRIX}",
            f"stablehlo.return %e{i} : {MATRIX}",
            f"}}) : (tensor<i1>) -> {MATRIX}",
        ]
    return function(arguments, before + after, ["%r0"], MATRIX)


def loops(depth: int) -> str:
    """Each in the body of the one before."""
    lines = [f"%{name} = stablehlo.constant dense<{i}> : tensor<i32>" for i, name in enumerate(["zero", "one", "two"])]
    after, value = [], "%x"
    for i in range(depth):
        lines += [
            f"%r{i}:2 = stablehlo.while(%i{i} = %zero, %y{i} = {value}) : tensor<i32>, {MATRIX} cond {{",
            f"%c{i} = stablehlo.compare LT, %i{i}, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>",
            f"stablehlo.return %c{i} : tensor<i1>",
            "} do {",
        ]
        value = f"%y{i}"
        inner = f"%r{i + 1}#1" if i + 1 < depth else value
        after[:0] = [
            f"%t{i} = stablehlo.tanh {inner} : {MATRIX}",
            f"%n{i} = stablehlo.add %i{i}, %one : tensor<i32>",
            f"stablehlo.return %n{i}, %t{i} : tensor<i32>, {MATRIX}",
            "}",
        ]
    return function([f"%x: {MATRIX}"], lines + after, ["%r0#1"], MATRIX)


def compile_time(text: str) -> float:
    start = time.process_time()
    latewood.compile(text)
    return time.process_time() - start


@pytest.mark.parametrize(
    "program, count",
    [
        (varied, 600),
        (elementwise, 500),
        (unrolled, 300),
        (concatenated, 125),
        (updated, 100),
        (signature, 200),
        (calls, 150),
        (conditionals, 12),
        (loops, 10),
    ],
)
def test_growth(program, count):
    compile_time(program(3))
    small = min(compile_time(program(count)) for _ in range(2))
    large = compile_time(program(4 * count))
    assert large < 12 * small + 0.5, f"{small:.2f} s for {count}, {large:.2f} s for {4 * count}"
