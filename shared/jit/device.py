"""Device queries and the model table of the emulated NPU (deep_jit.md section 21).

Numbers of the table: ascend950_model.md section 1 and ascend_c_cube.md section 1. Entries whose
source gives no figure are documented choices of the emulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from .errors import ConfigError

__all__ = ["DEVICE_MODELS", "Device", "DeviceProperties", "cpu_device"]


@dataclass(frozen=True)
class DeviceProperties:
    """What a device says about itself, read once per runtime."""

    soc_name: str
    npu_arch: int
    num_aicpu_cores: int
    num_aicore_cores: int
    num_cube_cores: int
    num_vec_cores: int
    warp_size: int
    max_threads_per_vec_core: int
    num_ubuf_bytes_per_vec_core: int
    global_memory_bytes: int
    num_l2_cache_bytes: int


DEVICE_MODELS: Mapping[int, DeviceProperties] = {
    3510: DeviceProperties(
        soc_name="Ascend950-emulated",
        npu_arch=3510,
        num_aicpu_cores=0,  # the emulator runs no AICPU kernels
        num_aicore_cores=32,
        num_cube_cores=32,
        num_vec_cores=64,
        warp_size=32,
        max_threads_per_vec_core=2048,
        num_ubuf_bytes_per_vec_core=256 << 10,
        global_memory_bytes=128 << 30,  # choice: host memory is the real limit
        num_l2_cache_bytes=128 << 20,
    )
}
"""Architecture number -> model of the emulated device."""


class Device:
    """Queries on one device; names as the published library has them."""

    def __init__(self, properties: DeviceProperties, index: int = 0, kind: str = "cpu") -> None:
        self.index = index
        self.kind = kind
        self._properties = properties

    def get_prop(self) -> DeviceProperties:
        """All properties."""
        return self._properties

    def get_npu_arch(self) -> int:
        """Architecture number, e.g. 3510."""
        return self._properties.npu_arch

    def get_num_aicore_cores(self) -> int:
        """AI cores."""
        return self._properties.num_aicore_cores

    def get_num_sms(self) -> int:
        """The same as `get_num_aicore_cores`, under the name CUDA code uses."""
        return self._properties.num_aicore_cores

    def get_num_vec_cores(self) -> int:
        """Vector cores of the whole device."""
        return self._properties.num_vec_cores

    def get_num_cube_cores(self) -> int:
        """Cube cores of the whole device."""
        return self._properties.num_cube_cores

    def get_num_vec_cores_per_ai_core(self) -> int:
        """Vector cores per AI core."""
        vec, ai = self._properties.num_vec_cores, self._properties.num_aicore_cores
        if ai <= 0 or vec % ai:
            raise ConfigError(
                f"Ascend vector core count must be divisible by AI core count, got {vec} and {ai}"
            )
        return vec // ai

    def get_num_l2_cache_bytes(self) -> int:
        """Bytes of L2 cache."""
        return self._properties.num_l2_cache_bytes

    def get_num_ubuf_bytes_per_vec_core(self) -> int:
        """Bytes of Unified Buffer of one vector core."""
        return self._properties.num_ubuf_bytes_per_vec_core

    def to_json(self) -> dict[str, Any]:
        """All properties plus kind and index, for reports."""
        return {"kind": self.kind, "index": self.index, **asdict(self._properties)}

    def __repr__(self) -> str:
        return f"Device({self.kind}:{self.index}, {self._properties.soc_name})"


def cpu_device(
    arch: int = 3510, index: int = 0, overrides: Mapping[str, Any] | None = None
) -> Device:
    """The emulated device of an architecture number.

    Args:
        arch: key of `DEVICE_MODELS`.
        index: device index; each index has kernels of its own.
        overrides: fields of `DeviceProperties` to replace (``Config.device_model``, for tests).
    """
    if arch not in DEVICE_MODELS:
        known = ", ".join(str(number) for number in sorted(DEVICE_MODELS))
        raise ConfigError(f"no device model for NPU architecture {arch}; known: {known}")
    try:
        model = replace(DEVICE_MODELS[arch], **(overrides or {}))
    except TypeError as error:
        raise ConfigError(f"device_model: {error}") from error
    return Device(model, index)
