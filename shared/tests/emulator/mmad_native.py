"""Builds the mmad numerics for one instruction set and calls them through ctypes.

The build uses the runtime's own flags (emulator.md section 2), without the rest of the runtime.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

NUMERICS = Path(__file__).resolve().parents[2] / "native" / "runtime" / "numerics"
SHIM = Path(__file__).resolve().parent / "mmad_shim.cpp"
FLAGS = (
    *("-std=c++20", "-O2", "-fPIC", "-fno-strict-aliasing", "-fno-math-errno"),
    *("-ffp-contract=off", "-fno-gnu-unique", "-Wall", "-Wextra", "-Werror", f"-I{NUMERICS}"),
)


@dataclass(frozen=True)
class Isa:
    """One way to compile the kernels: flags, and the CPU features a host needs to run them.

    `unit_flags` are for fast_units.cpp alone, the one file that differs between the fast units.
    """

    name: str
    reported: str
    flags: tuple[str, ...]
    features: frozenset[str] = frozenset()
    unit_flags: tuple[str, ...] = ()

    def missing(self) -> frozenset[str]:
        """Features that this host lacks."""
        return self.features - host_features()


def host_features() -> frozenset[str]:
    """CPU flags of this host as Linux names them."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(("flags", "Features")):
            return frozenset(line.split(":", 1)[1].split())
    return frozenset()


_V4 = frozenset({"avx512f", "avx512bw", "avx512dq", "avx512vl"})
_V4_FLAGS = ("-march=x86-64-v4",)
_X86 = (
    Isa("generic", "generic", ("-march=x86-64",)),
    Isa("avx2", "avx2", ("-march=x86-64-v3",), frozenset({"avx2", "fma"})),
    Isa("avx512", "avx512", _V4_FLAGS, _V4),
    Isa(
        "avx512-bf16",
        "avx512",
        _V4_FLAGS,
        _V4 | {"avx512_bf16"},
        ("-mavx512bf16", "-DASC_EMU_FORCE_BF16_DOT"),
    ),
    Isa(
        "amx-bf16",
        "avx512",
        _V4_FLAGS,
        _V4 | {"amx_tile", "amx_bf16"},
        ("-mamx-tile", "-mamx-bf16"),
    ),
)
_AARCH64 = (
    Isa("generic", "generic", ("-DASC_EMU_ISA_GENERIC",)),
    Isa("neon", "neon", ()),
)
_OTHER = (Isa("generic", "generic", ()),)
ISAS = {"x86_64": _X86, "aarch64": _AARCH64}.get(platform.machine(), _OTHER)
EXACT_ISAS = tuple(isa for isa in ISAS if isa.reported == isa.name)
FAST_ISAS = tuple(isa for isa in ISAS if isa.reported != isa.name)


class Problem(ctypes.Structure):
    """`MmadProblem` of mmad.hpp."""

    _fields_ = (
        ("a", ctypes.c_void_p),
        ("b", ctypes.c_void_p),
        ("c", ctypes.c_void_p),
        ("m", ctypes.c_uint32),
        ("k", ctypes.c_uint32),
        ("n", ctypes.c_uint32),
        ("a_type", ctypes.c_uint8),
        ("b_type", ctypes.c_uint8),
        ("init", ctypes.c_uint8),
        ("bias", ctypes.c_void_p),
        ("scale_a", ctypes.c_void_p),
        ("scale_b", ctypes.c_void_p),
        ("hf32", ctypes.c_bool),
        ("hf32_ties_away", ctypes.c_bool),
        ("gemv", ctypes.c_bool),
        ("lasting", ctypes.c_bool),
        ("a_version", ctypes.c_uint64),
        ("b_version", ctypes.c_uint64),
        ("a_pitch", ctypes.c_uint64),
        ("b_pitch", ctypes.c_uint64),
        ("a_row_pitch", ctypes.c_uint64),
        ("b_row_pitch", ctypes.c_uint64),
        ("ahead", ctypes.c_void_p),
    )


def _compile(source: Path, flags: tuple[str, ...], folder: Path) -> Path:
    """An object file of `source`, shared by the instruction sets that use the same flags."""
    digest = hashlib.sha256(" ".join(flags).encode()).hexdigest()[:12]
    target = folder / f"{source.stem}-{digest}.o"
    if not target.exists():
        subprocess.run(
            [_compiler(), *FLAGS, *flags, "-c", str(source), "-o", str(target)], check=True
        )
    return target


def _compiler() -> str:
    found = shutil.which("c++") or shutil.which("g++")
    if found is None:
        raise RuntimeError("the tests need a C++20 compiler named c++ or g++ on PATH")
    return found


class Numerics:
    """The compiled kernels of one instruction set."""

    def __init__(self, isa: Isa, folder: Path) -> None:
        """Builds the library in `folder` and loads it."""
        objects = []
        for source in (SHIM, *sorted(NUMERICS.glob("*.cpp"))):
            unit_flags = isa.unit_flags if source.name == "fast_units.cpp" else ()
            objects.append(str(_compile(source, (*isa.flags, *unit_flags), folder)))
        library = folder / f"mmad-{isa.name}.so"
        subprocess.run([_compiler(), "-shared", *objects, "-o", str(library)], check=True)
        self.isa = isa
        self._library = ctypes.CDLL(str(library))
        self._library.shim_isa_name.restype = ctypes.c_char_p
        self._library.shim_fast_unit_name.restype = ctypes.c_char_p
        assert self._library.shim_problem_bytes() == ctypes.sizeof(Problem)

    @property
    def isa_name(self) -> str:
        """What the library says it was compiled for."""
        return str(self._library.shim_isa_name().decode())

    @property
    def fast_unit(self) -> str:
        """What fast mode uses."""
        return str(self._library.shim_fast_unit_name().decode())

    def mmad(self, problem: Problem, *, fast: bool = False) -> None:
        """Runs one multiply."""
        self._library.shim_mmad(ctypes.byref(problem), int(fast))

    def mmad_open(self, problem: Problem) -> None:
        """Runs one multiply in fast mode, which may leave its sums open."""
        self._library.shim_mmad_open(ctypes.byref(problem))

    def mmad_exact_open(self, problem: Problem) -> None:
        """Runs one multiply in exact mode, which may leave it open when its operands last."""
        self._library.shim_mmad_exact_open(ctypes.byref(problem))

    def settle(self) -> None:
        """Finishes what is open."""
        self._library.shim_settle()

    def settle_range(self, address: int, num_bytes: int) -> None:
        """Finishes at least what changes some bytes of C."""
        self._library.shim_settle_range(ctypes.c_void_p(address), ctypes.c_size_t(num_bytes))

    def mmad_hostile(self, problem: Problem) -> bool:
        """Runs one multiply with odd rounding modes; says whether they were restored."""
        return bool(self._library.shim_mmad_hostile(ctypes.byref(problem)))


def settled_numerics(isas: Sequence[Isa]) -> Any:
    """A fixture: the kernels of each instruction set, with nothing left open after a test."""

    @pytest.fixture(params=isas, ids=lambda isa: isa.name)
    def numerics(
        request: pytest.FixtureRequest, numerics_of: Callable[[Isa], Numerics]
    ) -> Iterator[Numerics]:
        numerics = numerics_of(request.param)
        yield numerics
        numerics.settle()

    return numerics
