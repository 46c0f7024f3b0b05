#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws a trace (latewood-run --trace) as a picture: a row for each thread and depth of nesting, time from left to right, and
what takes how long. For documents; to look closely, load the trace into ui.perfetto.dev or chrome://tracing.

    scripts/draw_trace.py trace.json trace.svg [--call N] [--width 1400]
"""

from __future__ import annotations

import argparse
import html
import json
import re
from collections import defaultdict
from pathlib import Path

COLORS = ["#b9762a", "#4f7f5b", "#5b6fa8", "#a0567a", "#7a6a3a", "#3f8a94", "#9a4a3c", "#6b5b95", "#87943f", "#555f6b"]
ROW, TOP, LEFT = 22, 34, 96


def short(name: str) -> str:
    """`main_cluster_0_kernel_5_body_0_entry` is kernel 5 to a reader."""
    return re.sub(r"_entry$", "", re.sub(r"^\w+_cluster_\d+_", "", name)).replace("_", " ")


def time_text(microseconds: float) -> str:
    return f"{microseconds / 1000:.1f} ms" if microseconds >= 1000 else f"{microseconds:.0f} µs"


def nest(spans: list[dict]) -> int:
    """Gives each span of one thread its depth, and returns how many there are. (Children begin no earlier than what they are
    in, and end no later.)"""
    open_ends: list[float] = []
    deepest = 0
    for span in sorted(spans, key=lambda s: (s["ts"], -s["dur"])):
        while open_ends and span["ts"] >= open_ends[-1] - 1e-3:
            open_ends.pop()
        span["depth"] = len(open_ends)
        deepest = max(deepest, len(open_ends) + 1)
        open_ends.append(span["ts"] + span["dur"])
    return deepest


def draw(events: list[dict], call: int, width: int) -> str:
    spans = [event for event in events if event["ph"] == "X"]
    names = {event["tid"]: event["args"]["name"] for event in events if event.get("name") == "thread_name"}
    calls = sorted((span for span in spans if span["cat"] == "call"), key=lambda span: span["ts"])
    if not calls:
        raise SystemExit("draw_trace: the trace has no call")
    chosen = calls[call]
    begin, length = chosen["ts"], chosen["dur"]
    inside = [s for s in spans if s["ts"] < begin + length and s["ts"] + s["dur"] > begin and s["cat"] != "memory"]
    threads: dict[int, list[dict]] = defaultdict(list)
    for span in inside:
        threads[span["tid"]].append(span)
    totals: dict[str, float] = defaultdict(float)
    for span in inside:
        if span["cat"] == "tasks":
            totals[short(span["name"])] += span["dur"]
    ranked = sorted(totals, key=lambda name: -totals[name])
    color = {name: COLORS[rank] if rank < len(COLORS) else "#b5ae9f" for rank, name in enumerate(ranked)}
    scale = (width - LEFT - 10) / length
    parts: list[str] = []

    def text(x: float, y: float, content: str, extra: str = "") -> None:
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {extra}>{html.escape(content)}</text>')

    y = TOP
    step = 10 ** len(str(int(length / 8))) / 10
    while length / step > 12:
        step *= 2 if str(step)[0] in "15" else 2.5
    ticks = [i * step for i in range(int(length / step) + 1)]
    for tid in sorted(threads, key=lambda t: (t != chosen["tid"], t)):
        rows = nest(threads[tid])
        text(4, y + 15, names.get(tid, f"thread {tid}")[:14])
        # What is narrower than a pixel is drawn together with its neighbours.
        last: dict[int, float] = {}
        for span in sorted(threads[tid], key=lambda s: s["ts"]):
            x = LEFT + max(0.0, span["ts"] - begin) * scale
            right = LEFT + min(length, span["ts"] + span["dur"] - begin) * scale
            row = span["depth"]
            if right - last.get(row, -1.0) < 0.6:
                continue
            last[row] = right
            name = short(span["name"])
            fill = color.get(name, "#d9d3c5") if span["cat"] == "tasks" else "#d9d3c5"
            size = max(0.6, right - x)
            parts.append(
                f'<rect x="{x:.1f}" y="{y + row * ROW:.1f}" width="{size:.1f}" height="{ROW - 3}" fill="{fill}">'
                f"<title>{html.escape(name)}, {time_text(span['dur'])}</title></rect>"
            )
            if size > 7 * len(name) + 6 and row < 2:
                text(x + 3, y + row * ROW + 14, name)
        y += rows * ROW + 8
    for tick in ticks:
        x = LEFT + tick * scale
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{y}" stroke="#8886" stroke-width="0.5"/>')
        text(x + 2, TOP - 10, time_text(tick), 'fill="#6d675c"')
    y += 8
    text(4, y + 10, f"{short(chosen['name'])}: {time_text(length)}. Time of tasks, all threads:", 'font-weight="bold"')
    y += 20
    for index, name in enumerate(ranked[: 2 * len(COLORS)]):
        column, row = index % 4, index // 4
        x = 8 + column * (width - 16) / 4
        parts.append(f'<rect x="{x:.1f}" y="{y + row * 17:.1f}" width="11" height="11" fill="{color[name]}"/>')
        text(x + 16, y + row * 17 + 10, f"{name}  {time_text(totals[name])}")
    y += (min(len(ranked), 2 * len(COLORS)) + 3) // 4 * 17 + 8
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y:.0f}" width="{width}" height="{y:.0f}">'
        "<style>text { font: 11px ui-monospace, monospace; fill: #24211c }</style>"
        f'<rect width="{width}" height="{y:.0f}" fill="#fbfaf7"/>'
    )
    return head + "\n".join(parts) + "</svg>\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--call", type=int, default=-1, help="which call, from 0 (default: the last)")
    parser.add_argument("--width", type=int, default=1400)
    options = parser.parse_args()
    data = json.loads(options.trace.read_text())
    events = data["traceEvents"] if isinstance(data, dict) else data
    options.picture.write_text(draw(events, options.call, options.width))


if __name__ == "__main__":
    main()
