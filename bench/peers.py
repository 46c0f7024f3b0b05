# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The systems that are compared, behind one interface: prepare(model) gives a call that runs it once and a way to see the
results as NumPy arrays. Arguments are put where the system wants them beforehand; what is timed is the call itself,
including the memory of its results, and waiting for it to finish.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from models import Model


@dataclass
class Prepared:
    call: Callable[[], Any]
    results: Callable[[Any], list[np.ndarray]]
    compile_seconds: float


class Unavailable(Exception):
    """This system cannot take this program, and why."""


class Latewood:
    name = "latewood"

    def __init__(self, threads: int):
        import latewood

        self.latewood = latewood

    def prepare(self, model: Model) -> Prepared:
        text = model.text()
        start = time.perf_counter()
        executable = self.latewood.compile(text)
        seconds = time.perf_counter() - start
        arguments = [np.ascontiguousarray(a) for a in model.flat_arguments]

        def results(value):
            return [np.asarray(v) for v in (value if isinstance(value, (tuple, list)) else [value])]

        return Prepared(lambda: executable(*arguments), results, seconds)


class Xla:
    name = "xla"

    def __init__(self, threads: int):
        pass

    def prepare(self, model: Model) -> Prepared:
        arguments = jax.device_put(model.arguments)
        # Without this the program would come from the cache: its results have been asked for before.
        jax.clear_caches()
        lowered = jax.jit(model.function).lower(*arguments)
        start = time.perf_counter()
        lowered.compile()
        seconds = time.perf_counter() - start
        # The jitted function, not the compiled object: its dispatch is the faster of the two.
        function = jax.jit(model.function)
        function(*arguments)

        def call():
            return jax.block_until_ready(function(*arguments))

        return Prepared(call, lambda value: [np.asarray(v) for v in jax.tree.leaves(value)], seconds)


class Iree:
    name = "iree"

    def __init__(self, threads: int):
        if not importlib.util.find_spec("iree") or not importlib.util.find_spec("iree.compiler"):
            raise Unavailable("iree-base-compiler is not installed")
        import iree.compiler
        import iree.runtime

        iree.runtime.flags.parse_flags(f"--task_topology_max_group_count={threads}")
        self.compiler, self.runtime = iree.compiler, iree.runtime
        self.config = iree.runtime.Config("local-task")

    def compile(self, text: str) -> tuple[float, bytes]:
        """With all optimizations; where that fails (it has limits on stack memory), with the default ones."""
        for level in (["--iree-opt-level=O3"], []):
            start = time.perf_counter()
            try:
                module = self.compiler.compile_str(
                    text,
                    input_type="stablehlo",
                    target_backends=["llvm-cpu"],
                    extra_args=["--iree-llvmcpu-target-cpu=host", *level],
                )
                return time.perf_counter() - start, module
            except Exception as error:
                message = str(error)
        reasons = [line for line in message.splitlines() if "error:" in line]
        raise Unavailable((reasons or message.strip().splitlines())[0][:160])

    def prepare(self, model: Model) -> Prepared:
        seconds, module = self.compile(model.text())
        loaded = self.runtime.load_vm_module(
            self.runtime.VmModule.copy_buffer(self.config.vm_instance, module), self.config
        )
        function = loaded["main"]
        arguments = [self.runtime.asdevicearray(self.config.device, a) for a in model.flat_arguments]

        def results(value):
            return [np.asarray(v.to_host()) for v in (value if isinstance(value, (tuple, list)) else [value])]

        return Prepared(lambda: function(*arguments), results, seconds)


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self, threads: int):
        if not importlib.util.find_spec("onnxruntime") or not importlib.util.find_spec("onnx"):
            raise Unavailable("onnxruntime or onnx is not installed")
        import onnxruntime

        self.onnxruntime = onnxruntime
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.options.log_severity_level = 3

    def prepare(self, model: Model) -> Prepared:
        import onnx_graphs

        if model.name not in onnx_graphs.GRAPHS:
            raise Unavailable("no ONNX graph is written for it")
        graph = onnx_graphs.GRAPHS[model.name](model)
        start = time.perf_counter()
        session = self.onnxruntime.InferenceSession(graph, self.options, providers=["CPUExecutionProvider"])
        seconds = time.perf_counter() - start
        wanted = {entry.name for entry in session.get_inputs()}
        feeds = {f"in{i}": np.ascontiguousarray(a) for i, a in enumerate(model.flat_arguments) if f"in{i}" in wanted}
        return Prepared(lambda: session.run(None, feeds), list, seconds)


PEERS = (Latewood, Xla, Iree, OnnxRuntime)
