"""Timeline and roofline as PNG or SVG, with matplotlib (emulator.md section 5)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..jit.errors import ConfigError
from .timeline import Timeline
from .timing import TimingProfile
from .timing_trace import PIPES

__all__ = ["plot_roofline", "plot_timeline"]

_COLOURS = {
    "MTE2": "tab:blue", "MTE1": "tab:cyan", "M": "tab:red", "FIX": "tab:orange", "V": "tab:purple",
    "MTE3": "tab:green", "S": "tab:gray",
}  # fmt: skip
_NOTE = "modelled time, not a measurement"


def plot_timeline(
    path: str | os.PathLike[str],
    timeline: Timeline,
    *,
    block: int = 0,
    start_us: float = 0.0,
    end_us: float | None = None,
) -> None:
    """Draws what the pipes of one block do.

    Args:
        path: picture to write; its ending (.png, .svg, .pdf) says the format.
        timeline: from `load_timeline`.
        block: which block.
        start_us: left edge in microseconds after the first block's start; `end_us` the right edge.

    Raises:
        ConfigError: matplotlib is missing, or the launch has no such block.
    """
    rows = _pipe_rows(timeline, block)
    if not rows:
        raise ConfigError(
            f"block got {block}; allowed: 0 .. {timeline.trace.num_blocks - 1}, one that did work"
        )
    figure, axes = _figure(12, 0.5 * len(rows) + 1.6)
    scale = 1 / timeline.profile.clock_mhz
    for level, (label, pipe, bars) in enumerate(rows):
        axes.broken_barh(
            [(begin * scale, length * scale) for begin, length in bars],
            (level - 0.4, 0.8),
            facecolors=_COLOURS.get(pipe, "black"),
            edgecolor="white",
            linewidth=0.2,
        )
        axes.text(0, level, f"{label} ", ha="right", va="center", transform=_left_edge(axes))
    axes.set_yticks([])
    axes.set_xlim(start_us, end_us)
    axes.invert_yaxis()
    axes.set_xlabel("microseconds after the start of the first block")
    axes.set_title(
        f"{timeline.profile.short_name}, block {block} ({_NOTE}): {timeline.profile.verdict}"
    )
    _save(figure, path)


def plot_roofline(
    path: str | os.PathLike[str],
    profiles: Mapping[str, TimingProfile],
    *,
    peak_tflops: Mapping[str, float],
    hbm_gbps: float,
) -> None:
    """Draws achieved TFLOP/s over FLOP per byte of HBM traffic, under the machine's limits.

    Args:
        path: picture to write.
        profiles: label -> profile of a run with ``timing="replay"``.
        peak_tflops: label -> roof, for example ``{"bf16": 432.5}``.
        hbm_gbps: slope of the memory limit.

    Raises:
        ConfigError: matplotlib is missing, or a profile has no HBM traffic.
    """
    figure, axes = _figure(8, 5.5)
    points = {label: _intensity(label, profile) for label, profile in profiles.items()}
    left = min([*points.values(), 1.0]) / 2
    right = max([*points.values(), 1000.0]) * 2
    for label, peak in peak_tflops.items():
        corner = peak * 1e3 / hbm_gbps
        axes.plot(
            [left, corner, right], [left * hbm_gbps / 1e3, peak, peak], color="gray", linewidth=1
        )
        axes.text(right, peak, f" {label} {peak:.0f}", va="center", fontsize=8)
    for label, intensity in points.items():
        axes.plot(intensity, profiles[label].tflops, "o", markersize=5)
        axes.annotate(label, (intensity, profiles[label].tflops), fontsize=7)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("FLOP per byte read from HBM or written")
    axes.set_ylabel("TFLOP/s")
    axes.set_title(f"Roofline ({_NOTE})")
    _save(figure, path)


def _intensity(label: str, profile: TimingProfile) -> float:
    moved = profile.hbm_read_bytes + profile.gm_write_bytes
    if moved <= 0 or profile.flops <= 0:
        raise ConfigError(
            f"profile {label!r} has no HBM traffic or no FLOPs; run it with timing='replay'"
        )
    return profile.flops / moved


def _pipe_rows(
    timeline: Timeline, block: int
) -> list[tuple[str, str, Sequence[tuple[float, float]]]]:
    """Label, pipe, and (start, length) bars in cycles, for each pipe that did something."""
    rows: list[tuple[str, str, Sequence[tuple[float, float]]]] = []
    for index, core in enumerate(timeline.trace.cores):
        if core.block != block:
            continue
        spans = timeline.of_core(index)
        pipes = core.records[spans["record"]]["pipe"]
        for number in (4, 3, 2, 6, 1, 5):
            mine = spans[pipes == number]
            bars = [(float(s["start"]), float(s["end"] - s["start"])) for s in mine]
            if bars:
                rows.append((f"{core.slot} {PIPES[number]}", PIPES[number], bars))
    return rows


def _figure(width: float, height: float) -> tuple[Any, Any]:
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise ConfigError("plots need matplotlib; install it: pip install matplotlib") from error
    return pyplot.subplots(figsize=(width, height))


def _left_edge(axes: Any) -> Any:
    from matplotlib.transforms import blended_transform_factory

    return blended_transform_factory(axes.transAxes, axes.transData)


def _save(figure: Any, path: str | os.PathLike[str]) -> None:
    from matplotlib import pyplot

    figure.tight_layout()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
