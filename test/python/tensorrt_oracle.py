# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs by way of TensorRT's layers, on the CPU: the oracle for the conversion.

A program is divided among TensorRT and the CPU as for a GPU. What TensorRT takes is converted to its layers, simplified, and converted
back to StableHLO, which the CPU runs: the results must be those of the program itself.
"""

import re
from collections import Counter

import latewood
from latewood import compiler

OPTIONS = ["--engines=tensorrt,cpu"]

LAYERS = (
    "builtin.module(func.func(latewood-convert-stablehlo-to-tensorrt,cse,latewood-raise-tensorrt-patterns,"
    "latewood-simplify-tensorrt,cse))"
)
BACK = "latewood-convert-tensorrt-to-stablehlo,builtin.module(latewood-expand-operations,func.func(cse))"


# Extents that are not known are scalars of the host once a program is divided: layers of dynamic shapes are made, and unmade, before.
DYNAMIC_LAYERS = "func.func(latewood-convert-stablehlo-to-tensorrt{partial=true},cse,latewood-raise-tensorrt-patterns,latewood-simplify-tensorrt,cse)"
DYNAMIC_BACK = (
    "latewood-convert-tensorrt-to-stablehlo,latewood-expand-operations,func.func(latewood-simplify-stablehlo,cse)"
)


def pipelines(is_dynamic):
    """The passes up to layers, and those from there to an executable."""
    text = compiler.CompilerClient().get_textual_pipeline(OPTIONS)
    if is_dynamic:
        before, after = re.sub(r"latewood-cluster\{[^}]*\},latewood-engines\{[^}]*\}", "REST", text).split(",REST")
        rest = ",latewood-cluster{engines=cpu},latewood-engines{engines=cpu}" + after
        return before + "," + DYNAMIC_LAYERS + ")", "builtin.module(" + DYNAMIC_BACK + rest
    before, after = re.sub(r"latewood-engines\{[^}]*\}", "ENGINES", text).split(",ENGINES")
    return before + "," + LAYERS + ")", "builtin.module(" + BACK + ",latewood-engines{engines=cpu}" + after


def compile_by_layers(program):
    """(executable, Counter of layers, what was left to the CPU as {(operation, reason)})."""
    module = compiler.parse(program)
    before, after = pipelines(bool(re.search(r"tensor<[^>]*\?", str(module))))
    compiler.Pipeline.parse(before).run(module)
    layers = Counter(re.findall(r"\btensorrt\.(\w+)", str(module)))
    left = set()
    for diagnostic in module.diagnostics:
        found = re.match(r"engine tensorrt does not take '([\w.]+)': (.*)", diagnostic.message, re.S)
        if found:
            left.add((found[1], found[2]))
    compiler.Pipeline.parse(after).run(module)
    return latewood.Executable(compiler.translate(module, None)), layers, left
