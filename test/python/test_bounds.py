# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generated code touches nothing outside its buffers: every argument and every result lies directly before, then directly
behind a page that nobody may touch, in a process of its own, for sizes that no tile and no vector divides."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

PROGRAM = """
import ctypes, sys
import conftest, jax, jax.numpy as jnp, latewood, numpy as np, models

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
PAGE = 4096

def guarded(array, before):
    size = -(-array.nbytes // PAGE) * PAGE
    start = libc.mmap(None, size + 2 * PAGE, 3, 0x22, -1, 0)
    libc.mprotect(start, PAGE, 0)
    libc.mprotect(start + PAGE + size, PAGE, 0)
    address = start + PAGE if before else start + PAGE + size - array.nbytes
    view = np.frombuffer((ctypes.c_char * array.nbytes).from_address(address), array.dtype).reshape(array.shape)
    view[...] = array
    return view

def run(function, *arguments, tolerance=1e-4):
    executable = latewood.compile(jax.jit(function, keep_unused=True).lower(*arguments))
    expected = [np.asarray(x) for x in jax.tree.leaves(jax.jit(function)(*arguments))]
    session = latewood.runtime.RuntimeSession(executable)
    for before in (True, False):
        outputs = [guarded(np.zeros_like(x), before) for x in expected]
        session.execute_function("main", [guarded(np.asarray(x), before) for x in arguments], outputs)
        for got, want in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)

def normal(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)
"""

PROGRAMS = {
    "elementwise": "for n in (1, 3, 15, 17, 1000, 1029): run(lambda x: jnp.exp(x) + x, normal(n)); run(lambda x: jnp.exp(x) * 2, normal(3, n))",
    "rows": "for n in (1, 7, 16, 33, 129): run(lambda x: jax.nn.softmax(x), normal(5, n)); run(lambda x: x.sum(1), normal(9, n))",
    "columns": "for n in (1, 7, 16, 33, 129): run(lambda x: x.sum(0), normal(37, n)); run(lambda x: x.max(0), normal(1, n))",
    "transpose": "for m, n in ((1, 5), (7, 9), (16, 17), (33, 65)): run(lambda x: x.T, normal(m, n)); run(lambda x: jnp.swapaxes(x, 1, 2), normal(3, m, n))",
    "matmul": "for m in (1, 2, 3, 5, 6, 7, 9, 13, 15, 29):\n  for k, n in ((50, 33), (1, 1), (17, 16), (3, 70)): run(lambda a, b: a @ b, normal(m, k), normal(k, n))",
    "matmul transposed": "for m in (1, 4, 7, 15):\n  for k, n in ((50, 33), (17, 5)): run(lambda a, b: a.T @ b, normal(k, m), normal(k, n)); run(lambda a, b: a @ b.T, normal(m, k), normal(n, k))",
    "matvec": "for m, n in ((1, 1), (5, 7), (33, 65), (300, 129)): run(lambda a, x: a @ x, normal(m, n), normal(n)); run(lambda a, x: x @ a, normal(m, n), normal(m))",
    "epilogue": "for m, n in ((7, 33), (13, 10)): run(lambda a, b, c: jax.nn.gelu(a @ b + c), normal(m, 21), normal(21, n), normal(n))",
    "batched": "run(lambda a, b: jnp.einsum('bhqd,bhkd->bhqk', a, b), normal(2, 3, 7, 5), normal(2, 3, 9, 5)); run(jnp.matmul, normal(3, 5, 7), normal(3, 7, 11))",
    "gather": "run(lambda t, i: t[i], normal(11, 7), np.array([0, 10, 5], np.int32)); run(lambda x: x[1:, ::2], normal(5, 9)); run(lambda x: jnp.pad(x, 3), normal(5, 7))",
    "block": "m = models.gpt2_block(width=36, heads=3, sequence=13, batch=2); run(lambda *a: m.function(jax.tree.unflatten(jax.tree.structure(m.arguments), a)[0], a[-1]), *m.flat_arguments)",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_outside_is_touched(name):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-X", "faulthandler", "-c", PROGRAM + PROGRAMS[name]]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr[-3000:]
