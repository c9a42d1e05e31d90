"""Names of the published extension module `deep_gemm._C` (deep_gemm.md sections 1.1 and 1.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deep_gemm import _jit, epilogue
from deep_gemm._shared.jit.dry_run import is_dry_run as get_dry_run
from deep_gemm._shared.jit.dry_run import set_dry_run as _switch
from deep_gemm.errors import DeepGemmTypeError

if TYPE_CHECKING:
    from deep_gemm._shared.jit.runtime import Runtime

__all__ = ["epilogue", "get_dry_run", "get_jit", "set_dry_run"]


def set_dry_run(enabled: bool) -> None:
    """Switches the dry run of this process: calls compile, but load, launch and write nothing."""
    if not isinstance(enabled, bool):
        raise DeepGemmTypeError(
            f"enabled must be a bool, got {type(enabled).__name__}; for example set_dry_run(True)"
        )
    _switch(enabled)


def get_jit() -> Runtime:
    """The runtime of the default device; the first call builds it."""
    return _jit.default_runtime()
