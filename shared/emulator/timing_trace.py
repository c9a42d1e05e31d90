"""Traces and spans as arrays (formats: native/runtime/timing/trace_file.cpp and profile.hpp)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..jit.errors import ConfigError

__all__ = ["KINDS", "PIPES", "SLOTS", "CoreTrace", "Trace", "read_spans", "read_trace"]

PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL")
SLOTS = ("AIC", "AIV0", "AIV1")
KINDS = (
    *("work", "set_flag", "wait_flag", "barrier", "lock", "unlock"),
    *("intra_arrive", "cross_arrive", "counter_wait", "wait_fill"),
)

_MAGIC = b"ASCTRC01"
_RECORD = np.dtype([
    ("kind", "u1"), ("pipe", "u1"), ("cost", "u1"), ("variant", "u1"), ("op", "<u2"),
    ("flags", "u1"), ("unused", "u1"), ("site", "<u4"), ("value", "<u4"), ("wait_unit", "<u4"),
    ("gm", "<u4"), ("bytes", "<u8"),
])  # fmt: skip
_GM_BYTES = 64
_SPAN = np.dtype([("core", "<u4"), ("record", "<u4"), ("start", "<f8"), ("end", "<f8")])

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class CoreTrace:
    """Instructions of one core in program order: fields of `Record` in timing/trace.hpp."""

    block: int
    slot: str
    records: Array


@dataclass(frozen=True)
class Trace:
    """One recorded launch."""

    kernel: str
    object: str
    num_blocks: int
    op_names: tuple[str, ...]
    cores: tuple[CoreTrace, ...]


def read_trace(path: Path) -> Trace:
    """Reads a file of `save_trace`.

    Raises:
        ConfigError: it is no trace, or cut off.
    """
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise ConfigError(f"{path} is no trace of this version; record it again")
        try:
            return _read_body(file)
        except struct.error as error:
            raise ConfigError(f"{path} is damaged or cut off; record it again") from error


def read_spans(path: Path) -> Array:
    """Reads core, record, start and end (cycles) of every instruction that took time."""
    return np.fromfile(path, dtype=_SPAN)


def _read_body(file: BinaryIO) -> Trace:
    num_blocks, *_ = _numbers(file, "<4I")
    kernel, binary = _text(file), _text(file)
    names = tuple(_text(file) for _ in range(_numbers(file, "<I")[0]))
    cores = tuple(_read_core(file) for _ in range(_numbers(file, "<I")[0]))
    return Trace(kernel, binary, num_blocks, names, cores)


def _read_core(file: BinaryIO) -> CoreTrace:
    block, slot, _, num_records, num_gm = _numbers(file, "<IIQQQ")
    data = file.read(num_records * _RECORD.itemsize)
    if len(data) != num_records * _RECORD.itemsize or slot >= len(SLOTS):
        raise struct.error("short read")
    file.seek(num_gm * _GM_BYTES, 1)
    return CoreTrace(block, SLOTS[slot], np.frombuffer(data, dtype=_RECORD))


def _numbers(file: BinaryIO, layout: str) -> tuple[int, ...]:
    return struct.unpack(layout, file.read(struct.calcsize(layout)))


def _text(file: BinaryIO) -> str:
    (size,) = _numbers(file, "<I")
    return file.read(size).decode()
