"""Process-wide settings and what the library knows about its device (deep_gemm.md section 1.13)."""

from __future__ import annotations

from pathlib import Path

from deep_gemm import _jit, _settings
from deep_gemm.errors import DeepGemmTypeError, DeepGemmValueError

__all__ = [
    "get_deterministic_algorithms",
    "get_library_root_path",
    "get_mk_alignment_for_contiguous_layout",
    "get_npu_arch",
    "get_num_sms",
    "get_theoretical_mk_alignment_for_contiguous_layout",
    "set_mk_alignment_for_contiguous_layout",
    "set_npu_arch",
    "set_num_sms",
    "use_deterministic_algorithms",
]

MK_ALIGNMENT = 256  # rows between group starts of the contiguous layouts


def _integer(name: str, value: object, example: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise DeepGemmTypeError(
            f"{name} must be an int, got {type(value).__name__}; for example {example}"
        )
    return value


def set_num_sms(num_sms: int) -> None:
    """Sets how many AI cores kernels use; a core is one cube and two vector cores.

    Args:
        num_sms: 1 to the number of cores of the device (32).

    Raises:
        DeepGemmValueError: out of that range; the setting stays.
    """
    number = _integer("num_sms", num_sms, 32)
    cores = int(_jit.default_runtime().device.get_num_aicore_cores())
    if not 0 < number <= cores:
        raise DeepGemmValueError(
            f"num_sms is {number}; allowed: 1..{cores}, the AI cores of this device; "
            f"call set_num_sms({cores}) for all of them"
        )
    _settings.update(num_sms=number)


def get_num_sms() -> int:
    """AI cores that kernels use; all of the device unless `set_num_sms` was called."""
    return _settings.current().num_sms or int(_jit.default_runtime().device.get_num_aicore_cores())


def set_npu_arch(npu_arch: int) -> None:
    """Sets the architecture number kernels are compiled for, e.g. 3510; 0 asks the device.

    Raises:
        DeepGemmValueError: negative; the setting stays.
    """
    number = _integer("npu_arch", npu_arch, 3510)
    if number < 0:
        raise DeepGemmValueError(
            f"npu_arch is {number}; allowed: 0 (ask the device) or a dav number; for example 3510"
        )
    _settings.update(npu_arch=number)


def get_npu_arch() -> int:
    """Architecture number kernels are compiled for."""
    return _settings.current().npu_arch or int(_jit.default_runtime().device.get_npu_arch())


def get_mk_alignment_for_contiguous_layout() -> int:
    """Rows (or K) to which every group of a contiguous grouped layout is padded: 256."""
    return MK_ALIGNMENT


def set_mk_alignment_for_contiguous_layout(alignment: int) -> None:
    """Accepts 256, the only value.

    Raises:
        DeepGemmValueError: any other value.
    """
    if _integer("alignment", alignment, MK_ALIGNMENT) != MK_ALIGNMENT:
        raise DeepGemmValueError(
            f"mk_alignment is fixed at {MK_ALIGNMENT} currently, got {alignment}; "
            f"pad groups to {MK_ALIGNMENT}"
        )


def get_theoretical_mk_alignment_for_contiguous_layout(expected_m: int | None = None) -> int:
    """The smallest alignment the grouped kernels could use: 256, whatever `expected_m` is."""
    del expected_m
    return MK_ALIGNMENT


def use_deterministic_algorithms(enabled: bool) -> None:
    """Stores a wish for reproducible order; every BF16 GEMM is deterministic anyway."""
    _settings.update(deterministic=bool(enabled))


def get_deterministic_algorithms() -> bool:
    """What `use_deterministic_algorithms` stored."""
    return _settings.current().deterministic


def get_library_root_path() -> str:
    """Directory of the installed package; device headers lie in its `include/deep_gemm`."""
    return str(Path(_jit.package_root()))
