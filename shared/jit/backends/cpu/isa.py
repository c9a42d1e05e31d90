"""Instruction sets that runtime and kernels are built for (emulator.md section 2).

Flags are spelled out, never `-march=native`: a shared cache may be read by another CPU, and the
flags are part of every key.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ...errors import ConfigError

__all__ = ["Isa", "choose_isa", "host_features", "supported_isas"]

_CPUINFO = Path("/proc/cpuinfo")
_V3 = frozenset({"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"})
_V4 = frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})

# cpuinfo name -> compiler flag, for what the levels x86-64-v3 and -v4 leave out
_AVX2_EXTRAS = {"avx_vnni": "-mavxvnni"}
_AVX512_EXTRAS = {
    "avx512_bf16": "-mavx512bf16",
    "avx512_vnni": "-mavx512vnni",
    "avx512vbmi": "-mavx512vbmi",
    "avx512_vbmi2": "-mavx512vbmi2",
    "gfni": "-mgfni",
    "amx_tile": "-mamx-tile",
    "amx_bf16": "-mamx-bf16",
    "amx_int8": "-mamx-int8",
}


@dataclass(frozen=True)
class Isa:
    """An instruction set: its name and the compiler flags that select it."""

    name: str
    flags: tuple[str, ...]


@cache
def host_features() -> frozenset[str]:
    """Returns the CPU features that the kernel reports; empty where it reports none."""
    try:
        text = _CPUINFO.read_text(encoding="ascii", errors="replace")
    except OSError:
        return frozenset()
    for line in text.splitlines():
        key, _, words = line.partition(":")
        if key.strip() in ("flags", "Features"):
            return frozenset(words.split())
    return frozenset()


def supported_isas(machine: str, features: frozenset[str]) -> tuple[Isa, ...]:
    """Returns the instruction sets that a host can run, best first.

    Args:
        machine: `platform.machine()`.
        features: words of the host's cpuinfo.
    """
    if machine in ("x86_64", "amd64", "AMD64"):
        return _x86(features)
    if machine in ("aarch64", "arm64"):
        return _aarch64(features)
    return (Isa("generic", ()),)


def _x86(features: frozenset[str]) -> tuple[Isa, ...]:
    isas = [Isa("generic", ("-march=x86-64",))]
    if features >= _V3:
        isas.insert(0, Isa("avx2", ("-march=x86-64-v3", *_extras(_AVX2_EXTRAS, features))))
    if features >= _V3 | _V4:
        isas.insert(0, Isa("avx512", ("-march=x86-64-v4", *_extras(_AVX512_EXTRAS, features))))
    return tuple(isas)


def _aarch64(features: frozenset[str]) -> tuple[Isa, ...]:
    generic = Isa("generic", ("-march=armv8-a",))
    if not features >= {"asimd", "asimdhp", "asimddp", "atomics"}:
        return (generic,)
    bf16 = "+bf16" if "bf16" in features else ""
    return (Isa("neon", (f"-march=armv8.2-a+fp16+dotprod{bf16}",)), generic)


def _extras(table: dict[str, str], features: frozenset[str]) -> tuple[str, ...]:
    return tuple(flag for feature, flag in table.items() if feature in features)


@cache
def choose_isa(name: str) -> Isa:
    """Returns the instruction set that an option value means on this host.

    Args:
        name: `best`, or the name of one this host can run.

    Raises:
        ConfigError: lists the names that this host can run.
    """
    isas = supported_isas(platform.machine(), host_features())
    if name == "best":
        return isas[0]
    for isa in isas:
        if isa.name == name:
            return isa
    raise ConfigError(
        f"emulator option isa: got {name!r}; allowed on this host: best, "
        + ", ".join(isa.name for isa in isas)
    )
