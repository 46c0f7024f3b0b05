# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of loops and branches over vectors whose lengths change all the time. A program is written twice, as StableHLO and as
functions on NumPy arrays; both hosts and both conventions give what NumPy gives, and leave no memory behind."""

import random

import numpy as np
import pytest

from latewood import compiler, runtime

VECTOR, NUMBER, MOST = "tensor<?xi32>", "tensor<i32>", 60


class Writer:
    """Lines of StableHLO, and steps that do the same to a dictionary of arrays."""

    def __init__(self, seed: int):
        self.random, self.names = random.Random(seed), 0

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def number(self, lines, text: str) -> str:
        result = self.name()
        lines.append(f"{result} = {text} : {NUMBER}" if "->" not in text else f"{result} = {text}")
        return result

    def constant(self, lines, value: int) -> str:
        return self.number(lines, f"stablehlo.constant dense<{value}>")

    def size(self, lines, vector: str) -> str:
        return self.number(lines, f"stablehlo.get_dimension_size {vector}, dim = 0 : ({VECTOR}) -> {NUMBER}")

    def total(self, lines, vector: str) -> str:
        zero = self.constant(lines, 0)
        operands = f"({vector} init: {zero}) applies stablehlo.add across dimensions = [0]"
        return self.number(lines, f"stablehlo.reduce{operands} : ({VECTOR}, {NUMBER}) -> {NUMBER}")

    def prefix(self, lines, vector: str, limit: str) -> str:
        bounds = []
        for number in (self.constant(lines, 0), limit, self.constant(lines, 1)):
            bounds.append(self.number(lines, f"stablehlo.reshape {number} : ({NUMBER}) -> tensor<1xi32>"))
        result, types = self.name(), ", ".join(["tensor<1xi32>"] * 3)
        lines.append(
            f"{result} = stablehlo.real_dynamic_slice {vector}, {', '.join(bounds)} : ({VECTOR}, {types}) -> {VECTOR}"
        )
        return result

    def iota(self, lines, length: str) -> str:
        shape = self.number(lines, f"stablehlo.reshape {length} : ({NUMBER}) -> tensor<1xi32>")
        return self.number(lines, f"stablehlo.dynamic_iota {shape}, dim = 0 : (tensor<1xi32>) -> {VECTOR}")

    def operation(self, vectors):
        """One operation: its lines, its step, and the names that it gives."""
        kind, lines, source = self.random.randrange(7), [], self.random.choice(vectors)
        if kind == 0:
            other, both = self.random.choice(vectors), self.name()
            lines.append(
                f"{both} = stablehlo.concatenate {source}, {other}, dim = 0 : ({VECTOR}, {VECTOR}) -> {VECTOR}"
            )
            most = self.number(lines, f"stablehlo.minimum {self.size(lines, both)}, {self.constant(lines, MOST)}")
            result = self.prefix(lines, both, most)
            compute = lambda values: np.concatenate([values[source], values[other]])[:MOST]
        elif kind == 1:
            result = self.name()
            lines.append(f"{result} = stablehlo.add {source}, {source} : {VECTOR}")
            compute = lambda values: values[source] + values[source]
        elif kind == 2:
            half = self.number(lines, f"stablehlo.divide {self.size(lines, source)}, {self.constant(lines, 2)}")
            result = self.prefix(lines, source, half)
            compute = lambda values: values[source][: len(values[source]) // 2]
        elif kind == 3:
            result = self.number(lines, f"stablehlo.custom_call @latewood.nonzero({source}) : ({VECTOR}) -> {VECTOR}")
            compute = lambda values: np.flatnonzero(values[source]).astype(np.int32)
        elif kind == 4:
            mask = self.random.randint(1, 8)
            length = self.number(lines, f"stablehlo.and {self.total(lines, source)}, {self.constant(lines, mask)}")
            result = self.iota(lines, length)
            compute = lambda values: np.arange(values[source].sum(dtype=np.int32) & mask, dtype=np.int32)
        elif kind == 5:
            result = self.name()
            lines.append(f"{result} = stablehlo.reverse {source}, dims = [0] : {VECTOR}")
            compute = lambda values: values[source][::-1]
        else:
            numbers = [self.random.randint(-3, 3) for _ in range(self.random.randint(0, 4))]
            type, fixed = f"tensor<{len(numbers)}xi32>", self.name()
            lines.append(f"{fixed} = stablehlo.constant dense<{numbers or ''}> : {type}")
            result = self.number(lines, f"stablehlo.convert {fixed} : ({type}) -> {VECTOR}")
            compute = lambda values: np.array(numbers, np.int32)
        return lines, lambda values: values.__setitem__(result, compute(values)), [result]

    def block(self, vectors, depth: int):
        lines, steps, vectors = [], [], list(vectors)
        for _ in range(self.random.randint(1, 3 if depth < 3 else 5)):
            make = self.random.choice([self.operation, self.operation, self.branches, self.loop])
            more, step, names = make(vectors, depth) if depth and make != self.operation else self.operation(vectors)
            lines, steps, vectors = lines + more, [*steps, step], vectors + names
        return lines, steps, vectors

    def branches(self, vectors, depth: int):
        lines, source, types = [], self.random.choice(vectors), ", ".join([VECTOR] * 2)
        number, base = self.total(lines, source), self.name()
        blocks = [self.block(vectors, depth - 1) for _ in range(self.random.randint(1, 3))]
        given = [self.random.choices(names, k=2) for _, _, names in blocks]
        bodies = [
            "\n".join([*body, f"stablehlo.return {', '.join(results)} : {types}"])
            for (body, _, _), results in zip(blocks, given, strict=True)
        ]
        text = "}, {\n".join(bodies)
        lines.append(f'{base}:2 = "stablehlo.case"({number}) ({{\n{text}}}) : ({NUMBER}) -> ({types})')

        def step(values):
            taken = values[source].sum(dtype=np.int32)
            taken = taken if 0 <= taken < len(blocks) else len(blocks) - 1
            inner = dict(values)
            for each in blocks[taken][1]:
                each(inner)
            for index, result in enumerate(given[taken]):
                values[f"{base}#{index}"] = inner[result]

        return lines, step, [f"{base}#0", f"{base}#1"]

    def loop(self, vectors, depth: int):
        lines, count, limit = [], self.random.randint(0, 3), 7
        inits, carried = self.random.choices(vectors, k=2), [self.name(), self.name()]
        zero, one, rounds, most = (self.constant(lines, value) for value in (0, 1, count, limit))
        body, steps, names = self.block(vectors + carried, depth - 1)
        given, base, index = self.random.choices(names[-4:] + carried, k=2), self.name(), self.name()
        types = f"{NUMBER}, {VECTOR}, {VECTOR}"
        compare = f" : ({NUMBER}, {NUMBER}) -> tensor<i1>"
        condition = []
        early = self.number(condition, f"stablehlo.compare LT, {index}, {rounds}{compare}")
        short = self.number(condition, f"stablehlo.compare LT, {self.size(condition, carried[0])}, {most}{compare}")
        condition.append(f"{base}c = stablehlo.and {early}, {short} : tensor<i1>")
        condition.append(f"stablehlo.return {base}c : tensor<i1>")
        body = [*body, f"{base}n = stablehlo.add {index}, {one} : {NUMBER}"]
        body.append(f"stablehlo.return {base}n, {', '.join(given)} : {types}")
        heads = ", ".join(f"{a} = {b}" for a, b in zip([index, *carried], [zero, *inits], strict=True))
        lines.append(f"{base}:3 = stablehlo.while({heads}) : {types} cond {{")
        lines += [*condition, "} do {", *body, "}"]

        def step(values):
            current, done = [values[init] for init in inits], 0
            while done < count and len(current[0]) < limit:
                inner = dict(values, **dict(zip(carried, current, strict=True)))
                for each in steps:
                    each(inner)
                current, done = [inner[result] for result in given], done + 1
            values.update({f"{base}#1": current[0], f"{base}#2": current[1]})

        return lines, step, [f"{base}#1", f"{base}#2"]


@pytest.mark.parametrize("seed", range(24))
def test_program(seed):
    writer = Writer(seed)
    lines, steps, names = writer.block(["%a", "%b"], 3)
    results, types = writer.random.choices(names[2:], k=2), ", ".join([VECTOR] * 2)
    text = "\n".join(
        [f"func.func public @main(%a: {VECTOR}, %b: {VECTOR}) -> ({types}) {{", *lines]
        + [f"return {', '.join(results)} : {types}", "}"]
    )
    options = compiler.StableHLOToExecutableOptions([f"--host={('native', 'lua')[seed % 2]}"])
    executable = compiler.CompilerClient().stablehlo_to_executable(compiler.Module.parse(text), options)
    client = runtime.RuntimeClient()
    session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), executable)
    numbers = np.random.default_rng(seed)
    for lengths in ((0, 0), (1, 3), (5, 2), (8, 8)):
        values = {
            name: numbers.integers(-3, 4, n).astype(np.int32) for name, n in zip(("%a", "%b"), lengths, strict=True)
        }
        given = [client.create_memref(values[name]) for name in ("%a", "%b")]
        for step in steps:
            step(values)
        expected = [values[result] for result in results]
        outs = [np.empty_like(right) for right in expected]
        allocated = session.execute_function("main", in_args=given)
        session.execute_function("main", in_args=given, out_args=outs)
        for mine, out, right in zip(allocated, outs, expected, strict=True):
            np.testing.assert_array_equal(np.asarray(mine), right, err_msg=text)
            np.testing.assert_array_equal(out, right, err_msg=text)
        assert session.statistics()["temporaries"]["live_bytes"] == 0
