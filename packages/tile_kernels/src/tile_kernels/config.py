"""Process-wide settings and core counts (tile_kernels.md section 2).

Core counts come from the device: torch_npu on an NPU, else the options of the emulator. No function
looks for device files; operators choose their target by the device of their tensors.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError

__all__ = [
    # Device
    "is_ascend", "get_device",
    # Cores and memory
    "get_device_num_sms", "set_num_sms", "get_num_sms", "get_num_ai_cores", "get_num_cube_cores",
    "get_num_vec_cores", "get_max_smem_per_sm", "get_max_ub_per_vector_core",
    # Layout and behaviour
    "set_token_alignment", "get_token_alignment", "set_pdl", "get_pdl",
    "use_deterministic_algorithms", "get_deterministic_algorithms",
    "set_amax_clamp_for_quant", "get_amax_clamp_for_quant", "reset_runtime_config",
]  # fmt: skip

VEC_CORES_PER_AI_CORE = 2
UB_BYTES = 248 * 1024
UB_BYTES_WITH_SIMT = 216 * 1024  # the data cache of SIMT threads takes the rest
DEFAULT_TOKEN_ALIGNMENT = 128


def _default_clamps() -> dict[tuple[str, bool], float]:
    return {
        ("e4m3", False): 1e-4,
        ("e4m3", True): 448 * 2.0**-9,
        ("e2m1", False): 6 * 2.0**-126,
        ("e2m1", True): 6 * 2.0**-9,
    }


@dataclass(frozen=True)
class _Settings:
    num_sms: int = 0  # 0 = as many as the device has
    token_alignment: int = DEFAULT_TOKEN_ALIGNMENT
    pdl: bool = False
    deterministic: bool = False
    amax_clamps: dict[tuple[str, bool], float] = field(default_factory=_default_clamps)


_settings = _Settings()


def _set(**changes: object) -> None:
    global _settings
    _settings = replace(_settings, **changes)  # type: ignore[arg-type]


@cache
def is_ascend() -> bool:
    """Says whether this process has an NPU: torch_npu is installed and finds one."""
    try:
        import torch_npu
    except ImportError:
        return False
    return bool(torch_npu.npu.is_available())


def get_device() -> str:
    """Returns ``"npu"`` where there is one, else ``"cpu"`` (the emulator)."""
    return "npu" if is_ascend() else "cpu"


@cache
def _npu_cores() -> int:
    import torch_npu

    npu = torch_npu.npu
    properties = npu.get_device_properties(npu.current_device())
    return int(properties.cube_core_num)


def get_device_num_sms() -> int:
    """Returns the AI cores of the device; without an NPU those of the emulated one."""
    if is_ascend():
        return _npu_cores()
    from tile_kernels._shared.emulator import current_options

    return int(current_options().num_cores)


def set_num_sms(num_sms: int) -> None:
    """Limits the AI cores that kernels use.

    Args:
        num_sms: 1 to `get_device_num_sms()`.

    Raises:
        TileKernelsValueError: out of that range; TileKernelsTypeError: not an int.
    """
    most = get_device_num_sms()
    if not isinstance(num_sms, int) or isinstance(num_sms, bool):
        raise TileKernelsTypeError(f"num_sms must be an int, got {num_sms!r}")
    if not 0 < num_sms <= most:
        raise TileKernelsValueError(
            f"num_sms got {num_sms}, allowed are 1 to {most} (get_device_num_sms())"
        )
    _set(num_sms=num_sms)


def get_num_sms() -> int:
    """Returns the AI cores that kernels use."""
    return _settings.num_sms or get_device_num_sms()


def get_num_ai_cores() -> int:
    """Same as `get_num_sms`."""
    return get_num_sms()


def get_num_cube_cores() -> int:
    """Same as `get_num_sms`: an AI core has one cube core."""
    return get_num_sms()


def get_num_vec_cores() -> int:
    """Returns the vector cores that kernels use, the grid of every vector kernel."""
    return VEC_CORES_PER_AI_CORE * get_num_sms()


def get_max_smem_per_sm() -> int:
    """Returns the bytes of on-chip memory of one worker: here the unified buffer without SIMT."""
    return UB_BYTES


def get_max_ub_per_vector_core(use_simt: bool = True) -> int:
    """Returns the bytes of unified buffer a kernel may allocate.

    Args:
        use_simt: the kernel has a SIMT region, whose data cache takes a part.
    """
    return UB_BYTES_WITH_SIMT if use_simt else UB_BYTES


def set_token_alignment(alignment: int) -> None:
    """Sets the alignment of each expert's first row in the psum layout.

    Raises:
        TileKernelsValueError: not a positive int.
    """
    if not isinstance(alignment, int) or isinstance(alignment, bool) or alignment <= 0:
        raise TileKernelsValueError(f"alignment must be a positive int, got {alignment!r}")
    _set(token_alignment=alignment)


def get_token_alignment() -> int:
    """Returns the alignment of each expert's first row in the psum layout (128 by default)."""
    return _settings.token_alignment


def set_pdl(enabled: bool) -> None:
    """Stores CUDA's flag of programmatic dependent launch; Ascend kernels do not read it."""
    _set(pdl=bool(enabled))


def get_pdl() -> bool:
    """Returns the flag of `set_pdl`."""
    return _settings.pdl


def use_deterministic_algorithms(enabled: bool) -> None:
    """Asks for kernels whose results do not depend on the order of execution."""
    _set(deterministic=bool(enabled))


def get_deterministic_algorithms() -> bool:
    """Returns the flag of `use_deterministic_algorithms`."""
    return _settings.deterministic


def _clamp_key(fmt: str, use_e4m3_sf: bool) -> tuple[str, bool]:
    if fmt not in ("e4m3", "e2m1"):
        raise TileKernelsValueError(f"fmt got {fmt!r}; allowed: 'e4m3', 'e2m1'")
    return fmt, bool(use_e4m3_sf)


def set_amax_clamp_for_quant(fmt: str, use_e4m3_sf: bool, value: float) -> None:
    """Sets the lower bound of a block's largest magnitude when it is quantised.

    Args:
        fmt: ``"e4m3"`` or ``"e2m1"``.
        use_e4m3_sf: the bound for scales in e4m3.
        value: the bound, positive.

    Raises:
        TileKernelsValueError: another fmt, or a value that is not a positive finite number.
    """
    key = _clamp_key(fmt, use_e4m3_sf)
    if not 0 < value < float("inf"):
        raise TileKernelsValueError(f"value must be positive and finite, got {value!r}")
    _set(amax_clamps=_settings.amax_clamps | {key: float(value)})


def get_amax_clamp_for_quant(fmt: str, use_e4m3_sf: bool) -> float:
    """Returns the bound of `set_amax_clamp_for_quant`."""
    return _settings.amax_clamps[_clamp_key(fmt, use_e4m3_sf)]


def reset_runtime_config() -> None:
    """Puts every setting of this module back to its default."""
    global _settings
    _settings = _Settings()
