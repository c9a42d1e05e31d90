"""The JIT runtimes of this package, one per device, built at first use (deep_jit.md section 19)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tile_kernels._version import __version__

if TYPE_CHECKING:
    import torch

    from tile_kernels._shared.jit.runtime import Runtime

ENV_PREFIX = "TK"
INCLUDE_PREFIXES = ("tile_kernels/", "mad/")


def runtime_for(device: torch.device) -> Runtime:
    """Returns the runtime of a tensor's device: the emulator for `cpu`, ACL for `npu`."""
    if device.type == "cpu":
        return _runtime("cpu", 0)
    return _runtime("ascend", device.index or 0)


@cache
def _runtime(backend: str, index: int) -> Runtime:
    from tile_kernels._shared._component import shared_root
    from tile_kernels._shared.jit.config import Config
    from tile_kernels._shared.jit.runtime import Runtime

    package = Path(__file__).resolve().parent
    config = Config(
        package,
        ENV_PREFIX,
        extra_signature=f"tile_kernels {__version__}",
        include_dirs=(package / "include", shared_root() / "include"),
        include_prefixes=INCLUDE_PREFIXES,
    )
    return Runtime(config, backend=backend, device=index)
