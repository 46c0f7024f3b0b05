# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stand-ins for TensorRT's and CUDA's libraries (test/tensorrt), and what an engine of theirs is."""

import ctypes
import os
from pathlib import Path

import pytest
from conftest import BUILD

import latewood

STAND_IN, CUDA = BUILD / "test" / "StandInTensorRT.so", BUILD / "test" / "StandInCUDA.so"
needs_stand_in = pytest.mark.skipif(
    not STAND_IN.exists(), reason="this build was not given TensorRT's headers (CMake option TENSORRT_ROOT)"
)


def open_stand_in() -> ctypes.CDLL:
    """Has the runtime use the stand-ins. It opens its libraries once: every test of a process that runs engines uses them."""
    os.environ["LATEWOOD_TENSORRT_LIBRARY"] = str(STAND_IN)
    os.environ["LATEWOOD_CUDART_LIBRARY"] = str(CUDA)
    return ctypes.CDLL(str(STAND_IN))


def make_engine(network: Path) -> None:
    """Puts the engine of an exported network beside it: it carries the network, compiled for the CPU."""
    program = latewood.compile(network.read_text(), ["--input=tensorrt", "--engines=cpu"])
    program.save(network.with_suffix(".lwx"))
    engine = b"LATEWOOD TENSORRT ENGINE 1\nstand-in\nSTANDIN1" + network.with_suffix(".lwx").read_bytes()
    network.with_suffix(".engine").write_bytes(engine)
