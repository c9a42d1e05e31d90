"""What the stand-in compiler writes: ELF files with the records of the kernels in a source.

`.stand_in.names` maps each kernel to its place in the emulator's kernel table, `.stand_in.object`
holds the kernel object of target cpu, `.stand_in.runtime` the path of the emulator runtime. The
stand-in for ACL reads these sections.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .elf_writer import (
    AARCH64,
    SHARED_OBJECT,
    Section,
    Symbol,
    dynamic_symbol_sections,
    kernel_record,
    write_elf,
)

__all__ = ["aicpu_object", "emulated_object", "named_object"]

_KERNEL = re.compile(
    r'^(?P<words>(?:extern "C" |(?:__\w+__(?:\(\d, ?\d\))? )|void |unsigned int )+)(?P<name>\w+)\(',
    re.MULTILINE,
)
_MIX = re.compile(r"__mix__\((\d), ?(\d)\)")


@dataclass(frozen=True)
class _Kernel:
    name: str
    num_aic: int
    num_aiv: int


def named_object(text: str) -> bytes:
    """Returns an AICore object that only names kernels; they can be launched, not run."""
    kernels = [_kernel(words, name) for words, name in _declared(text, "__global__")]
    return write_elf(_records(kernels))


def aicpu_object(text: str) -> bytes:
    """Returns an AArch64 shared object with the functions of a source; kernels get their entry."""
    symbols = []
    for words, name in _declared(text, "__aicpu__"):
        symbols.append(Symbol(name))
        if "__global__" in words:
            symbols.append(Symbol(f"{name}_interface"))
    return write_elf(dynamic_symbol_sections(symbols), kind=SHARED_OBJECT, machine=AARCH64)


def emulated_object(text: str, argv: Sequence[str], cache_dir: Path) -> bytes:
    """Returns an AICore object that carries the kernel compiled for the emulator.

    Args:
        text: the source.
        argv: the compiler's command line; `-I`, `-D`, `-O` and `--npu-arch` count.
        cache_dir: JIT cache root of the emulator builds.
    """
    from .emulated_build import build_for_emulator

    build = build_for_emulator(text, argv, cache_dir)
    kernels = [_Kernel(k.symbol, k.num_aic, k.num_aiv) for k in build.kernels]
    extra = [
        Section(".stand_in.object", build.object.read_bytes()),
        Section(".stand_in.runtime", str(build.runtime).encode()),
    ]
    return write_elf([*_records(kernels), *extra])


def _declared(text: str, qualifier: str) -> Iterable[tuple[str, str]]:
    for match in _KERNEL.finditer(text):
        if qualifier in match["words"]:
            yield match["words"], match["name"]


def _kernel(words: str, name: str) -> _Kernel:
    symbol = name if 'extern "C"' in words else f"_Z{len(name)}{name}v"
    mix = _MIX.search(words)
    if mix:
        return _Kernel(symbol, int(mix[1]), int(mix[2]))
    return _Kernel(symbol, 1, 0) if "__cube__" in words else _Kernel(symbol, 0, 1)


def _records(kernels: Sequence[_Kernel]) -> list[Section]:
    sections = []
    for kernel in kernels:
        mix = kernel.num_aic and kernel.num_aiv
        for suffix in ("_mix_aic", "_mix_aiv") if mix else ("",):
            record = kernel_record(kernel.num_aic, kernel.num_aiv)
            sections.append(Section(f".ascend.meta.{kernel.name}{suffix}", record))
    names = "".join(f"{index} {kernel.name}\n" for index, kernel in enumerate(kernels))
    return [*sections, Section(".stand_in.names", names.encode())]
