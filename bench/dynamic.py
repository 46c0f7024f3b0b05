# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./dev exec python bench/dynamic.py`: a transformer block that is compiled once, for every length, against the same block compiled
for each length by itself.

Both take turns in one process, and the figure is the least time of a call: what is compared is code, not a machine's load.
The results of a length are compared, too. The ratio is dynamic over static: 1.00 is no cost, and at most 1.25 is asked for.
"""

import argparse
import os
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

import latewood
from latewood import runtime

WIDTH, HEADS = 256, 4
SHAPES = [(WIDTH, WIDTH)] * 4 + [(WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)]


def attention(x, wq, wk, wv, wo):
    batch, length, width = x.shape
    heads = lambda w: (x @ w).reshape(batch, length, HEADS, width // HEADS).transpose(0, 2, 1, 3)
    scores = jnp.einsum("bhqd,bhkd->bhqk", heads(wq), heads(wk)) / np.sqrt(width // HEADS).astype(np.float32)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), heads(wv))
    return mixed.transpose(0, 2, 1, 3).reshape(batch, length, width) @ wo


def normalize(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def block(x, wq, wk, wv, wo, w1, w2):
    x = x + attention(normalize(x), wq, wk, wv, wo)
    return x + jax.nn.gelu(normalize(x) @ w1) @ w2


def best(session, arguments, out, calls) -> float:
    least = float("inf")
    for _ in range(calls):
        start = time.perf_counter()
        session.execute_function("main", in_args=arguments, out_args=[out])
        least = min(least, time.perf_counter() - start)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "lengths", nargs="*", type=int, default=[1, 2, 5, 8, 16, 17, 33, 64, 100, 128, 200, 256, 400, 512]
    )
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    os.environ["LATEWOOD_NUM_THREADS"] = str(options.threads)

    generator = np.random.default_rng(0)
    weights = [generator.standard_normal(shape).astype(np.float32) / 16 for shape in SHAPES]
    symbolic = export.symbolic_shape(f"1, s, {WIDTH}")
    program = export.export(jax.jit(block))(jax.ShapeDtypeStruct(symbolic, np.float32), *weights)
    start = time.perf_counter()
    dynamic = runtime.RuntimeSession(latewood.compile(program))
    print(f"compiled for all lengths in {time.perf_counter() - start:.2f} s")
    print(f"{'length':>8} {'dynamic us':>12} {'static us':>12} {'ratio':>7}  difference")
    ratios = []
    for length in options.lengths:
        x = generator.standard_normal((1, length, WIDTH)).astype(np.float32)
        static = runtime.RuntimeSession(latewood.compile(jax.jit(block).lower(x, *weights)))
        outs = [np.empty_like(x), np.empty_like(x)]
        times = [float("inf")] * 2
        for _ in range(options.rounds):
            for i, session in enumerate([dynamic, static]):
                times[i] = min(times[i], best(session, [x, *weights], outs[i], 4))
        ratios.append(times[0] / times[1])
        difference = float(np.max(np.abs(outs[0] - outs[1])))
        print(f"{length:8} {times[0] * 1e6:12.1f} {times[1] * 1e6:12.1f} {ratios[-1]:7.2f}  {difference:.1e}")
    print(f"greatest ratio {max(ratios):.2f}")


if __name__ == "__main__":
    main()
