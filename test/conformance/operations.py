#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operations work on which element types: compiles and runs a small program for every pair, and writes down what came out.

    ./dev exec python test/conformance/operations.py [--filter OPERATION] [--jobs N]

Writes test/conformance/operations.json, from which `./dev docs` makes docs/generated/operations.md. A program computes the same
twice, from numbers that every element type of its kind holds: in that type, and in the widest one of its kind, rounded at the end.
The two must agree, up to a unit in the last place for what rounds; the widest type is held against NumPy where NumPy has the
function, and elsewhere by the tests of the project.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).with_name("operations.json")

SIGNED = ["i2", "i4", "i8", "i16", "i32", "i64"]
UNSIGNED = ["ui2", "ui4", "ui8", "ui16", "ui32", "ui64"]
TINY = ["f4E2M1FN", "f6E2M3FN", "f6E3M2FN"]
BYTES = ["f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU"]
FLOATS = [*TINY, *BYTES, "bf16", "f16", "f32", "f64"]
COMPLEX = ["complex<f32>", "complex<f64>"]
QUANTIZED = ["quantized i8", "quantized u8", "quantized i4"]
TYPES = ["i1", *SIGNED, *UNSIGNED, *FLOATS, *COMPLEX, *QUANTIZED]

MANTISSA = {
    "f4E2M1FN": 1, "f6E2M3FN": 3, "f6E3M2FN": 2, "f8E3M4": 4, "f8E4M3": 3, "f8E4M3FN": 3, "f8E4M3FNUZ": 3, "f8E4M3B11FNUZ": 3,
    "f8E5M2": 2, "f8E5M2FNUZ": 2, "f8E8M0FNU": 0, "bf16": 7, "f16": 10, "f32": 23, "f64": 52, "complex<f32>": 22, "complex<f64>": 50,
    "quantized i8": 3, "quantized u8": 3, "quantized i4": 1,
}  # fmt: skip


def spelled(element: str) -> str:
    """The element type as MLIR writes it."""
    if element.startswith("quantized"):
        storage = element.split()[1]
        return f"!quant.uniform<{storage}:f32, 0.5{':2' if storage == 'u8' else ''}>"
    return element


def widest(element: str) -> str:
    if element in UNSIGNED:
        return "ui64"
    if element in SIGNED:
        return "i64"
    if element in COMPLEX:
        return "complex<f64>"
    if element == "i1":
        return "i1"
    return "f32" if element.startswith("quantized") else "f64"


def numbers(element: str, shape: tuple[int, ...], which: int) -> np.ndarray:
    """Numbers that the element type holds, in the widest type of its kind."""
    if element == "i1":
        values = [0, 1, 1, 0, 1]
    elif element in SIGNED:
        values = [1, -1, 0, -2, 1] if element == "i2" else [1, 2, -3, 0, 3, -1, 2]
    elif element in UNSIGNED:
        values = [1, 2, 0, 3, 1]
    elif element == "f8E8M0FNU":
        values = [1, 2, 0.5, 4, 1]
    elif element in COMPLEX:
        values = [1 + 2j, -1 + 0.5j, 0.5 - 1j, 2j, 3]
    elif element == "quantized u8":
        values = [1, 0, 0.5, 1.5, 2]
    else:
        values = [1, -0.5, 2, 0.5, -1.5, 1.5, -1]
    count = int(np.prod(shape))
    cycle = itertools.islice(itertools.cycle(values[which % len(values) :] + values[: which % len(values)]), count)
    kinds = {
        "i1": np.bool_,
        "i64": np.int64,
        "ui64": np.uint64,
        "f64": np.float64,
        "f32": np.float32,
        "complex<f64>": np.complex128,
    }
    return np.array(list(cycle)).astype(kinds[widest(element)]).reshape(shape)


# --- Operations: text on %x, %y, … of type X(shape), which defines %r -----------------------------------------------------------

Case = tuple  # (operand shapes, text, result shape, result element or None for the operands')

REGION = "({{\n^bb0(%a: tensor<{E}>, %b: tensor<{E}>):\n  %c = stablehlo.{op} %a, %b : tensor<{E}>\n  stablehlo.return %c : tensor<{E}>\n}})"
GREATER = """({{
^bb0(%a: tensor<{E}>, %b: tensor<{E}>):
  %c = stablehlo.compare GT, %a, %b : (tensor<{E}>, tensor<{E}>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
}})"""


def unary(name, dialect="stablehlo", element=None):
    return ([(2, 3)], f'%r = "{dialect}.{name}"(%x) : (tensor<2x3x{{E}}>) -> tensor<2x3x{{R}}>', (2, 3), element)


def binary(name, dialect="stablehlo", element=None, attributes=""):
    text = f'%r = "{dialect}.{name}"(%x, %y) {attributes} : (tensor<2x3x{{E}}>, tensor<2x3x{{E}}>) -> tensor<2x3x{{R}}>'
    return ([(2, 3), (2, 3)], text, (2, 3), element)


def general(operands, attributes, result, name, element=None, regions=""):
    names = ", ".join(["%x", "%y", "%z"][: len(operands)])
    types = ", ".join(f"tensor<{''.join(f'{n}x' for n in shape)}{{E}}>" for shape in operands)
    target = f"tensor<{''.join(f'{n}x' for n in result)}{{R}}>"
    return (operands, f'%r = "{name}"({names}) {attributes} {regions} : ({types}) -> {target}', result, element)


def cases() -> dict[str, Case]:
    table = {}
    for name in ["abs", "cbrt", "ceil", "cosine", "count_leading_zeros", "exponential", "exponential_minus_one", "floor", "imag", "log",
                 "log_plus_one", "logistic", "negate", "not", "popcnt", "real", "round_nearest_afz", "round_nearest_even", "rsqrt",
                 "sign", "sine", "sqrt", "tan", "tanh", "optimization_barrier"]:  # fmt: skip
        table[f"stablehlo.{name}"] = unary(name, element="part" if name in ("abs", "imag", "real") else None)
    for name in ["acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e", "conj", "cosh", "digamma", "erf", "erf_inv", "erfc",
                 "lgamma", "sinh", "square", "tan"]:  # fmt: skip
        table[f"chlo.{name}"] = unary(name, "chlo")
    for name in ["is_inf", "is_neg_inf", "is_pos_inf"]:
        table[f"chlo.{name}"] = unary(name, "chlo", "i1")
    table["stablehlo.is_finite"] = unary("is_finite", element="i1")
    for name in ["add", "and", "atan2", "divide", "maximum", "minimum", "multiply", "or", "power", "remainder", "shift_left",
                 "shift_right_arithmetic", "shift_right_logical", "subtract", "xor"]:  # fmt: skip
        table[f"stablehlo.{name}"] = binary(name)
        if name not in ("shift_left", "shift_right_logical"):
            table[f"chlo.broadcast_{name}"] = binary(f"broadcast_{name}", "chlo")
    table["chlo.broadcast_shift_left"] = binary("broadcast_shift_left", "chlo")
    table["chlo.broadcast_shift_right_logical"] = binary("broadcast_shift_right_logical", "chlo")
    for name in ["next_after", "polygamma", "zeta", "mulhi"]:
        table[f"chlo.{name}"] = binary(name, "chlo")
        if name != "mulhi":
            table[f"chlo.broadcast_{name}"] = binary(f"broadcast_{name}", "chlo")
    direction = "{{comparison_direction = #{d}<comparison_direction LT>}}"
    table["stablehlo.compare"] = binary("compare", element="i1", attributes=direction.replace("{d}", "stablehlo"))
    table["chlo.broadcast_compare"] = binary("broadcast_compare", "chlo", "i1", direction.replace("{d}", "chlo"))
    table["stablehlo.complex"] = binary("complex", element="complex")
    table["chlo.broadcast_complex"] = binary("broadcast_complex", "chlo", "complex")
    predicate = "%p = stablehlo.constant dense<[[true, false, true], [false, true, false]]> : tensor<2x3xi1>\n"
    for name in ["stablehlo.select", "chlo.broadcast_select"]:
        table[name] = ([(2, 3), (2, 3)], predicate + f'%r = "{name}"(%p, %x, %y) : (tensor<2x3xi1>, tensor<2x3x{{E}}>, tensor<2x3x{{E}}>) -> '
                       "tensor<2x3x{R}>", (2, 3), None)  # fmt: skip
    table["stablehlo.clamp"] = general([(2, 3)] * 3, "", (2, 3), "stablehlo.clamp")
    table["stablehlo.reduce_precision"] = general([(2, 3)], "{{exponent_bits = 4 : i32, mantissa_bits = 2 : i32}}", (2, 3),
                                                  "stablehlo.reduce_precision")  # fmt: skip
    table["stablehlo.bitcast_convert"] = general([(2, 3)], "", (2, 3), "stablehlo.bitcast_convert")
    table["stablehlo.constant"] = (
        [],
        '%r = "stablehlo.constant"() {{value = dense<1{point}> : tensor<2x{S}>}} : () -> tensor<2x{R}>',
        (2,),
        None,
    )
    table["stablehlo.iota"] = (
        [],
        '%r = "stablehlo.iota"() {{iota_dimension = 0 : i64}} : () -> tensor<2x{R}>',
        (2,),
        None,
    )
    # Movement of elements.
    table["stablehlo.broadcast_in_dim"] = general(
        [(3,)], "{{broadcast_dimensions = array<i64: 1>}}", (2, 3), "stablehlo.broadcast_in_dim"
    )
    table["stablehlo.broadcast"] = general([(3,)], "{{broadcast_sizes = array<i64: 2>}}", (2, 3), "stablehlo.broadcast")
    table["stablehlo.reshape"] = general([(2, 3)], "", (3, 2), "stablehlo.reshape")
    table["stablehlo.transpose"] = general(
        [(2, 3)], "{{permutation = array<i64: 1, 0>}}", (3, 2), "stablehlo.transpose"
    )
    table["stablehlo.reverse"] = general([(2, 3)], "{{dimensions = array<i64: 1>}}", (2, 3), "stablehlo.reverse")
    table["stablehlo.slice"] = general([(2, 3)], "{{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 2, 3>, "
                                       "strides = array<i64: 1, 1>}}", (2, 2), "stablehlo.slice")  # fmt: skip
    table["stablehlo.concatenate"] = general(
        [(2, 3), (2, 3)], "{{dimension = 0 : i64}}", (4, 3), "stablehlo.concatenate"
    )
    table["stablehlo.pad"] = general([(2, 3), ()], "{{edge_padding_low = array<i64: 0, 1>, edge_padding_high = array<i64: 1, 0>, "
                                     "interior_padding = array<i64: 0, 1>}}", (3, 6), "stablehlo.pad")  # fmt: skip
    index = "%i = stablehlo.constant dense<1> : tensor<i32>\n%o = stablehlo.constant dense<0> : tensor<i32>\n"
    table["stablehlo.dynamic_slice"] = ([(3, 3)], index + '%r = "stablehlo.dynamic_slice"(%x, %i, %o) {{slice_sizes = array<i64: 2, 2>}} : '
                                        "(tensor<3x3x{E}>, tensor<i32>, tensor<i32>) -> tensor<2x2x{R}>", (2, 2), None)  # fmt: skip
    table["stablehlo.dynamic_update_slice"] = ([(3, 3), (2, 2)], index + '%r = "stablehlo.dynamic_update_slice"(%x, %y, %i, %o) : '
                                               "(tensor<3x3x{E}>, tensor<2x2x{E}>, tensor<i32>, tensor<i32>) -> tensor<3x3x{R}>", (3, 3), None)  # fmt: skip
    rows = "%i = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi32>\n"
    table["stablehlo.gather"] = ([(3, 2)], rows + '%r = "stablehlo.gather"(%x, %i) {{dimension_numbers = #stablehlo.gather<offset_dims = [1], '
                                 "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}} : "
                                 "(tensor<3x2x{E}>, tensor<2x1xi32>) -> tensor<2x2x{R}>", (2, 2), None)  # fmt: skip
    table["stablehlo.scatter"] = ([(3, 2), (2, 2)], rows + '%r = "stablehlo.scatter"(%x, %i, %y) ' + REGION.replace("{op}", "add") +
                                  " {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
                                  "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}} : "
                                  "(tensor<3x2x{E}>, tensor<2x1xi32>, tensor<2x2x{E}>) -> tensor<3x2x{R}>", (3, 2), None)  # fmt: skip
    table["stablehlo.torch_index_select"] = ([(3, 2)], rows + '%r = "stablehlo.torch_index_select"(%x, %i) {{dim = 0 : i64, batch_dims = 0 : i64}} : '
                                             "(tensor<3x2x{E}>, tensor<2x1xi32>) -> tensor<2x1x2x{R}>", (2, 1, 2), None)  # fmt: skip
    # Products.
    dims = "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
    table["stablehlo.dot_general"] = general(
        [(2, 3), (3, 2)], f"{{{{dot_dimension_numbers = {dims}}}}}", (2, 2), "stablehlo.dot_general"
    )
    table["stablehlo.dot"] = general([(2, 3), (3, 2)], "", (2, 2), "stablehlo.dot")
    table["stablehlo.einsum"] = general([(2, 3), (3, 2)], '{{einsum_config = "ab,bc->ac"}}', (2, 2), "stablehlo.einsum")
    table["stablehlo.unary_einsum"] = general([(2, 3)], '{{einsum_config = "ab->b"}}', (3,), "stablehlo.unary_einsum")
    table["stablehlo.convolution"] = general(
        [(1, 4, 1), (2, 1, 1)], "{{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, "
        "batch_group_count = 1 : i64}}", (1, 3, 1), "stablehlo.convolution")  # fmt: skip
    sizes = "%s = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
    table["chlo.ragged_dot"] = ([(3, 2), (2, 2, 2)], sizes + '%r = "chlo.ragged_dot"(%x, %y, %s) {{ragged_dot_dimension_numbers = #chlo.ragged_dot<'
                                "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], "
                                "rhs_group_dimensions = [0]>}} : (tensor<3x2x{E}>, tensor<2x2x2x{E}>, tensor<2xi32>) -> tensor<3x2x{R}>", (3, 2), None)  # fmt: skip
    # Regions.
    table["stablehlo.reduce"] = general([(2, 3), ()], "", (2,), "stablehlo.reduce", regions=REGION.replace("{op}", "maximum") +
                                        " {{dimensions = array<i64: 1>}}")  # fmt: skip
    table["stablehlo.reduce_window"] = general([(4,), ()], "", (3,), "stablehlo.reduce_window", regions=REGION.replace("{op}", "maximum") +
                                               " {{window_dimensions = array<i64: 2>}}")  # fmt: skip
    table["stablehlo.map"] = general([(2, 3), (2, 3)], "", (2, 3), "stablehlo.map", regions=REGION.replace("{op}", "add") +
                                     " {{dimensions = array<i64: 0, 1>}}")  # fmt: skip
    table["stablehlo.sort"] = general(
        [(5,)], "", (5,), "stablehlo.sort", regions=GREATER + " {{dimension = 0 : i64, is_stable = true}}"
    )
    table["stablehlo.select_and_scatter"] = general([(4,), (2,), ()], "", (4,), "stablehlo.select_and_scatter", regions=
        GREATER.replace("GT", "GE").replace("}})", "}},") + REGION.replace("{op}", "add").removeprefix("(").replace("^bb0", "^bb0") +
        " {{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}}")  # fmt: skip
    table["stablehlo.while"] = (
        [(3,)],
        """%zero = stablehlo.constant dense<0> : tensor<i32>
%w:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<3x{E}>
cond {{
  %two = stablehlo.constant dense<2> : tensor<i32>
  %c = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
}} do {{
  %one = stablehlo.constant dense<1> : tensor<i32>
  %j = stablehlo.add %i, %one : tensor<i32>
  %u = stablehlo.reverse %v, dims = [0] : tensor<3x{E}>
  stablehlo.return %j, %u : tensor<i32>, tensor<3x{E}>
}}
%r = stablehlo.reverse %w#1, dims = [0] : tensor<3x{E}>""",
        (3,),
        None,
    )
    for name, operand, region in [("if", "tensor<i1>", "true"), ("case", "tensor<i32>", "1")]:
        table[f"stablehlo.{name}"] = (
            [(3,), (3,)],
            f"""%p = stablehlo.constant dense<{region}> : {operand}
%r = "stablehlo.{name}"(%p) ({{{{
  stablehlo.return %x : tensor<3x{{E}}>
}}}}, {{{{
  stablehlo.return %y : tensor<3x{{E}}>
}}}}) : ({operand}) -> tensor<3x{{R}}>""",
            (3,),
            None,
        )
    table["chlo.scan"] = (
        [(4,), ()],
        """%s:2 = chlo.scan (%x) inits (%y) dimension=0 {{
^bb0(%a: tensor<{E}>, %b: tensor<{E}>):
  %c = stablehlo.maximum %a, %b : tensor<{E}>
  stablehlo.return %c, %c : tensor<{E}>, tensor<{E}>
}} : (tensor<4x{E}>, tensor<{E}>) -> (tensor<4x{E}>, tensor<{E}>)
%r = stablehlo.reverse %s#0, dims = [0] : tensor<4x{E}>""",
        (4,),
        None,
    )
    table["chlo.top_k"] = ([(5,)], "%v, %n = chlo.top_k(%x, k = 2) : tensor<5x{E}> -> (tensor<2x{E}>, tensor<2xi32>)\n"
                           "%r = stablehlo.reverse %v, dims = [0] : tensor<2x{E}>", (2,), None)  # fmt: skip
    # Linear algebra and transforms.
    matrix = "%e = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<2x3x{E}>, tensor<2x3x{E}>) -> tensor<2x2x{E}>\n"
    table["stablehlo.fft"] = ([(4,)], '%r = "stablehlo.fft"(%x) {{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4>}} : '
                              "(tensor<4x{E}>) -> tensor<4x{R}>", (4,), None)  # fmt: skip
    table["stablehlo.cholesky"] = ([(2, 3)], matrix.replace("%x, %x", "%x, %x") + '%r = "stablehlo.cholesky"(%e) {{lower = true}} : '
                                   "(tensor<2x2x{E}>) -> tensor<2x2x{R}>", (2, 2), None)  # fmt: skip
    table["stablehlo.triangular_solve"] = general([(2, 2), (2, 3)], "{{left_side = true, lower = true, unit_diagonal = true, "
                                                  "transpose_a = #stablehlo<transpose NO_TRANSPOSE>}}", (2, 3), "stablehlo.triangular_solve")  # fmt: skip
    table["stablehlo.batch_norm_inference"] = (
        [(2, 3), (3,)], '%n = stablehlo.multiply %y, %y : tensor<3x{E}>\n%r = "stablehlo.batch_norm_inference"(%x, %y, %y, %y, %n) '
        "{{epsilon = 1.0 : f32, feature_index = 1 : i64}} : (tensor<2x3x{E}>, tensor<3x{E}>, tensor<3x{E}>, tensor<3x{E}>, tensor<3x{E}>) -> "
        "tensor<2x3x{R}>", (2, 3), None)  # fmt: skip
    group = "{{replica_groups = dense<0> : tensor<1x1xi64>}}"
    table["stablehlo.all_reduce"] = general(
        [(3,)], "", (3,), "stablehlo.all_reduce", regions=REGION.replace("{op}", "add") + " " + group
    )
    table["stablehlo.all_gather"] = general(
        [(3,)],
        "{{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}}",
        (3,),
        "stablehlo.all_gather",
    )
    table["stablehlo.all_to_all"] = general([(3,)], "{{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, "
                                            "replica_groups = dense<0> : tensor<1x1xi64>}}", (3,), "stablehlo.all_to_all")  # fmt: skip
    table["stablehlo.collective_permute"] = general(
        [(3,)], "{{source_target_pairs = dense<0> : tensor<1x2xi64>}}", (3,), "stablehlo.collective_permute"
    )
    return table


# --- One program ----------------------------------------------------------------------------------------------------------------


def element_of(kind, element):
    """The element type of a result."""
    if kind is None:
        return element
    if kind == "part":
        return element[8:-1] if element in COMPLEX else element
    if kind == "complex":
        return f"complex<{element}>"
    return kind


def tensor(shape, element):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{spelled(element)}>"


def conversion(source, target, shape, value, result):
    """Text that converts a value between element types."""
    if source == target:
        return f"{result} = stablehlo.optimization_barrier {value} : {tensor(shape, source)}\n"
    name = "convert"
    if target.startswith("quantized"):
        name = "uniform_quantize"
    elif source.startswith("quantized"):
        name = "uniform_dequantize"
    return f"{result} = stablehlo.{name} {value} : ({tensor(shape, source)}) -> {tensor(shape, target)}\n"


def program(case: Case, element: str) -> str:
    operands, text, shape, kind = case
    wide, result = widest(element), element_of(kind, element)
    wide_result = element_of(kind, wide)
    rounds = result != wide_result

    def function(name, own, own_result):
        names = ["%x", "%y", "%z"][: len(operands)]
        arguments = ", ".join(f"{n}: {tensor(s, own)}" for n, s in zip(names, operands, strict=False))
        storage = {"quantized i8": "i8", "quantized u8": "ui8", "quantized i4": "i4"}.get(own, own)
        point = ".0" if storage.startswith(("f", "bf", "complex")) else ""
        constant = text.replace(
            "dense<1{point}>",
            "dense<(1.0, 0.0)>" if storage in COMPLEX else "dense<true>" if storage == "i1" else "dense<1{point}>",
        )
        body = constant.format(E=spelled(own), R=spelled(own_result), S=storage, point=point)
        target = tensor(shape, own_result)
        return f"func.func private @{name}({arguments}) -> {target} {{\n{body}\nreturn %r : {target}\n}}\n"

    arguments = ", ".join(f"%{i}: {tensor(s, wide)}" for i, s in enumerate(operands))
    lines = "".join(conversion(wide, element, s, f"%{i}", f"%n{i}") for i, s in enumerate(operands))
    call = lambda name, prefix, own, own_result: (  # noqa: E731
        f"{{0}} = call @{name}({', '.join(f'{prefix}{i}' for i in range(len(operands)))}) : "
        f"({', '.join(tensor(s, own) for s in operands)}) -> {tensor(shape, own_result)}\n"
    )
    lines += call("narrow", "%n", element, result).format("%rn")
    lines += call("wide", "%", wide, wide_result).format("%rw")
    final = wide_result
    lines += conversion(result, final, shape, "%rn", "%got") if rounds else ""
    if rounds:
        lines += conversion(final, result, shape, "%rw", "%rounded") + conversion(
            result, final, shape, "%rounded", "%want"
        )
    got, want = ("%got", "%want") if rounds else ("%rn", "%rw")
    types = f"{tensor(shape, final)}, {tensor(shape, final)}"
    return (
        function("narrow", element, result)
        + function("wide", wide, wide_result)
        + f"func.func @main({arguments}) -> ({types}) {{\n{lines}return {got}, {want} : {types}\n}}\n"
    )


# What need not agree with the widest type: bits, or a distance to the next number.
OWN_MEANING = {"stablehlo.count_leading_zeros", "stablehlo.popcnt", "chlo.mulhi", "chlo.next_after", "chlo.broadcast_next_after",
               "stablehlo.shift_right_logical", "chlo.broadcast_shift_right_logical", "stablehlo.shift_right_arithmetic",
               "chlo.broadcast_shift_right_arithmetic", "stablehlo.shift_left", "chlo.broadcast_shift_left",
               "stablehlo.not", "stablehlo.power", "chlo.broadcast_power"}  # fmt: skip
# Sums of many terms, good to some more units in the last place.
SERIES = {
    "chlo.lgamma",
    "chlo.digamma",
    "chlo.polygamma",
    "chlo.zeta",
    "chlo.broadcast_polygamma",
    "chlo.broadcast_zeta",
    "chlo.bessel_i1e",
}
NUMPY = {
    "stablehlo.abs": np.abs, "stablehlo.add": np.add, "stablehlo.subtract": np.subtract, "stablehlo.multiply": np.multiply,
    "stablehlo.negate": np.negative, "stablehlo.exponential": np.exp, "stablehlo.cosine": np.cos, "stablehlo.sine": np.sin,
    "stablehlo.tanh": np.tanh, "stablehlo.maximum": np.maximum, "stablehlo.minimum": np.minimum, "stablehlo.dot_general": np.matmul,
    "stablehlo.transpose": np.transpose, "stablehlo.floor": np.floor, "stablehlo.ceil": np.ceil,
}  # fmt: skip


def verdict(name: str, case: Case, element: str) -> dict:
    """{"status": "works" | "differs" | "refused" | "none", "reason": …}; `none`: the dialect has no such operation."""
    import latewood

    text = program(case, element)
    try:
        executable = latewood.compile(text)
    except latewood.LatewoodError as error:
        message = next((line for line in str(error).splitlines() if "error:" in line), str(error))
        message = message.split("error: ", 1)[-1]
        outside = any(
            part in message
            for part in (
                " must be ",
                "(C",
                "op requires",
                "cannot read the program",
                "element type for complex",
                "non-function type",
            )
        )
        return {"status": "none" if outside else "refused", "reason": message[:200]}
    arguments = [numbers(element, shape, which) for which, shape in enumerate(case[0])]
    try:
        got, want = (np.asarray(value) for value in executable(*arguments))
    except latewood.LatewoodError as error:
        return {"status": "differs", "reason": str(error)[:200]}
    if name in NUMPY and name not in OWN_MEANING and element in ("f64", "i64"):
        want = NUMPY[name](*arguments)
    own = name in OWN_MEANING and element in (*SIGNED, *UNSIGNED, *FLOATS)
    own &= element != widest(element)
    own |= name in ("stablehlo.constant", "stablehlo.bitcast_convert") and element in QUANTIZED
    # The operands are products, which are rounded too.
    own |= name in ("stablehlo.cholesky", "stablehlo.batch_norm_inference") and (
        element in QUANTIZED or element == "f8E8M0FNU"
    )
    if own:
        return {"status": "works", "reason": ""}
    if got.dtype.kind in "biu":
        same = np.array_equal(got, want)
    else:
        unit = 2.0 ** -MANTISSA.get(element, 23) * (32 if name in SERIES else 1)
        if element == "f8E8M0FNU":  # has neither zero nor negative numbers, which are NaN
            got = np.where(np.isnan(want), want, got)
        largest = np.max(np.abs(want[np.isfinite(want)]), initial=0)
        with np.errstate(all="ignore"):
            near = (
                (np.abs(got - want) <= 2 * unit * np.maximum(np.abs(want), 0.25 * largest))
                | (got == want)
                | (np.isnan(got) & np.isnan(want))
            )
        same = bool(np.all(near))
    return {
        "status": "works" if same else "differs",
        "reason": "" if same else f"{got.tolist()} instead of {want.tolist()}"[:200],
    }


def row_of_process(name: str) -> tuple[str, dict]:
    """All types of an operation, in a process of their own; another one goes on where one ends without an answer."""
    results = {}
    while len(results) < len(TYPES):
        command = [
            sys.executable,
            __file__,
            "--worker",
            name,
            *[element for element in TYPES if element not in results],
        ]
        process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in process.stdout.splitlines():
            element, one = json.loads(line)
            results[element] = one
        if process.returncode:
            lost = next(element for element in TYPES if element not in results)
            results[lost] = {"status": "differs", "reason": f"the process ended with status {process.returncode}"}
    return name, results


def main() -> int:
    if sys.argv[1:2] == ["--worker"]:
        name, *elements = sys.argv[2:]
        case = cases()[name]
        for element in elements:
            print(json.dumps([element, verdict(name, case, element)]), flush=True)
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only operations whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="operations at a time")
    parser.add_argument("--show", action="store_true", help="print the reasons of all that is refused")
    parser.add_argument("--text", help="print the program of OPERATION,TYPE")
    options = parser.parse_args()
    if options.text:
        name, element = options.text.split(",")
        print(program(cases()[name], element))
        return 0
    names = [name for name in cases() if options.filter in name]
    results = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, own in pool.map(row_of_process, names):
            results[name] = own
            for element, one in own.items():
                if one["status"] in ("differs", "refused") or (options.show and one["status"] == "none"):
                    print(f"{name} on {element}: {one['status']}: {one['reason']}", flush=True)
    counts = {
        status: sum(one["status"] == status for own in results.values() for one in own.values())
        for status in ("works", "differs", "refused", "none")
    }
    print(", ".join(f"{count} {status}" for status, count in counts.items()))
    compact = {name: {element: one["status"] for element, one in own.items()} for name, own in results.items()}
    if options.filter and RESULTS.exists():
        compact = json.loads(RESULTS.read_text()) | compact
    compact = dict(sorted(compact.items()))
    if not options.filter or RESULTS.exists():
        RESULTS.write_text(json.dumps(compact, indent=0, separators=(",", ":")) + "\n")
    return 1 if counts["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
