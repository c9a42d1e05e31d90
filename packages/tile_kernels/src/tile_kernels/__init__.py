"""MoE routing, quantisation, transposes, rotary embedding and random numbers in TileLang.

Importing this package touches no device, runs no compiler and imports neither torch nor TileLang:
sub-packages are loaded when they are first used (architecture.md section 4).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tile_kernels import config, errors, utils
from tile_kernels._version import __version__
from tile_kernels.config import (
    get_amax_clamp_for_quant,
    get_deterministic_algorithms,
    get_device_num_sms,
    get_max_smem_per_sm,
    get_max_ub_per_vector_core,
    get_num_ai_cores,
    get_num_cube_cores,
    get_num_sms,
    get_num_vec_cores,
    get_pdl,
    get_token_alignment,
    set_amax_clamp_for_quant,
    set_num_sms,
    set_pdl,
    set_token_alignment,
    use_deterministic_algorithms,
)

if TYPE_CHECKING:
    from types import ModuleType

_SUBPACKAGES = ("moe", "quant", "rand", "testing", "torch", "transform", "transpose")
_EMULATOR_NAMES = ("EmulatorOptions", "emulator", "last_profile")

# fmt: off
__all__ = [
    # Sub-packages, loaded at first use
    "moe", "quant", "rand", "testing", "torch", "transform", "transpose",
    # Settings
    "config", "errors", "utils",
    "get_device_num_sms", "set_num_sms", "get_num_sms", "get_num_ai_cores", "get_num_cube_cores",
    "get_num_vec_cores", "get_max_smem_per_sm", "get_max_ub_per_vector_core",
    "set_token_alignment", "get_token_alignment", "set_pdl", "get_pdl",
    "use_deterministic_algorithms", "get_deterministic_algorithms",
    "set_amax_clamp_for_quant", "get_amax_clamp_for_quant",
    # Emulator
    "emulator", "EmulatorOptions", "last_profile",
    "__version__",
]
# fmt: on


def __getattr__(name: str) -> Any:
    """Loads a sub-package, or a name of the emulator, at its first use."""
    if name in _SUBPACKAGES:
        module: ModuleType = import_module(f"tile_kernels.{name}")
        return module
    if name in _EMULATOR_NAMES:
        return getattr(import_module("tile_kernels._shared.emulator"), name)
    raise AttributeError(f"module 'tile_kernels' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
