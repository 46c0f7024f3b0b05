# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in the executor dialect, as modules that have finished the last phase, and what runs one of them on both hosts and
holds the two against each other."""

import numpy as np
import pytest

from latewood import compiler, errors, runtime

HOSTS = ("native", "lua")


def build(body: str, host: str):
    text = f"""
module attributes {{latewood.phase = "lower", executor.host = "{host}", plan.target = #plan.target<
    triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "avx2">}} {{
{body}
}}"""
    return compiler.CompilerClient().translate_to_runtime_executable(compiler.Module.parse(text))


class Program:
    """One program on both hosts."""

    def __init__(self, body: str, client: runtime.RuntimeClient):
        self.client = client
        self.sessions = {
            host: runtime.RuntimeSession(client, runtime.RuntimeSessionOptions(), build(body, host)) for host in HOSTS
        }

    def run(self, host: str, *arguments, out=None):
        arguments = [self.client.create_memref(np.asarray(argument, order="C")) for argument in arguments]
        results = self.sessions[host].execute_function("main", in_args=arguments, out_args=out)
        return [np.asarray(result) for result in results]

    def __call__(self, *arguments):
        native, lua = (self.run(host, *arguments) for host in HOSTS)
        assert len(native) == len(lua)
        for mine, theirs in zip(native, lua, strict=True):
            assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
            assert mine.tobytes() == theirs.tobytes()
        return native

    def fail(self, *arguments) -> str:
        messages = []
        for host in HOSTS:
            with pytest.raises(errors.LatewoodError) as info:
                self.run(host, *arguments)
            messages.append((type(info.value), str(info.value)))
        assert messages[0] == messages[1]
        return messages[0][1]
