# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./dev demo`: the main job from end to end, on three models that JAX exports at this moment.

For each: export StableHLO, compile it with latewood-compile to an executable file, run the file with latewood-run and
from Python, and compare both results with JAX's own. The last lines say what was compiled, what ran, and how far the results are
from JAX's. The exit status is 1 when any is farther than 1e-4 of the greatest value.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import models
import numpy as np

import latewood

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 1e-4


def say(text: str) -> None:
    print(text, flush=True)


def tool(*command: str | Path) -> float:
    """Runs a tool of ours with its output on the terminal; returns the seconds it took."""
    shown = [str(word) for word in command]
    say(f"  $ {' '.join(shown)}")
    start = time.perf_counter()
    run = subprocess.run(shown, stdout=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - start
    # A transformer has two hundred arguments; the first few show what the tool prints.
    lines = run.stdout.splitlines()
    arguments = [line for line in lines if line.startswith("argument")]
    for line in lines:
        if line not in arguments[3:]:
            say(f"    {line}")
        elif line == arguments[-1]:
            say(f"    … {len(arguments) - 3} more arguments")
    if run.returncode:
        sys.exit(f"demo: {shown[0]} ended with status {run.returncode}")
    return seconds


def distance(result: np.ndarray, expected: np.ndarray) -> float:
    """Greatest absolute difference; of the greatest magnitude where that is above one."""
    return float(np.max(np.abs(result - expected)) / max(1.0, np.max(np.abs(expected))))


def milliseconds(call, seconds: float = 1.0) -> float:
    """Median time of a call, over about so many seconds and at least three calls."""
    times, end = [], time.perf_counter() + seconds
    call()
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def size(count: int) -> str:
    return f"{count / 1024:.0f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"


def demonstrate(model: models.Model, folder: Path) -> dict:
    import jax

    say(f"\n{model.name}: exporting from JAX")
    text = model.text()
    source, executable_path, output = (folder / f"{model.name}{ending}" for ending in (".mlir", ".lwx", ".npz"))
    source.write_text(text)
    arguments = model.flat_arguments
    say(
        f"  {size(len(text))} of StableHLO, {len(arguments)} arguments, {size(sum(a.nbytes for a in arguments))} of them"
    )

    compile_seconds = tool("latewood-compile", source, "-o", executable_path)

    inputs = folder / f"{model.name}-inputs.npz"
    np.savez(inputs, **{f"in{index}": argument for index, argument in enumerate(arguments)})
    tool("latewood-run", executable_path, "--function", "main", "--input", inputs, "--output", output, "--repeat", "5")
    inputs.unlink()
    with np.load(output) as file:
        from_tool = file[file.files[0]]

    executable = latewood.load(executable_path)
    from_python = executable(*arguments)
    (expected,) = model.expected()
    # JAX gets its arguments where it wants them, as in the benchmark.
    jitted, placed = jax.jit(model.function), jax.device_put(model.arguments)
    ours = milliseconds(lambda: executable(*arguments))
    theirs = milliseconds(lambda: jax.block_until_ready(jitted(*placed)))
    return {
        "model": model.name,
        "StableHLO": size(len(text)),
        "file": size(executable_path.stat().st_size),
        "compiled in": f"{compile_seconds:.2f} s",
        "result": "x".join(map(str, expected.shape)),
        "call": f"{ours:.2f} ms",
        "JAX's call": f"{theirs:.2f} ms",
        "latewood-run from JAX": distance(from_tool, expected),
        "Python from JAX": distance(from_python, expected),
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev demo")
    parser.add_argument("--quick", action="store_true", help="an encoder of two layers instead of twelve")
    options = parser.parse_args()
    if not shutil.which("latewood-run"):
        sys.exit("demo: latewood-run is not on PATH: run ./dev demo")
    encoder = models.bert(layers=2) if options.quick else models.bert()
    build = Path(os.environ.get("LATEWOOD_BUILD", ROOT / "build" / "dev"))
    with tempfile.TemporaryDirectory(dir=build, prefix="demo-") as folder:
        rows = [demonstrate(model, Path(folder)) for model in (models.mlp(), encoder, models.gpt2_block())]

    say("\nThree models: exported by JAX, compiled to files, run by latewood-run and from Python, compared with JAX.\n")
    shown = [{k: f"{v:.1e}" if isinstance(v, float) else v for k, v in row.items()} for row in rows]
    widths = {k: max(len(k), *(len(row[k]) for row in shown)) for k in shown[0]}
    say("  ".join(k.ljust(w) for k, w in widths.items()))
    for row in shown:
        say("  ".join(row[k].ljust(w) for k, w in widths.items()))
    farthest = max(v for row in rows for v in row.values() if isinstance(v, float))
    agree = farthest <= LIMIT
    say(
        f"\nGreatest distance from JAX: {farthest:.1e} of the greatest value ({'within' if agree else 'MORE THAN'} {LIMIT:g})."
    )
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
