"""Choice and construction of a backend (deep_jit.md section 1).

Backends: ``cpu`` (host compiler + emulator) and ``ascend`` (bisheng + ACL). ``cuda`` has a name
here but no implementation yet: a module ``cuda.py`` with a class ``CudaBackend`` is its place.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError, ToolchainError

if TYPE_CHECKING:
    from ..env import Env, EnvSettings
    from .base import Backend

__all__ = ["BACKEND_NAMES", "choose_backend", "create_backend"]

BACKEND_NAMES = ("auto", "cpu", "ascend", "cuda")

_ASCEND_DEVICE_NODES = ("/dev/davinci_manager", "/dev/davinci0")


def choose_backend(name: str, settings: EnvSettings) -> str:
    """The backend that `name` means here.

    ``auto`` takes ``JIT_BACKEND``; if that is ``auto`` too, ``ascend`` when an NPU is visible,
    else ``cpu``.
    """
    if name not in BACKEND_NAMES:
        raise ConfigError(f"backend must be one of {', '.join(BACKEND_NAMES)}, got {name!r}")
    if name == "auto":
        name = settings.backend
    if name == "auto":
        return "ascend" if npu_visible() else "cpu"
    return name


def npu_visible() -> bool:
    """Whether the driver's device nodes exist; touches neither torch nor the driver."""
    if os.environ.get("ASCEND_RT_VISIBLE_DEVICES") == "":
        return False
    return any(Path(node).exists() for node in _ASCEND_DEVICE_NODES)


def create_backend(
    name: str,
    env: Env,
    device: int = 0,
    *,
    settings: EnvSettings | None = None,
    device_model: Mapping[str, Any] | None = None,
) -> Backend:
    """Build the backend `name` (``auto`` allowed) for one device.

    Args:
        name: one of `BACKEND_NAMES`.
        env: live environment of the runtime.
        device: device index.
        settings: snapshot of `env`; taken now when None.
        device_model: overrides of the emulated device's properties (cpu only).

    Raises:
        ToolchainError: the backend's tools are missing, or it is not implemented.
    """
    settings = settings or env.snapshot()
    chosen = choose_backend(name, settings)
    if chosen == "cpu":
        from .cpu import CpuBackend

        return CpuBackend(env, settings=settings, device=device, device_model=device_model)
    if chosen == "ascend":
        from .ascend import AscendBackend

        return AscendBackend(env, settings=settings, device=device)
    raise ToolchainError("backend cuda is not available yet; use backend cpu or ascend")
