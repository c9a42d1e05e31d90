"""Compiler flags of the runtime and of kernels (emulator.md section 2, deep_jit.md section 20)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...options import CpuCompilerOptions
from .isa import Isa

__all__ = [
    "RUNTIME_FLAGS",
    "UNIT_FLAGS",
    "kernel_compile_flags",
    "kernel_link_flags",
    "library_flags",
    "split_macros",
]

# NOTE: without -fno-gnu-unique, inline variables and statics of templates bind across kernels; one
# initial-exec variable per kernel would use up the static TLS at the 199th, so kernels define none.
_COMMON = (
    "-std=c++20",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-gnu-unique",
    "-fno-strict-aliasing",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-ftls-model=initial-exec",
)

RUNTIME_FLAGS = (*_COMMON, "-O2", "-DNDEBUG", "-Wno-psabi")

# NOTE: folders that write reports and tables: -O1 takes a third off their compile time.
UNIT_FLAGS = {"checkers": ("-O1",), "timing": ("-O1",)}


# NOTE: -g1 describes no variable, yet g++ tracks all, which takes a quarter of the compile time.
_NO_VARIABLES = ("-fno-var-tracking", "-fno-var-tracking-assignments")

# NOTE: passes that a sixth of the compile time goes to, and that long vector functions do not gain
# from: registers are many, and values that live longer are spilled.
_FEWER_PASSES = ("-fno-tree-pre", "-fno-gcse", "-fno-schedule-insns2")


def kernel_compile_flags(
    options: CpuCompilerOptions, isa: Isa, *, source_map: bool
) -> tuple[str, ...]:
    """Returns the flags that decide a kernel's code, without the user's own and without paths.

    Args:
        options: effective options.
        isa: instruction set.
        source_map: keep line numbers for the emulator's reports.
    """
    debug: tuple[str, ...] = ()
    if options.debug_info:
        debug = ("-g", "-gdwarf-5", "-fno-optimize-sibling-calls")
    elif source_map:
        # NOTE: with DWARF 5, addr2line of binutils 2.40 takes the wrong file for cold code.
        debug = ("-g1", "-gdwarf-4", "-fno-optimize-sibling-calls", *_NO_VARIABLES)
    sanitize = options.sanitize if options.sanitize not in (None, "none") else None
    return (
        *_COMMON,
        "-fno-delete-null-pointer-checks",
        # NOTE: comparisons of floats then become vector code; no value changes.
        "-fno-trapping-math",
        f"-O{options.optimize_level}",
        *_FEWER_PASSES,
        *isa.flags,
        *debug,
        *((f"-fsanitize={sanitize}",) if sanitize else ()),
        "-DDEEP_JIT_CPU=1",
        f"-D__NPU_ARCH__={options.arch}",
        "-Wno-psabi",
    )


def kernel_link_flags(runtime: Path) -> tuple[str, ...]:
    """Returns the flags that link a kernel to a runtime, found by its file name when loaded."""
    # NOTE: some toolchains drop libraries that nothing calls; the loader must see this one.
    needed = ("-Wl,--no-as-needed", f"-L{runtime.parent}", f"-l:{runtime.name}")
    return ("-shared", "-Wl,-Bsymbolic", *needed)


def library_flags(options: CpuCompilerOptions, family: str) -> tuple[str, ...]:
    """Returns the flags that name the standard libraries of a kernel.

    g++ reads the whole symbol table of libstdc++, which takes longer than all else of the link.
    The runtime loads that library, so what a kernel takes from it is found there. Flags of the user
    may need more libraries: then the compiler's own choice stays.

    Args:
        options: effective options.
        family: of the compiler, ``gcc`` or ``clang``.
    """
    _, others = split_macros(options.host_flags())
    usual = all(word.startswith(("-I", "-W", "-O", "-g")) for word in others)
    sanitized = options.sanitize not in (None, "none")
    if family != "gcc" or sanitized or not usual or options.host_link_flags():
        return ()
    return ("-nodefaultlibs", "-lm", "-lgcc", "-lc")


def split_macros(flags: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Returns the user's `-D` and `-U` flags as `#define` and `#undef` lines, and the others.

    The lines are read after the emulated API: a macro `M` must not hit its template parameters.

    Example:
        >>> split_macros(["-DM=4", "-O1", "-D", "F(x)=x", "-UOLD", "-DON"])
        ('#define M 4\n#define F(x) x\n#undef OLD\n#define ON 1\n', ('-O1',))
    """
    lines: list[str] = []
    others: list[str] = []
    words = iter(flags)
    for word in words:
        kind = word[:2]
        if kind not in ("-D", "-U"):
            others.append(word)
            continue
        name, separator, value = (word[2:] or next(words, "")).partition("=")
        if kind == "-U":
            lines.append(f"#undef {name}\n")
        else:
            lines.append(f"#define {name} {value if separator else 1}\n")
    return "".join(lines), tuple(others)
