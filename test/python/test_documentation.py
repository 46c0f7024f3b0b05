# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a user reads: every public name has a text in help(), every object prints as what it is, the examples of README.md run,
and links between pages lead somewhere."""

import enum
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import latewood
from latewood import compiler, runtime

MODULES = (latewood, runtime, compiler)
ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def public_names():
    """(path, object) of what the package's modules export, and of what their classes have."""
    for module in MODULES:
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.ismodule(thing):
                continue
            yield f"{module.__name__}.{name}", thing
            # The members of an enumeration are what its text says.
            if inspect.isclass(thing) and not issubclass(thing, enum.Enum):
                for member, what in vars(thing).items():
                    if not member.startswith("_") and (callable(what) or inspect.isdatadescriptor(what)):
                        yield f"{module.__name__}.{name}.{member}", what


def text_of(thing) -> str:
    """The docstring without the signatures that bindings put in front."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    return "\n".join(line for line in lines if "(self" not in line and not line.startswith("get(")).strip()


def test_every_public_name_has_a_text():
    names = dict(public_names())
    assert len(names) > 100
    assert [name for name, thing in names.items() if not text_of(thing)] == []


@pytest.mark.parametrize("module", ["runtime", "compiler"])
def test_every_object_prints_as_what_it_is(module, add, client, add_text, tmp_path):
    if module == "runtime":
        session = runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), add)
        objects = {
            add: "<latewood.Executable: main(memref<4xf32>, memref<4xf32>) -> (memref<4xf32>)",
            client: "RuntimeClient(num_threads=",
            session: "<RuntimeSession of main>",
            runtime.RuntimeSessionOptions(): "RuntimeSessionOptions(num_devices=1, device_id=0)",
            client.create_stream(): "<Stream ",
            client.get_devices()[0]: "<Device host>",
            client.trace(tmp_path / "t.json"): "t.json",
            client.create_memref(np.zeros((2, 3), np.float32)): "memref<2x3xf32>",
            client.create_scalar(3, "i8"): "3 : i8",
            add.get_signature(): "main(memref<4xf32>",
            add.get_signature().get_arg(0): "memref<4xf32>",
            add.get_signature().get_arg_bound(0): "Bounds(min=[4], max=[4])",
        }
    else:
        pipeline = compiler.CompilerClient().get_stablehlo_to_executable_pipeline()
        objects = {
            compiler.parse(add_text): "<Module main(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>>",
            pipeline: "<Pipeline of ",
            compiler.Report(): "<Report of ",
            compiler.StableHLOToExecutableOptions(): "StableHLOToExecutableOptions(target='native'",
        }
    for thing, expected in objects.items():
        assert expected in repr(thing)
        assert " object at 0x" not in repr(thing)


def test_examples_of_the_readme_run(add_text, tmp_path, monkeypatch):
    """One after the other, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    Path("f.mlir").write_text(add_text)
    examples = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(examples) == 4
    names = {"print": lambda *_: None}
    for example in examples:
        exec(compile(example, "README.md", "exec"), names)
    np.testing.assert_allclose(np.sum(names["y"], axis=-1), np.ones(8), rtol=1e-6)
    assert names["y100"].shape == (100, 10)


def anchors(page: Path) -> set[str]:
    """The fragments that headings of a page have."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, fragment = target.partition("#")
        place = (page.parent / path) if path else page
        assert place.exists(), f"{target}: no such file"
        if fragment and place.suffix == ".md":
            assert fragment in anchors(place), f"{target}: no such heading"
