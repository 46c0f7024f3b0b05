# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A fixed sample of the random programs of test/fuzz, and that its judgement does not let a wrong result pass."""

import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from conftest import ROOT
from jax import lax

sys.path.insert(0, str(ROOT / "test" / "fuzz"))

import differential  # noqa: E402
import op_by_op  # noqa: E402
import random_programs  # noqa: E402


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_a_sample(first):
    for number in range(first, first + 10):
        program = random_programs.Program(f"1/{number}")
        if program.steps:
            status, message = differential.check(program, [])
            assert status == "passed", f"program 1/{number}: {message}"


@pytest.mark.parametrize("name", ["3/49", "3/219", "W1/8879", "W1/8951"])
def test_past_findings(name):
    """Two results that lie in each other's destinations; a window of one element in front of a sum; one lane of a truncated
    vector, stored; elements of a truncated vector, stored one by one. (The last two are LLVM's, for AVX-512.)"""
    program = random_programs.Program(name)
    status, message = differential.check(program, [])
    assert status == "passed", message


def test_update_in_place_of_what_was_concatenated(check):
    def function(x):
        y = jnp.broadcast_to(x, (8,))
        z = lax.dynamic_update_slice(y, ~y[:6], (7,))
        return jnp.concatenate([y, z, z]) == jnp.concatenate([y, y, y])

    check(function, np.array(True))


class Fixed:
    """A program that somebody wrote."""

    def __init__(self, function, *arguments):
        self.function, self.arguments, self.steps = function, arguments, [None]

    def __call__(self, *arguments):
        return (self.function(*arguments),)


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_operation_by_operation_is_what_XLA_has(first):
    for number in range(first, first + 10):
        program = random_programs.Program(f"2/{number}")
        if program.steps:
            wanted = jax.jit(program)(*program.arguments)
            got = op_by_op.evaluate(program, program.arguments)
            message = differential.differences(got, [[result] for result in wanted], 1 + len(program.steps))
            assert message is None, f"program 2/{number}: {message}"


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_a_wrong_element_does_not_pass(first):
    """Each result of the sample, with one element changed."""
    for number in range(first, first + 10):
        program = random_programs.Program(f"1/{number}")
        if not program.steps:
            continue
        results = op_by_op.evaluate(program, program.arguments)
        for place, result in enumerate(results):
            finite = np.flatnonzero(np.isfinite(result)) if result.dtype.kind != "b" else np.arange(result.size)
            if not finite.size:
                continue
            changed = result.copy()
            at = finite[number % finite.size]
            largest = np.max(np.abs(result.flat[finite].astype(np.complex128)), initial=1)
            changed.flat[at] = (
                ~result.flat[at]
                if result.dtype == bool
                else result.flat[at]
                + np.asarray(1 + 0.9 * largest if result.dtype.kind not in "iu" else 1, result.dtype)
            )
            got = [*results[:place], changed, *results[place + 1 :]]
            status, message = differential.judge(program, got)
            assert status == "failed" and "1 of" in message, f"program 1/{number}, result {place}: {message}"


def test_what_roundings_leave_open():
    """The tangent near its pole, and an order that a last bit decides; values out of reach are wrong all the same."""
    near_pole = Fixed(lambda x: jnp.tan(jnp.exp(x)), np.float32([np.log(np.pi / 2)]))
    exact = op_by_op.evaluate(near_pole, near_pole.arguments)[0]
    assert differential.judge(near_pole, [-exact])[0] == "passed"
    far_off = Fixed(near_pole.function, np.float32([0.1]))
    exact = op_by_op.evaluate(far_off, far_off.arguments)[0]
    assert differential.judge(far_off, [exact * np.float32(1.001)])[0] == "failed"

    x = np.float32([0.3, 0.3, 5.0])
    order = Fixed(lambda x: jnp.argsort(jnp.exp(x) * jnp.float32([1, 1 + 6e-8, 1])), x)
    for got, status in [([0, 1, 2], "passed"), ([1, 0, 2], "passed"), ([0, 2, 1], "failed"), ([2, 1, 0], "failed")]:
        assert differential.judge(order, [np.int64(got)])[0] == status, got


def test_exact_operations_are_not_open():
    program = Fixed(lambda x, y: jnp.sign(x * y - x / y), np.float32([1.5, 3]), np.float32([0.7, 0.1]))
    exact = op_by_op.evaluate(program, program.arguments)[0]
    assert differential.judge(program, [exact])[0] == "passed"
    assert differential.judge(program, [-exact])[0] == "failed"


def test_the_second_reference_has_not_the_faults_of_the_first():
    tiny = Fixed(lambda x: x * 2, np.float32([1e-40]))
    assert op_by_op.evaluate(tiny, tiny.arguments)[0] == 2 * tiny.arguments[0]
    dropped = Fixed(lax.min, np.array([np.nan, 1], ml_dtypes.bfloat16), np.array([1, np.nan], ml_dtypes.bfloat16))
    assert np.isnan(op_by_op.evaluate(dropped, dropped.arguments)[0].astype(np.float32)).all()
    overlapping = Fixed(lambda x: lax.dynamic_update_slice(x, x[:4] + x[:4], (1,)), np.arange(6, dtype=np.int32))
    assert op_by_op.evaluate(overlapping, overlapping.arguments)[0].tolist() == [0, 0, 2, 4, 6, 5]
    negative = Fixed(
        lambda x: lax.conv_general_dilated(x, np.ones((1, 1, 2), np.float32), (1,), [(-1, 1)], lhs_dilation=(2,)),
        np.float32([[[1, 2, 3]]]),
    )
    assert op_by_op.evaluate(negative, negative.arguments)[0].tolist() == [[[2, 2, 3, 3]]]


def test_a_campaign_counts_every_program_once(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["differential.py", "--seed", "1", "--count", "12", "--chunk", "5"])
    assert differential.main() == 0
    assert "12 passed, 0 failed, 0 skipped" in capsys.readouterr().out
