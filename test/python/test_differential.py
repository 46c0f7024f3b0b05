# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A fixed sample of the random programs of test/fuzz/differential.py, which makes as many as one likes."""

import sys

import jax.numpy as jnp
import numpy as np
import pytest
from conftest import ROOT
from jax import lax

sys.path.insert(0, str(ROOT / "test" / "fuzz"))

import differential  # noqa: E402


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_a_sample(first):
    for number in range(first, first + 10):
        program = differential.Program(f"1/{number}")
        if program.steps:
            status, message = differential.check(program, [])
            assert status == "passed", f"program 1/{number}: {message}"


@pytest.mark.parametrize("name", ["3/49", "3/219"])
def test_past_findings(name):
    """Two results that lie in each other's destinations; a window of one element in front of a sum."""
    program = differential.Program(name)
    status, message = differential.check(program, [])
    assert status == "passed", message


def test_update_in_place_of_what_was_concatenated(check):
    def function(x):
        y = jnp.broadcast_to(x, (8,))
        z = lax.dynamic_update_slice(y, ~y[:6], (7,))
        return jnp.concatenate([y, z, z]) == jnp.concatenate([y, y, y])

    check(function, np.array(True))
