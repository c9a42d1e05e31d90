"""The JIT runtimes of this package, one per device, built at first use (deep_gemm.md section 0).

Nothing here runs at import: no device is touched and no tool chain is looked for.
"""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

# NOTE: imported here and not at first use, so that a first call costs no more than a disk look-up
import deep_gemm._shared.jit.backends.cpu  # noqa: F401
from deep_gemm._shared._component import shared_root
from deep_gemm._shared.jit.backends import choose_backend
from deep_gemm._shared.jit.config import Config
from deep_gemm._shared.jit.env import Env, parse_bool
from deep_gemm._shared.jit.options import AscendCompilerOptions
from deep_gemm._shared.jit.runtime import Runtime
from deep_gemm._version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from deep_gemm._shared.jit.kernel import Kernel
    from deep_gemm.heuristics.records import LaunchConfig

__all__ = [
    "Launch",
    "bind",
    "build_token",
    "clear_runtimes",
    "debug_enabled",
    "default_runtime",
    "package_root",
    "print_configs_enabled",
    "runtime_for",
]

ENV_PREFIX = "DG"
INCLUDE_PREFIXES = ("deep_gemm/", "mad/")
# The UB that bisheng keeps for stacks of vector functions is free for data (deep_gemm.md 1.15)
_BISHENG_FLAGS = ("--cce-disable-vf-stack-reserved-ubuf",)

_lock = threading.Lock()
_runtimes: dict[tuple[str, int], Runtime] = {}


def package_root() -> Path:
    """Directory of the installed package."""
    return Path(__file__).resolve().parent


def _create(backend: str, index: int) -> Runtime:
    config = Config(
        package_root(),
        ENV_PREFIX,
        extra_signature=f"deep_gemm {__version__}",
        include_dirs=(package_root() / "include", shared_root() / "include"),
        include_prefixes=INCLUDE_PREFIXES,
    )
    runtime = Runtime(config, backend=backend, device=index)
    if isinstance(defaults := runtime.default_compiler_options, AscendCompilerOptions):
        extra = (*(defaults.extra_bisheng_flags or ()), *_BISHENG_FLAGS)
        runtime.default_compiler_options = replace(defaults, extra_bisheng_flags=extra)
    return runtime


def _runtime(backend: str, index: int) -> Runtime:
    key = (backend, index)
    runtime = _runtimes.get(key)
    if runtime is None:
        with _lock:
            runtime = _runtimes.get(key)
            if runtime is None:
                runtime = _runtimes[key] = _create(backend, index)
    return runtime


def runtime_for(device: torch.device) -> Runtime:
    """The runtime of a tensor's device: cpu tensors run in the emulator, npu tensors on the NPU."""
    if device.type == "cpu":
        return _runtime("cpu", 0)
    if device.type == "meta":
        return default_runtime()
    return _runtime("ascend", device.index or 0)


def default_runtime() -> Runtime:
    """The runtime for questions without a tensor: an NPU when one is visible, else the emulator."""
    return _runtime(choose_backend("auto", Env(ENV_PREFIX).snapshot()), 0)


# Fields of a GmRange: address, bytes, read-only, name
MemoryRange = tuple[int, int, bool, str]


class Launch(Protocol):
    """Launches one kernel with a ready payload.

    `ranges` are the tensors it may touch, for the emulator; a device takes no notice.
    """

    def __call__(self, payload: bytes, ranges: Sequence[MemoryRange] = ()) -> None: ...


def bind(runtime: Runtime, kernel: Kernel, config: LaunchConfig) -> Launch:
    """A function that launches `kernel` with a ready payload and does nothing else."""
    options = runtime.effective_launch_options(
        {"num_blocks": config.num_blocks, "block_stride": config.block_stride}
    )
    launch: Any = kernel.loaded.launch
    emulated = runtime.backend.name == "cpu"

    def run(payload: bytes, ranges: Sequence[MemoryRange] = ()) -> None:
        if ranges and emulated:
            launch(payload, options, ranges)
        else:
            launch(payload, options)

    return run


def clear_runtimes() -> None:
    """Forgets every runtime; the next use builds new ones from the environment of then."""
    with _lock:
        _runtimes.clear()


def build_token() -> tuple[str | None, str | None, bool, bool]:
    """Emulator options that select another build of a kernel (emulator.md sections 3 to 5).

    Read straight from the shared option state, because it is part of every call.
    """
    state = sys.modules.get("_ascend_emulator_options_v1")
    if state is None:
        return (None, None, False, False)
    isa = source_map = timing = checks = None
    for layer in state.layers:
        isa = layer.get("isa", isa)
        source_map = layer.get("source_map", source_map)
        timing = layer.get("timing", timing)
        checks = layer.get("checks", checks)
    return (isa, source_map, (timing or "off") != "off", (checks or "none") != "none")


def _flag(name: str) -> bool:
    raw = os.environ.get(name)
    return parse_bool(name, raw) if raw is not None else False


def debug_enabled() -> bool:
    """Whether ``DG_JIT_DEBUG`` (or ``DJ_JIT_DEBUG``) is on now."""
    return _flag("DG_JIT_DEBUG" if "DG_JIT_DEBUG" in os.environ else "DJ_JIT_DEBUG")


def print_configs_enabled() -> bool:
    """Whether chosen configurations are printed: ``DG_PRINT_CONFIGS`` or ``DG_JIT_DEBUG``."""
    return _flag("DG_PRINT_CONFIGS") or debug_enabled()


def _fresh_lock_in_child() -> None:
    # NOTE: another thread of the parent may have held the lock when the process was forked
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_fresh_lock_in_child)
