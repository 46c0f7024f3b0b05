# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models that JAX exports, against JAX: the numbers agree within 1e-4 of the greatest."""

import models
import numpy as np
import pytest

import latewood
from latewood import runtime


def compare(model: models.Model) -> latewood.Executable:
    executable = latewood.compile(model.lower())
    arguments = model.flat_arguments
    (expected,) = model.expected()
    result = executable(*arguments)
    limit = 1e-4 * max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(result, expected, rtol=0, atol=limit)
    # The same through a session, written to an array of the caller, twice: nothing is left over from the first.
    out = np.full_like(expected, np.nan)
    session = runtime.RuntimeSession(executable)
    for _ in range(2):
        session.execute_function("main", in_args=arguments, out_args=[out])
        np.testing.assert_array_equal(out, result)
        out[:] = np.nan
    return executable


def test_mlp():
    compare(models.mlp())


@pytest.mark.parametrize("batch", [1, 7])
def test_mlp_batches(batch):
    compare(models.mlp(batch, (50, 33, 10)))


def test_gpt2_block():
    compare(models.gpt2_block())


def test_gpt2_block_odd_sizes():
    compare(models.gpt2_block(width=96, heads=3, sequence=37, batch=2))


def test_bert_small():
    compare(models.bert_small())


@pytest.mark.base
def test_bert_base():
    compare(models.bert())
