# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damaged programs: text with tokens dropped, doubled, swapped and replaced, and bytecode that is cut off and goes on with
something else, or has some bytes changed. Whatever comes out, it is a module that compiles or an error of ours, never a crash;
found in a process of its own, with fixed seeds. More rounds: LATEWOOD_FUZZ_ROUNDS=2000 ./dev test python -- -k fuzz"""

import os
import subprocess
import sys
from pathlib import Path

import models
import numpy as np
import pytest
from conftest import lower_text

import latewood

HERE = Path(__file__).resolve().parent
ROUNDS = int(os.environ.get("LATEWOOD_FUZZ_ROUNDS", "60"))

PROGRAM = """
import random, re, sys
import conftest, latewood

path, rounds, current = sys.argv[1], int(sys.argv[2]), sys.argv[3]
data = open(path, "rb").read()
random.seed(path.rsplit("/", 1)[-1])
WORDS = ["0", "-1", "1", "2", "4", "9223372036854775807", "f32", "i1", "i32", "tensor<4xf32>", "tensor<f32>", "tensor<0xf32>",
         "tensor<?xf32>", "tensor<*xf32>", "[", "]", "(", ")", "{", "}", "<", ">", "->", ":", ",", "%0", "%arg0", "@main", "dense", "none"]

def mutate_text(text):
    tokens = re.findall(r"[A-Za-z_.0-9$@%#!-]+|\\s+|.", text)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        i, j = random.randrange(len(tokens)), random.randrange(len(tokens))
        kind = random.randrange(5)
        if kind == 0:
            del tokens[i]
        elif kind == 1:
            tokens.insert(i, tokens[j])
        elif kind == 2:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif kind == 3:
            tokens[i] = random.choice(WORDS)
        else:
            tokens[i] = tokens[j]
    return "".join(tokens).encode()

def mutate_bytes(data):
    if random.random() < 0.5:
        changed = bytearray(data)
        for _ in range(random.choice((1, 1, 2, 5))):
            changed[random.randrange(4, len(data))] = random.choice((0, 1, 255, random.randrange(256)))
        return bytes(changed)
    return data[: random.randrange(4, len(data))] + random.choice((b"", b"\\0" * 8, random.randbytes(50)))

compiled = refused = 0
for _ in range(rounds):
    program = mutate_bytes(data) if data.startswith(b"ML\\xefR") else mutate_text(data.decode())
    open(current, "wb").write(program)
    try:
        latewood.compile(program)
        compiled += 1
    except latewood.LatewoodError as error:
        assert str(error)
        refused += 1
print(compiled, "compiled,", refused, "refused")
"""


def normal(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def programs() -> dict[str, str]:
    import jax.numpy as jnp
    from jax import lax

    x, i = normal(4, 6), np.array([1, 3], np.int32)
    return {
        "encoder": models.bert(layers=1, width=8, heads=2, hidden=8, vocabulary=5, sequence=4).text(),
        "shapes": lower_text(
            lambda x: (jnp.pad(x, 2).T, x.reshape(8, 3)[::2], jnp.concatenate([x, x], 1), x[1:3, ::2]), x
        ),
        "indexing": lower_text(
            lambda x, i: (x[i], lax.dynamic_slice(x, (i[0], i[1]), (2, 2)), x.at[0].set(1.0)[0]), x, i
        ),
        "reductions": lower_text(lambda x: (x.sum(1), x.max(0), jnp.argmax(x, 1), jnp.einsum("ij,kj->ik", x, x)), x),
        "elementwise": lower_text(
            lambda x, i: (jnp.exp(x) + lax.erf(x), x > 0, i.astype(np.int8) // 3, jnp.clip(x, 0, 1)), x, i
        ),
    }


FINDINGS = sorted((HERE.parent / "fuzz" / "findings" / "BytecodeFuzzer").iterdir())


@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: path.name)
def test_damaged_bytecode_is_an_error(path):
    with pytest.raises(latewood.CompilationError) as raised:
        latewood.compile(path.read_bytes())
    assert "cannot read the program" in str(raised.value)


@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: path.name)
def test_the_development_tool_survives_damaged_bytecode(path, build):
    command = [build / "bin" / "latewood-opt", path, "-o", os.devnull]
    run = subprocess.run(command, capture_output=True, timeout=60)
    assert run.returncode == 1 and b"error: " in run.stderr, run.stderr


@pytest.mark.parametrize("name", ["encoder", "shapes", "indexing", "reductions", "elementwise"])
@pytest.mark.parametrize("form", ["text", "bytecode"])
def test_fuzz(name, form, build, tmp_path):
    path, current = tmp_path / f"{name}-{form}.mlir", tmp_path / "current"
    path.write_text(programs()[name])
    if form == "bytecode":
        source, path = path, path.with_suffix(".mlirbc")
        subprocess.run([build / "bin" / "latewood-opt", source, "--emit-bytecode", "-o", path], check=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", PROGRAM, path, str(ROUNDS), current]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1200)
    if run.returncode and current.exists():
        keep = Path(os.environ.get("LATEWOOD_FUZZ_KEEP", tmp_path)) / f"crash-{name}-{form}"
        keep.write_bytes(current.read_bytes())
    assert run.returncode == 0, f"status {run.returncode}\n{run.stderr[-2000:]}\n{current.read_bytes()[:4000]!r}"
