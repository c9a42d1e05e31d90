"""The busy table of a profile, for terminals (emulator.md section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .bank_conflicts import bank_conflict_lines
from .timing import TimingProfile

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["busy_table", "print_profile", "summary"]

_BAR_CELLS = 20
# Calls with bank conflicts that are named: share of the time, and how many.
_LEAST_CONFLICTS, _MOST_CONFLICTS = 0.01, 5


def summary(profile: TimingProfile) -> str:
    """Returns one line: time, rates and verdict, labelled as modelled."""
    text = (
        f"modelled ({profile.mode}): {profile.duration_us:.1f} us, of it launch "
        f"{profile.launch_us:.1f} us; {profile.tflops:.1f} TFLOP/s, {profile.gbps:.0f} GB/s; "
        f"{profile.verdict}"
    )
    return text if profile.complete else f"{text}; INCOMPLETE: some instruction never started"


def busy_table(profile: TimingProfile) -> Table:
    """Returns a rich table: mean busy share of each pipe, and of the shared memory.

    A row of its own has the time that bank conflicts in UB take of V's.
    """
    from rich.table import Table

    table = Table()
    table.add_column("unit")
    table.add_column("pipe")
    table.add_column("busy", justify="right")
    table.add_column("")
    for unit, pipe, share in _rows(profile):
        table.add_row(unit, pipe, f"{share * 100:.1f} %", "#" * round(share * _BAR_CELLS))
    return table


def print_profile(profile: TimingProfile, *, to_stderr: bool = False) -> None:
    """Prints `summary`, `busy_table` and the calls with bank conflicts to the terminal."""
    from rich.console import Console

    console = Console(stderr=to_stderr)
    console.print(f"{profile.short_name}: {summary(profile)}", soft_wrap=True, highlight=False)
    console.print(busy_table(profile))
    for line in _conflicts(profile):
        console.print(line, soft_wrap=True, highlight=False, markup=False)


def _conflicts(profile: TimingProfile) -> list[str]:
    """One line for each of the calls that lose most."""
    if profile.bank_conflicts < _LEAST_CONFLICTS:
        return []
    lines = [
        f"bank conflicts in UB take {share * 100:.1f} % of the vector cores' time at {line}"
        for line, share in bank_conflict_lines(profile).items()
        if share >= _LEAST_CONFLICTS
    ]
    return lines[:_MOST_CONFLICTS]


def _rows(profile: TimingProfile) -> list[tuple[str, str, float]]:
    rows = []
    sides = (
        (profile.cube_cores_used, "cube", profile.cube_busy),
        (profile.vector_cores_used, "vector", profile.vector_busy),
    )
    for cores, unit, busy in sides:
        rows += [(f"{cores} {unit} cores", pipe, share) for pipe, share in busy.items() if share]
    if profile.bank_conflicts:
        unit = f"{profile.vector_cores_used} vector cores"
        rows.append((unit, "V: bank conflicts", profile.bank_conflicts))
    if profile.mode == "replay":
        rows += [("memory", "HBM", profile.hbm_share), ("memory", "L2", profile.l2_share)]
    return rows
