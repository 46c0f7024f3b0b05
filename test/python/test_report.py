# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a compilation: what is in it agrees with the executable, and the page works in a real browser."""

import json
import subprocess

import models
import pytest
from browser import Browser, find_browser

import latewood
from latewood import compiler

# A while loop for control flow, a result that is an argument for a remark.
PROGRAM = """
func.func public @main(%x: tensor<64x64xf32> loc("image"), %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<64x64xf32>
   cond {
    %c = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %p = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %t = stablehlo.tanh %p : tensor<64x64xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %t : tensor<i32>, tensor<64x64xf32>
  }
  return %r#1, %x : tensor<64x64xf32>, tensor<64x64xf32>
}
"""

needs_browser = pytest.mark.skipif(
    find_browser() is None, reason="no headless browser: none of chromium-headless-shell and chromium is installed"
)


def report_of(program) -> tuple[latewood.Executable, dict]:
    report = compiler.Report()
    executable = latewood.compile(program, report=report)
    return executable, json.loads(report.json())


@pytest.fixture(scope="module")
def encoder():
    return models.bert(layers=2, width=32, heads=2, hidden=64, vocabulary=50, sequence=8).text()


def test_agrees_with_the_executable(encoder):
    executable, data = report_of(encoder)
    assert data["executable"]["bytes"] == len(executable.serialize())
    function = data["executable"]["functions"][0]
    assert function["name"] == "main" and len(function["arguments"]) == executable.get_signature("main").get_num_args()
    assert {p["phase"] for p in data["passes"]} >= {
        "import",
        "input",
        "cluster",
        "engines",
        "bufferize",
        "lower",
        "translate",
    }
    assert all(p["milliseconds"] >= 0 for p in data["passes"])
    # The workspace of a call is what was planned for its cluster.
    assert max(plan["bytes"] for plan in data["memory"]) == function["workspace"]


def test_memory_plan_is_sound(encoder):
    _, data = report_of(encoder)
    assert any(plan["buffers"] for plan in data["memory"])
    for plan in data["memory"]:
        for i, a in enumerate(plan["buffers"]):
            assert 0 <= a["offset"] and a["offset"] + a["bytes"] <= plan["bytes"]
            assert 0 <= a["first"] <= a["last"] < plan["operations"]
            for b in plan["buffers"][:i]:
                together = a["first"] <= b["last"] and b["first"] <= a["last"]
                assert (
                    not together or a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"]
                )


def test_graphs_are_graphs():
    _, data = report_of(PROGRAM)
    levels = {graph["level"] for graph in data["graphs"]}
    assert levels == {"host", "cluster"}
    for graph in data["graphs"]:
        for source, target, type_text in graph["edges"]:
            assert 0 <= source < target < len(graph["nodes"]) and type_text
    host = next(graph for graph in data["graphs"] if graph["level"] == "host")
    callees = {node["callee"] for node in host["nodes"] if "callee" in node}
    assert callees and callees <= {graph["name"].lstrip("@") for graph in data["graphs"]}
    # The body of the loop is a graph of its own.
    assert any(graph["inner"] for graph in data["graphs"])
    names = {graph["name"] for graph in data["graphs"]}
    for graph in data["graphs"]:
        for node in graph["nodes"]:
            assert set(node.get("bodies", [])) <= names


def test_steps_fill_the_same_report():
    report = compiler.Report()
    pipeline = compiler.CompilerClient().get_stablehlo_to_executable_pipeline()
    lowered = pipeline.run(compiler.parse(PROGRAM), report=report)
    assert json.loads(report.json())["executable"] is None
    executable = compiler.CompilerClient().translate_to_runtime_executable(lowered, report)
    assert json.loads(report.json())["executable"]["bytes"] == len(executable.serialize())


def test_failed_compilation_leaves_a_report(tmp_path):
    path = tmp_path / "report.html"
    with pytest.raises(latewood.CompilationError):
        latewood.compile(
            "func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> { %0 = stablehlo.custom_call @nobody(%x) "
            ": (tensor<4xf32>) -> tensor<4xf32>  return %0 : tensor<4xf32> }",
            report=path,
        )
    assert "nobody" in path.read_text()


@needs_browser
def test_page_in_a_browser(tmp_path):
    path = tmp_path / "report.html"
    latewood.compile(PROGRAM, report=path)
    with Browser() as page:
        page.open(path)
        assert page.errors == []
        # Nothing is fetched but the page itself.
        assert [url for url in page.requests if not url.startswith("file:")] == [] and len(page.requests) == 1

        count = lambda selector: page.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")  # noqa: E731
        assert "Latewood" in page.evaluate("document.title")
        assert count("#times .phase") == 7
        assert count("#times .one .bar") > 30
        assert count("#graph-picture .node") >= 1 and count("#graph-picture .edge") >= 0
        assert count("#memory .buffer") >= 1 and count("#peak") == 1
        assert count("#values table") >= 2
        assert count("#parts tr") >= 3
        assert count("#remark-list > .remark") >= 1

        # Every graph can be drawn, and a node shows what is in it.
        for index in range(count("#graph-choice option")):
            page.choose("#graph-choice", str(index))
            assert count("#graph-picture .node") >= 1
        page.click("#graph-picture .node")
        assert count("#graph-picture .node.chosen") == 1 and count("#details h3") >= 1
        before = count("#graph-picture .node")
        page.click("#show-arguments")
        page.click("#show-views")
        assert count("#graph-picture .node") > before

        # A phase folds.
        shown = count("#times .one:not(.hidden)")
        page.click("#times .phase td")
        assert count("#times .one:not(.hidden)") != shown

        # A buffer tells what it is.
        page.click("#memory .buffer")
        assert "operations" in page.evaluate("document.getElementById('memory-details').textContent")

        # Filters of remarks: kind, pass, text.
        visible = lambda: count("#remark-list > .remark:not(.hidden)")  # noqa: E731
        remarks = visible()
        assert remarks >= 1
        page.click('[data-severity="remark"]')
        assert visible() < remarks
        page.click('[data-severity="remark"]')
        assert visible() == remarks
        page.type("#remark-search", "no such text anywhere")
        assert visible() == 0
        assert page.errors == []


@needs_browser
def test_page_of_an_encoder(encoder, tmp_path):
    path = tmp_path / "report.html"
    latewood.compile(encoder, report=path)
    with Browser() as page:
        page.open(path)
        assert page.errors == []
        assert page.evaluate("document.querySelectorAll('#graph-picture .node').length") > 20
        # Boxes of one layer do not lie on each other.
        assert page.evaluate(
            """(() => { const boxes = [...document.querySelectorAll('#graph-picture .node rect')].map(r => r.getBoundingClientRect());
            return boxes.every((a, i) => boxes.slice(0, i).every(b => a.right <= b.left + 1 || b.right <= a.left + 1 ||
            a.bottom <= b.top + 1 || b.bottom <= a.top + 1)); })()"""
        )


def test_tool_writes_it(build, tmp_path):
    program, report = tmp_path / "program.mlir", tmp_path / "report.html"
    program.write_text(PROGRAM)
    subprocess.run(
        [build / "bin" / "latewood-compile", program, "-o", tmp_path / "x.lwx", "--report", report], check=True
    )
    text = report.read_text()
    assert text.startswith("<!DOCTYPE html>") and "program.mlir" in text and "</script" in text
