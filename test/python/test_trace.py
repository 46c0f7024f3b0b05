# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traces: what Chrome and Perfetto are given, by the tool and from Python."""

import json
import subprocess

import numpy as np
import pytest

import latewood
from latewood import errors, runtime

PROGRAM = """
func.func @main(%x: tensor<256x256xf32>, %y: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = stablehlo.tanh %0 : tensor<256x256xf32>
  return %1 : tensor<256x256xf32>
}
"""


def read(path):
    trace = json.loads(path.read_text())
    events = trace["traceEvents"]
    for event in events:
        assert {"ph", "name", "pid", "tid", "args"} <= event.keys()
        assert event["ph"] in "XiCM"
        if event["ph"] == "X":
            assert event["dur"] >= 0
    assert trace["otherData"] == {"dropped": 0}
    return events


def compile_program(host="native"):
    return latewood.compile(PROGRAM, [f"--host={host}"])


def test_python(tmp_path):
    x = np.ones((256, 256), np.float32)
    client = runtime.RuntimeClient(2)
    session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), compile_program())
    with client.trace(tmp_path / "trace.json") as trace:
        session.execute_function("main", in_args=[client.create_memref(x), client.create_memref(x)])
    assert trace.path == str(tmp_path / "trace.json")
    events = read(tmp_path / "trace.json")
    calls = [e for e in events if e.get("cat") == "call"]
    assert [e["name"] for e in calls] == ["main"]
    loops = [e for e in events if e.get("cat") == "loop"]
    assert loops
    for loop in loops:
        assert calls[0]["ts"] <= loop["ts"]
        assert loop["ts"] + loop["dur"] <= calls[0]["ts"] + calls[0]["dur"] + 0.01
    ranges = sum(e["args"]["end"] - e["args"]["begin"] for e in events if e.get("cat") == "tasks")
    assert ranges == sum(loop["args"]["tasks"] for loop in loops)


def test_python_errors(tmp_path, client):
    with pytest.raises(ZeroDivisionError), client.trace(tmp_path / "trace.json"):
        _ = 1 / 0
    assert read(tmp_path / "trace.json")
    with pytest.raises(errors.LatewoodError, match="a trace is being recorded already"):
        with client.trace(tmp_path / "a.json"), client.trace(tmp_path / "b.json"):
            pass
    assert read(tmp_path / "a.json")


@pytest.mark.parametrize("host", ["native", "lua"])
def test_tool(tmp_path, build, host):
    compile_program(host).save(tmp_path / "p.lwx")
    command = [build / "bin/latewood-run", "p.lwx", "--random", "--repeat=3", "--threads=2", "--trace=out.json"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    events = read(tmp_path / "out.json")
    assert [e["name"] for e in events if e.get("cat") == "call"] == ["main"] * 3
    assert len([e for e in events if e.get("cat") == "load"]) == 1
    assert (host == "lua") == any(e.get("cat") == "launch" for e in events)
    assert any(e["ph"] == "C" and e["args"]["bytes"] > 0 for e in events)
