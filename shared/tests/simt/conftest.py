"""Runs SIMT functions written in the tests: as loops over the threads, or a thread at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deep_jit._shared._component import include_dirs
from deep_jit._shared.emulator import emulator
from deep_jit._shared.jit import Config, Runtime

HEAD = """#include "c_api/asc_simd.h"
#include "simt_api/asc_simt.h"
#include "simt_api/asc_bf16.h"
#include "simt_api/asc_fp16.h"
#include "simt_api/asc_fp8.h"
#include "simt_api/cooperative_groups.h"
"""
MODES = ("lanes", "threads")


class Simt:
    """Compiles texts with one kernel and launches them on numpy arrays.

    Attributes:
        head: what stands in front of each text.
    """

    head = HEAD

    def __init__(self) -> None:
        self.runtime = Runtime(
            Config(Path(__file__).parent, "TEST", include_dirs=include_dirs()), backend="cpu"
        )

    def compile(self, text: str, **built_for: Any) -> Callable[..., None]:
        """`launch(*args, blocks=1, **emulator options)` of the kernel in `text`."""
        with emulator(**built_for):
            kernel = self.runtime.compile("simt", HEAD + text)

        def launch(*args: Any, blocks: int = 1, **options: Any) -> None:
            with emulator(**options):
                kernel.launch({"num_blocks": blocks}, *args)

        return launch

    def run(
        self, body: str, threads: int | str, *args: np.ndarray, mode: str = "lanes", **options: Any
    ) -> None:
        """One SIMT function `f` with pointer parameters p0, p1, ... on `threads` threads."""
        names = {"float32": "float", "int32": "int32_t", "uint32": "uint32_t", "int64": "int64_t"}
        names |= {"uint64": "uint64_t", "uint16": "uint16_t", "uint8": "uint8_t"}
        parameters = ", ".join(
            f"__gm__ {names[str(arg.dtype)]}* p{index}" for index, arg in enumerate(args)
        )
        if mode == "threads":  # a function with a `while` runs a thread at a time
            body = f"while (false) {{ }}\n{body}"
        words = "".join(f", p{index}" for index in range(len(args)))
        text = (
            f"__simt_vf__ __launch_bounds__(2048) inline void f({parameters}) {{\n{body}\n}}\n"
            f"__global__ __vector__ void kernel({parameters}) {{\n"
            f"    asc_vf_call<f>(dim3({threads}){words});\n}}\n"
        )
        self.compile(text, **options)(*args, **options)


@pytest.fixture(scope="session")
def simt() -> Simt:
    """The emulator of this session."""
    return Simt()


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    """How the threads of a function run."""
    return str(request.param)
