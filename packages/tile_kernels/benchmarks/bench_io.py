"""Modelled times as rows of a benchmark, and rows as CSV and as a table."""

from __future__ import annotations

import csv
import datetime
import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

import tile_kernels
from tile_kernels._shared.emulator.timing import (
    TimingProfile,
    timed_launches,
    timing_constants,
)

HBM_GBPS = 3500
MODELLED = (
    "operator", "case", "kernels", "modelled_us", "of_launch", "gbps", "of_hbm", "of_mix", "bound",
)  # fmt: skip

Row = dict[str, object]


def count_bytes(value: Any) -> int:
    """Bytes of the tensors in a result."""
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    return sum(count_bytes(item) for item in value) if isinstance(value, (tuple, list)) else 0


def timed(call: Callable[[], Any], **options: Any) -> tuple[Any, list[TimingProfile]]:
    """The result of a call and what its kernels would take; `options` are the emulator's."""
    with tile_kernels.emulator(timing="replay", **options), timed_launches() as profiles:
        result = call()
    return result, list(profiles)


def modelled_row(
    name: str, case: str, profiles: list[TimingProfile], read: int, written: int
) -> Row:
    """What the kernels of a call would take on the device.

    Args:
        name: operator.
        case: its input in words.
        profiles: of the kernels, from `timed`.
        read: bytes of all inputs, each once; `written` those of all outputs.

    Returns:
        `of_launch`: share of the time that is launch overhead. `of_hbm`: share of the HBM limit of
        3500 GB/s. `of_mix`: the time that the model's HBM takes for these reads and writes, over
        the time; writes are slower than reads.
    """
    us = sum(profile.duration_us for profile in profiles)
    longest = max(profiles, key=lambda profile: profile.duration_us)
    constants = {item.name: item.value for item in timing_constants()}
    least = read / constants["hbm_read_gbps"] + written / constants["hbm_write_gbps"]
    rate = (read + written) / us / 1e3
    return {
        "operator": name,
        "case": case,
        "kernels": len(profiles),
        "modelled_us": round(us, 1),
        "of_launch": f"{sum(profile.launch_us for profile in profiles) / us:.0%}",
        "gbps": round(rate),
        "of_hbm": f"{rate / HBM_GBPS:.0%}",
        "of_mix": f"{least / 1e3 / us:.0%}",
        "bound": longest.verdict,
    }


def report(title: str, columns: tuple[str, ...], rows: Iterable[Row], path: Path | None) -> None:
    """Prints the rows as a table, and writes them as CSV with date and command."""
    view = Table(title=title)
    for column in columns:
        view.add_column(column, overflow="fold")
    done = []
    for row in rows:
        done.append(row)
        view.add_row(*(str(row[column]) for column in columns))
    Console(width=150).print(view)
    if path is not None:
        _write(path, columns, done)


def _write(path: Path, columns: tuple[str, ...], rows: list[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    common = {"date": datetime.date.today().isoformat(), "command": command}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*columns, *common], lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | common for row in rows)
