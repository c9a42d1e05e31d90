"""Which kernel of a binary is meant: exactly one, or the one asked for (deep_jit.md section 8)."""

from __future__ import annotations

from collections.abc import Sequence

from .backends.base import KernelInfo
from .errors import KernelCountError

__all__ = ["check_kernel_count", "choose_kernel"]


def check_kernel_count(kernels: Sequence[KernelInfo], file: str) -> None:
    """Raise KernelCountError unless there is exactly one kernel."""
    if len(kernels) != 1:
        names = [info.demangled or info.name for info in kernels]
        listed = f": {', '.join(names)}" if names else ""
        raise KernelCountError(
            f"expected exactly one kernel in {file}, found {len(kernels)}{listed}; mark one "
            "function __global__, or choose one with kernel=",
            names=names,
        )


def choose_kernel(
    kernels: tuple[KernelInfo, ...] | None, wanted: str | None, file: str
) -> tuple[KernelInfo, ...]:
    """The one kernel to load; empty when the entry does not tell (the backend looks itself)."""
    if kernels is None:
        return ()
    if wanted is not None:
        names = [info.demangled or info.name for info in kernels]
        kernels = tuple(k for k in kernels if wanted in (k.name, k.demangled, _bare(k.demangled)))
        if len(kernels) != 1:
            raise KernelCountError(
                f"expected exactly one kernel in {file} named {wanted}, found {len(kernels)}; "
                f"the binary has: {', '.join(names) or 'none'}",
                names=names,
            )
    check_kernel_count(kernels, file)
    return kernels


def _bare(demangled: str) -> str:
    """``f`` of ``void ns::f<int>(float*)``: what people call a kernel."""
    head = demangled.split("(", 1)[0].split("<", 1)[0]
    return head.split(" ")[-1].split("::")[-1]
