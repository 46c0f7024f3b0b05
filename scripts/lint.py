# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`./dev lint`: what a reviewer should not have to look for.

format   clang-format and ruff
layers   format <- {compiler, runtime} <- {python, tools}: who may include whom, and the runtime library links no LLVM
headers  the SPDX line at the top of each source; a warning where a file is long enough to ask for a split
docs     the generated pages say what the sources say
tidy     clang-tidy on the C++ files that changed (against origin/main where there is one), or on all with --all
"""

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LICENSE_LINE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
LONG = 600

# A folder below latewood/ may include headers of these folders, and of no other. Within the compiler a phase may use the
# dialects and the target, and only the driver knows all phases.
ALLOWED = {
    "format": {"format"},
    "runtime": {"runtime", "format"},
    "compiler": {"compiler", "format"},
    "python": {"python", "compiler", "runtime", "format"},
    "tools": {"tools", "compiler", "runtime", "format"},
}
# What a phase may see of another: the list of engines, which clustering asks.
INTERFACES = {"Engines/Registry.h"}
PHASES = ("Import", "Input", "Cluster", "Engines", "Bufferize", "Lower", "Translate")


def tracked(*patterns: str) -> list[Path]:
    """Files that git knows or would add."""
    output = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return [ROOT / line for line in output.splitlines() if (ROOT / line).is_file()]


def cxx_files() -> list[Path]:
    return tracked(
        "latewood/*.h", "latewood/*.cpp", "latewood/*.c", "test/*.h", "test/*.cpp", "bench/*.cpp", "examples/*.cpp"
    )


def check_format(options) -> list[str]:
    problems = []
    files = cxx_files()
    if options.fix and files:
        subprocess.run(["clang-format-22", "-i", *map(str, files)], check=True)
    for file in files:
        run = subprocess.run(["clang-format-22", "--dry-run", "-Werror", str(file)], capture_output=True, text=True)
        if run.returncode:
            problems.append(f"{file.relative_to(ROOT)}: not formatted (./dev lint format --fix)")
    python = [str(file) for file in tracked("*.py", "*.pyi")]
    if python:
        fix = ["--fix"] if options.fix else []
        if options.fix:
            subprocess.run([sys.executable, "-m", "ruff", "format", "-q", *python], cwd=ROOT)
        for arguments in (["format", "--check", "-q"], ["check", "-q", *fix]):
            run = subprocess.run(
                [sys.executable, "-m", "ruff", *arguments, *python], cwd=ROOT, capture_output=True, text=True
            )
            if run.returncode:
                problems.append(run.stdout.strip() or f"ruff {arguments[0]}: some files are not formatted")
    return problems


def check_layers(options) -> list[str]:
    problems = []
    include = re.compile(r'^\s*#\s*include\s+[<"]latewood/(\w+)/([^">]*)[">]', re.MULTILINE)
    foreign = re.compile(r'^\s*#\s*include\s+[<"](mlir|llvm|lld|clang)/', re.MULTILINE)
    for file in tracked("latewood/*.h", "latewood/*.cpp", "latewood/*.c"):
        part, *rest = file.relative_to(ROOT / "latewood").parts
        name, text = file.relative_to(ROOT), file.read_text()
        for folder, path in include.findall(text):
            if folder not in ALLOWED.get(part, ()):
                problems.append(f"{name}: {part}/ must not include latewood/{folder}/{path}")
            if part == folder == "compiler" and rest[0] in PHASES and path.split("/")[0] in PHASES:
                if path.split("/")[0] != rest[0] and path not in INTERFACES:
                    problems.append(
                        f"{name}: the phase {rest[0]} must not include the phase {path.split('/')[0]} ({path})"
                    )
        if part in ("format", "runtime") and foreign.search(text):
            problems.append(f"{name}: {part}/ must not include headers of LLVM or MLIR")
    libraries = [options.build / "lib" / "liblatewood_runtime.so", options.build / "bin" / "latewood-run"]
    libraries += sorted((options.build / "python" / "latewood").glob("_runtime*.so"))
    for library in filter(Path.exists, libraries):
        linked = subprocess.run(["ldd", str(library)], capture_output=True, text=True).stdout
        for line in linked.splitlines():
            if re.search(r"lib(LLVM|MLIR|LatewoodCompiler|clang)", line):
                problems.append(f"{library.name} links {line.split()[0]}: the runtime must not contain a compiler")
    return problems


def check_headers(options) -> list[str]:
    problems = []
    sources = tracked(
        "latewood/*",
        "test/*.py",
        "test/*.cpp",
        "test/*.h",
        "bench/*.py",
        "examples/*",
        "scripts/*",
        "cmake/*",
        "dev",
        ".ci/*",
    )
    for file in sources:
        if (
            file.suffix in (".txt", ".typed", ".in", ".md", ".mlir", ".npy", ".npz", ".toml")
            and file.name != "CMakeLists.txt"
        ):
            continue
        try:
            lines = file.read_text().splitlines()
        except UnicodeDecodeError:
            continue
        name = file.relative_to(ROOT)
        if not any(LICENSE_LINE in line for line in lines[:4]):
            problems.append(f"{name}: no line '{LICENSE_LINE}' at the top")
        if len(lines) > LONG:
            print(f"warning: {name} has {len(lines)} lines; about {LONG} is where a file asks to be split")
    return problems


def check_docs(options) -> list[str]:
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "generate_docs.py"), "--check"], capture_output=True, text=True
    )
    return [] if run.returncode == 0 else [(run.stdout + run.stderr).strip()]


def changed_files() -> set[Path]:
    """C++ files that differ from the main branch of the origin, or from the previous commit, committed or not."""

    def git(*arguments: str) -> str | None:
        run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return run.stdout if run.returncode == 0 else None

    base = git("merge-base", "HEAD", "origin/main")
    if base is None or base.strip() == (git("rev-parse", "HEAD") or "").strip():
        base = git("rev-parse", "HEAD~1")
    if base is None:
        return set(cxx_files())
    names = (git("diff", "--name-only", base.strip()) or "").splitlines()
    names += (git("ls-files", "--others", "--exclude-standard") or "").splitlines()
    return {ROOT / name for name in names}


def check_tidy(options) -> list[str]:
    if not (options.build / "compile_commands.json").exists():
        return [f"tidy needs {options.build.relative_to(ROOT)}/compile_commands.json: run ./dev build first"]
    wanted = set(cxx_files()) if options.all else changed_files()
    database = (options.build / "compile_commands.json").read_text()
    files = [file for file in cxx_files() if file in wanted and file.suffix == ".cpp" and str(file) in database]
    if len(files) > options.limit and not options.all:
        print(f"clang-tidy: {len(files)} files changed; checking the {options.limit} smallest (all of them with --all)")
        files = sorted(files, key=lambda file: file.stat().st_size)[: options.limit]

    def tidy(file: Path) -> str | None:
        # The precompiled headers were written by the compiler itself and read by clang-tidy of the same version.
        command = ["clang-tidy-22", "-p", str(options.build), "--quiet", *(["--fix"] if options.fix else []), str(file)]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        return run.stdout.strip() if run.returncode else None

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [output for output in pool.map(tidy, files) if output]


CHECKS = {
    "format": check_format,
    "layers": check_layers,
    "headers": check_headers,
    "docs": check_docs,
    "tidy": check_tidy,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev lint")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--limit", type=int, default=40, help="most files that clang-tidy checks without --all")
    parser.add_argument("checks", nargs="*", metavar="|".join(CHECKS))
    options = parser.parse_args()
    unknown = [name for name in options.checks if name not in CHECKS]
    if unknown:
        parser.error(f"unknown check '{unknown[0]}': there are {', '.join(CHECKS)}")
    count = 0
    for name in options.checks or CHECKS:
        problems = CHECKS[name](options)
        print(f"{name}: {'ok' if not problems else f'{len(problems)} problems'}", flush=True)
        for problem in problems:
            print(f"  {problem}")
        count += len(problems)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
