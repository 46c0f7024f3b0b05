# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./dev bench`: latewood against its peers, in one process and one run.

For each workload the results of all systems are compared with XLA's first: a fast wrong answer is not measured. Then the
systems take turns: in each round every system runs the workload for about the same time, so that a machine that slows down
or is shared slows all of them. A system's figure is the least time of a call over all rounds, with the median beside it.
Ratios are peer over latewood: above 1 latewood is faster.

Two processors are used, by everybody: the process confines itself to two before any library starts its threads.
"""

import argparse
import gc
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./dev bench", description="Measures latewood against XLA:CPU, IREE and ONNX Runtime.", epilog=__doc__
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="workloads (default: all; `list` prints them)")
    parser.add_argument("--quick", action="store_true", help="few rounds: a rough picture in about a minute")
    parser.add_argument("--threads", type=int, default=2, help="processors to use (default 2)")
    parser.add_argument("--peers", default="xla,iree,onnxruntime", help="comma-separated systems to compare with")
    parser.add_argument("--json", type=Path, help="where to write the figures (default: a new file in bench/results)")
    return parser.parse_args()


def distance(results, expected) -> float:
    """Greatest absolute difference, relative to the greatest magnitude where that is above one."""
    import numpy as np

    if len(results) != len(expected):
        return math.inf
    worst = 0.0
    for got, want in zip(results, expected, strict=True):
        got, want = np.asarray(got), np.asarray(want)
        if got.shape != want.shape:
            return math.inf
        scale = max(1.0, float(np.max(np.abs(want), initial=0)))
        difference = float(np.max(np.abs(got.astype(np.float64) - want), initial=0))
        worst = max(worst, difference / scale if math.isfinite(difference) else math.inf)
    return worst


def once(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(prepared: dict, rounds: int, slice_seconds: float) -> dict[str, list[float]]:
    """Seconds per call, one figure a round for each system; the systems take turns, each round in another order."""
    counts = {}
    for name, system in prepared.items():
        fastest = min(once(system.call) for _ in range(3))
        counts[name] = max(1, min(100_000, round(slice_seconds / max(fastest, 1e-7))))
    times = {name: [] for name in prepared}
    order = list(prepared)
    gc.collect()
    gc.disable()
    for index in range(rounds):
        for name in order[index % len(order) :] + order[: index % len(order)]:
            call, count = prepared[name].call, counts[name]
            # Runs of a few milliseconds and more are timed one by one, so that the minimum is that of one call.
            if count <= 20:
                times[name] += [once(call) for _ in range(count)]
                continue
            start = time.perf_counter()
            for _ in range(count):
                call()
            times[name].append((time.perf_counter() - start) / count)
    gc.enable()
    return times


def readable(seconds: float) -> str:
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}" if seconds * factor < 1000 else f"{seconds * factor:.0f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def table(rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths, strict=True)))
        for r in rows
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def main() -> int:
    options = parse()
    processors = sorted(os.sched_getaffinity(0))[: options.threads]
    os.sched_setaffinity(0, processors)
    os.environ.setdefault("NPROC", str(len(processors)))
    sys.path.insert(0, str(BENCH.parent / "examples"))
    import numpy as np
    from peers import PEERS, Unavailable
    from workloads import WORKLOADS

    if options.names == ["list"]:
        print("\n".join(WORKLOADS))
        return 0
    unknown = [name for name in options.names if name not in WORKLOADS]
    if unknown:
        print(f"bench: no workload '{unknown[0]}'; there are {', '.join(WORKLOADS)}", file=sys.stderr)
        return 1
    wanted = {"latewood", *options.peers.split(",")}
    systems, notes = {}, []
    for kind in PEERS:
        if kind.name in wanted:
            try:
                systems[kind.name] = kind(len(processors))
            except Unavailable as reason:
                notes.append(f"{kind.name}: {reason}")
    rounds, slice_seconds = (5, 0.05) if options.quick else (15, 0.15)

    records, failures = [], 0
    for name in options.names or WORKLOADS:
        print(f"{name}: ", end="", flush=True, file=sys.stderr)
        model = WORKLOADS[name]()
        expected = model.expected()
        prepared, far = {}, {}
        for system in systems:
            try:
                candidate = systems[system].prepare(model)
                far[system] = distance(candidate.results(candidate.call()), expected)
            except Unavailable as reason:
                notes.append(f"{name}: {system}: {reason}")
                continue
            except Exception as error:
                notes.append(
                    f"{name}: {system} failed: {str(error).strip().splitlines()[0] if str(error) else error!r}"
                )
                failures += system == "latewood"
                continue
            # Sums of 4096 random numbers in another order differ by about 1e-4 of the greatest.
            if far[system] > 1e-3:
                notes.append(f"{name}: {system} is wrong by {far[system]:.2g} and is not measured")
                failures += system == "latewood"
                continue
            prepared[system] = candidate
        times = measure(prepared, rounds, slice_seconds)
        record = {"workload": name, "systems": {}}
        for system, samples in times.items():
            record["systems"][system] = {
                "min": min(samples),
                "median": statistics.median(samples),
                "samples": len(samples),
                "compile_seconds": prepared[system].compile_seconds,
                "distance": far[system],
            }
        records.append(record)
        least = {system: readable(value["min"]) for system, value in record["systems"].items()}
        print(", ".join(f"{system} {value}" for system, value in least.items()), file=sys.stderr)
        del prepared, model, expected
        gc.collect()

    peers = [system for system in systems if system != "latewood"]
    rows = [["workload", "latewood min", "median", "compile", "distance"]]
    for peer in peers:
        rows[0] += [f"{peer} min", "median", "compile", "ratio"]
    ratios = {peer: [] for peer in peers}
    for record in records:
        values = record["systems"]
        ours = values.get("latewood")
        row = [record["workload"]]
        row += [readable(ours[k]) for k in ("min", "median", "compile_seconds")] if ours else ["-"] * 3
        row += [f"{ours['distance']:.1e}"] if ours else ["-"]
        for peer in peers:
            theirs = values.get(peer)
            row += [readable(theirs[k]) for k in ("min", "median", "compile_seconds")] if theirs else ["-"] * 3
            ratio = theirs["min"] / ours["min"] if ours and theirs else None
            row.append(f"{ratio:.2f}" if ratio else "-")
            if ratio:
                ratios[peer].append(ratio)
        rows.append(row)
    means = {peer: statistics.geometric_mean(values) for peer, values in ratios.items() if values}
    print(
        f"\n{processor()}, {len(processors)} threads, {rounds} rounds; ratio = peer / latewood, above 1 latewood is faster\n"
    )
    print(table(rows))
    for peer, mean in means.items():
        print(
            f"geometric mean against {peer}: {mean:.2f} over {len(ratios[peer])} workloads, least {min(ratios[peer]):.2f}"
        )
    for note in notes:
        print(f"note: {note}")

    target = options.json or BENCH / "results" / time.strftime("%Y%m%d-%H%M%S.json")
    target.parent.mkdir(parents=True, exist_ok=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=BENCH, capture_output=True, text=True).stdout.strip()
    report = {
        "commit": commit,
        "processor": processor(),
        "threads": len(processors),
        "rounds": rounds,
        "numpy": np.__version__,
        "workloads": records,
        "geometric_means": means,
        "notes": notes,
    }
    target.write_text(json.dumps(report, indent=2) + "\n")
    print(f"figures: {target}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
