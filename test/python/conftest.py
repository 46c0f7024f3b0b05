# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the Python tests share: the package of the build tree, the example models, and JAX as the oracle on the CPU."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("LATEWOOD_BUILD", ROOT / "build" / "dev"))
for folder in (BUILD / "python", ROOT / "examples"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

jax.config.update("jax_enable_x64", True)

import latewood  # noqa: E402
from latewood import runtime  # noqa: E402


def lower_text(function, *arguments) -> str:
    """The StableHLO that JAX prints for a function, every argument kept."""
    return jax.jit(function, keep_unused=True).lower(*arguments).as_text()


class Check:
    """Compiles a JAX function and compares the results with JAX's own."""

    def __call__(self, function, *arguments, rtol: float = 0.0, atol: float = 0.0):
        """Tolerances as in numpy.testing.assert_allclose; without any, results must be equal. NaN equals NaN."""
        executable = latewood.compile(jax.jit(function, keep_unused=True).lower(*arguments))
        flat = [np.asarray(leaf) for leaf in jax.tree.leaves(arguments)]
        got = executable(*flat)
        got = list(got) if isinstance(got, tuple) else [got]
        expected = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(function)(*arguments))]
        assert len(got) == len(expected)
        for mine, theirs in zip(got, expected, strict=True):
            assert mine.dtype == theirs.dtype
            assert mine.shape == theirs.shape
            if np.issubdtype(theirs.dtype, np.floating):
                # XLA replaces denormal results by zero; ours are IEEE's.
                tiny = np.abs(mine) < np.finfo(mine.dtype).tiny
                mine = np.where(tiny & (theirs == 0), theirs, mine)
            if rtol or atol:
                np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=atol)
            else:
                np.testing.assert_array_equal(mine, theirs)
        return executable


@pytest.fixture(scope="session")
def check() -> Check:
    return Check()


@pytest.fixture(scope="session")
def client() -> runtime.RuntimeClient:
    return runtime.RuntimeClient()


@pytest.fixture(scope="session")
def build() -> Path:
    return BUILD


@pytest.fixture(scope="session")
def add_text() -> str:
    return """
func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.fixture(scope="session")
def add(add_text) -> latewood.Executable:
    """f(a, b) = a + b on four floats."""
    return latewood.compile(add_text)


@pytest.fixture(scope="session")
def pair() -> latewood.Executable:
    """f(a, b) = (a + b, b, a - b): two computed results and one that is an argument."""
    return latewood.compile(
        """
func.func public @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.add %a, %b : tensor<2x3xf32>
  %1 = stablehlo.subtract %a, %b : tensor<2x3xf32>
  return %0, %b, %1 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
"""
    )


@pytest.fixture
def session(client, add) -> runtime.RuntimeSession:
    return runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), add)


@pytest.fixture
def program(client):
    """A host program, made from its text, that runs on both hosts."""
    from host_programs import Program  # loads the compiler

    return lambda body: Program(body, client)
