"""Text of a translation unit that instantiates one kernel template (deep_gemm.md section 3.9)."""

from __future__ import annotations

__all__ = ["compiled_sizes", "instance_source", "texts"]


def texts(*values: int | bool | str) -> tuple[str, ...]:
    """Values as C++ literals."""
    return tuple(str(value).lower() if isinstance(value, bool) else str(value) for value in values)


def compiled_sizes(m: int, n: int, k: int, compiled_dims: str) -> tuple[str, ...]:
    """M, N, K as template constants; 0 = at run time."""
    sizes = {"m": m, "n": n, "k": k}
    return texts(*(size if axis in compiled_dims else 0 for axis, size in sizes.items()))


def instance_source(header: str, kernel: str, groups: tuple[tuple[str, ...], ...]) -> str:
    """One instance of the template `kernel`, kept by its address; a line for each group."""
    constants = ",\n".join("    " + ", ".join(group) for group in groups)
    return (
        f"#include <{header}>\n\n"
        "[[maybe_unused]] static void* instance() {\n"
        f"    return reinterpret_cast<void*>(&{kernel}<\n"
        f"{constants}>);\n"
        "}\n"
    )
