# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ResNet-18, BERT and a block of GPT-2 by way of TensorRT: of static shape, and exported with symbolic batch and length.

In a reduced size each goes through TensorRT's layers on the CPU, and its results are JAX's. Where TensorRT's library is
(LATEWOOD_TENSORRT_BUILDER), each also becomes engines at full size, by the real builder, and the full size goes through the layers, too
(mark `base`)."""

import os
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import models
import numpy as np
import pytest
from conftest import BUILD
from jax import lax
from tensorrt_builder import LIBRARY, MISSING
from tensorrt_oracle import compile_by_layers

NHWC = ("NHWC", "HWIO", "NHWC")


def resnet18(
    size: int = 224, widths: tuple[int, ...] = (64, 128, 256, 512), classes: int = 1000, batch: int = 1
) -> models.Model:
    """Four stages of two blocks of two convolutions, batch normalization as in inference; the weights travel in the program."""
    random = np.random.default_rng(4)

    def normalized(height, inputs, outputs):
        w = random.standard_normal((height, height, inputs, outputs)) / np.sqrt(height * height * inputs)
        return {
            "w": w.astype(np.float32),
            "mean": models.bias(random, outputs),
            "variance": 1 + np.abs(models.bias(random, outputs)),
            "scale": 1 + models.bias(random, outputs),
            "shift": models.bias(random, outputs),
        }

    stem = normalized(7, 3, widths[0])
    stages, inputs = [], widths[0]
    for stage, outputs in enumerate(widths):
        for index in range(2):
            stride = 2 if stage > 0 and index == 0 else 1
            block = {"one": normalized(3, inputs, outputs), "two": normalized(3, outputs, outputs)}
            if stride != 1 or inputs != outputs:
                block["skip"] = normalized(1, inputs, outputs)
            stages.append((stride, block))
            inputs = outputs
    head, offset = models.weight(random, inputs, classes), models.bias(random, classes)

    def layer(x, p, stride):
        pad = p["w"].shape[0] // 2
        y = lax.conv_general_dilated(x, p["w"], (stride, stride), ((pad, pad), (pad, pad)), dimension_numbers=NHWC)
        return (y - p["mean"]) * (p["scale"] / jnp.sqrt(p["variance"] + 1e-5)) + p["shift"]

    def function(x):
        x = jax.nn.relu(layer(x, stem, 2))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)))
        for stride, block in stages:
            skip = layer(x, block["skip"], stride) if "skip" in block else x
            y = jax.nn.relu(layer(x, block["one"], stride))
            x = jax.nn.relu(layer(y, block["two"], 1) + skip)
        return x.mean((1, 2)) @ head + offset

    image = random.standard_normal((batch, size, size, 3)).astype(np.float32)
    return models.Model("resnet-18", function, (image,))


# Name: (the model of a batch and a length, small; the same at full size; how many of its last arguments have symbolic extents in
# front, and how many of these: batch, or batch and length).
MODELS = {
    "resnet18": (
        lambda batch, length: resnet18(32, (8, 16, 16, 32), 10, batch),
        lambda batch, length: resnet18(batch=batch),
        1,
        1,
    ),
    "bert": (
        lambda batch, length: models.bert(2, 32, 4, 64, 100, length, batch),
        lambda batch, length: models.bert(sequence=length, batch=batch),
        2,
        2,
    ),
    "gpt2_block": (
        lambda batch, length: models.gpt2_block(32, 4, length, batch),
        lambda batch, length: models.gpt2_block(sequence=length, batch=batch),
        1,
        2,
    ),
}


def make(name, isFull, batch, length):
    return MODELS[name][1 if isFull else 0](batch, length)


def symbolic(name, model):
    """The program with symbolic batch and length, and which of its flat arguments have them."""
    _, _, count, extents = MODELS[name]
    names = jax.export.symbolic_shape("b, n")[:extents]
    fixed, dynamic = model.arguments[:-count], model.arguments[-count:]
    shapes = [jax.ShapeDtypeStruct((*names, *array.shape[extents:]), array.dtype) for array in dynamic]
    exported = jax.export.export(jax.jit(model.function, keep_unused=True))(*fixed, *shapes)
    first = len(jax.tree.leaves(fixed))
    return exported, [first + i for i in range(count)]


def compare(executable, model):
    (expected,) = model.expected()
    result = executable(*model.flat_arguments)
    limit = 1e-3 * max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(result, expected, rtol=0, atol=limit)


LAYERS = {
    "resnet18": ["convolution", "pooling"],
    "bert": ["gather", "activation", "normalization"],
    "gpt2_block": ["activation", "normalization"],
}


@pytest.mark.parametrize("name", MODELS)
def test_layers(name):
    model = make(name, False, 2, 12)
    executable, found, left = compile_by_layers(model.lower())
    assert not left
    for layer in LAYERS[name] + ([] if name == "resnet18" else ["attention"]):
        assert found[layer] > 0, f"no {layer} among {dict(found)}"
    compare(executable, model)


@pytest.mark.parametrize("name", MODELS)
def test_layers_of_dynamic_shape(name):
    exported, _ = symbolic(name, make(name, False, 2, 12))
    executable, found, _ = compile_by_layers(exported.mlir_module())
    assert found["convolution" if name == "resnet18" else "matrix_multiply"] > 0
    for batch, length in [(2, 12), (3, 7), (1, 16)]:
        compare(executable, make(name, False, batch, length))


@pytest.mark.base
@pytest.mark.skipif(not LIBRARY, reason=MISSING)
class TestFullSize:
    """What is skipped where there is no builder: the engines, and the conversion at full size."""

    def build(self, folder, program, *options):
        (folder / "program.mlir").write_bytes(program)
        begin = time.monotonic()
        run = subprocess.run(
            [
                BUILD / "bin" / "latewood-compile",
                folder / "program.mlir",
                "--engines=tensorrt,cpu",
                f"--tensorrt=level=0,engines={folder}",
                *options,
                "--remarks",
                "-o",
                folder / "program.lwx",
            ],
            env=dict(os.environ, LATEWOOD_TENSORRT_LIBRARY=LIBRARY),
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stderr[-4000:]
        engines = sorted(folder.glob("*.engine"))
        print(
            f"{len(engines)} engines, {sum(e.stat().st_size for e in engines)} bytes, {time.monotonic() - begin:.1f} s",
            file=sys.stderr,
        )
        return engines

    @pytest.mark.parametrize("name", MODELS)
    def test_engine(self, tmp_path, name):
        model = make(name, True, 1, 128)
        assert len(self.build(tmp_path, model.text().encode())) == 1

    @pytest.mark.parametrize("name", MODELS)
    def test_engine_of_dynamic_shape(self, tmp_path, name):
        exported, dynamic = symbolic(name, make(name, True, 1, 128))
        dims = dict(enumerate(["1:2:8", "8:128:512"][: MODELS[name][3]]))
        bounds = ",".join(f"{argument}:{d}={limits}" for argument in dynamic for d, limits in dims.items())
        assert len(self.build(tmp_path, exported.mlir_module().encode(), f"--bounds={bounds}")) >= 1

    @pytest.mark.parametrize("name", MODELS)
    def test_layers(self, name):
        model = make(name, True, 1, 128)
        executable, _, _ = compile_by_layers(model.lower())
        compare(executable, model)

    @pytest.mark.parametrize("name", MODELS)
    def test_layers_of_dynamic_shape(self, name):
        exported, _ = symbolic(name, make(name, True, 1, 128))
        executable, _, _ = compile_by_layers(exported.mlir_module())
        compare(executable, make(name, True, 2, 96))
