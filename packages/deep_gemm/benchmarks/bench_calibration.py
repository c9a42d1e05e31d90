"""Model error against the published measurements (ascend950_model.md section 5).

Each published dense row that this repository's kernels cover is modelled with ``timing="replay"``
and ``data="skip"`` and put next to its published time. Constants are the same for all rows; none is
set per row. Writes a CSV and a page with the table; `nox -s "bench(deep_gemm)"` runs it, and
`python tools/calibrate.py` runs it alone.

Run: python benchmarks/bench_calibration.py [--out benchmarks/results] [--row 128x576]
"""

from __future__ import annotations

import csv
import resource
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

import click
from calibration_kernels import model
from calibration_rows import DENSE, NOT_COVERED, PEAK_TFLOPS, DenseRow
from rich.console import Console
from rich.table import Table

from deep_gemm._shared.emulator.timing import TimingProfile, timing_constants

RESULTS = Path(__file__).resolve().parent / "results"
# Two result tiles of a core, each of eight K blocks.
TIMELINE_ROW = DenseRow("bf16", 2048, 4096, 1024, 0.0)
TIMELINE_US = 25.0
COLUMNS = (
    *("row", "class", "modelled_us", "published_us", "ratio", "error_percent"),
    *("modelled_percent_of_peak", "verdict"),
)


@dataclass(frozen=True)
class Result:
    """A row with its modelled time and what the model cost on this host."""

    row: DenseRow
    profile: TimingProfile
    host_s: float

    @property
    def error(self) -> float:
        """modelled / published - 1."""
        return self.profile.duration_us / self.row.us - 1

    @property
    def of_peak(self) -> float:
        """Share of the peak rate, 0..1."""
        return self.profile.tflops / PEAK_TFLOPS[self.row.dtype]

    def cells(self) -> tuple[str, ...]:
        """The row as text, in the order of `COLUMNS`."""
        return (
            str(self.row),
            self.row.kind,
            f"{self.profile.duration_us:.1f}",
            f"{self.row.us:.1f}",
            f"{1 + self.error:.3f}",
            f"{self.error * 100:+.1f}",
            f"{self.of_peak * 100:.1f}",
            self.profile.verdict,
        )


def run(rows: tuple[DenseRow, ...]) -> list[Result]:
    """Models all rows."""
    results = []
    for row in rows:
        start = time.perf_counter()
        profile = model(row)
        if not profile.complete:
            raise click.ClickException(f"{row}: the simulation did not end; the kernel hangs")
        results.append(Result(row, profile, time.perf_counter() - start))
    return results


def class_lines(results: list[Result]) -> list[str]:
    """Median and worst absolute error of each class."""
    lines = []
    for kind in dict.fromkeys(result.row.kind for result in results):
        errors = [abs(result.error) * 100 for result in results if result.row.kind == kind]
        lines.append(
            f"{kind}: {len(errors)} rows, absolute error median {statistics.median(errors):.1f} %, "
            f"mean {statistics.mean(errors):.1f} %, worst {max(errors):.1f} %"
        )
    return lines


def page(results: list[Result]) -> str:
    """The committed report."""
    header = " | ".join(name.replace("_", " ") for name in COLUMNS)
    table = "\n".join(f"| {' | '.join(result.cells())} |" for result in results)
    missing = "\n".join(f"* {what}: {count}" for what, count in NOT_COVERED)
    slowest = max(results, key=lambda result: result.error)
    open_ones = "\n".join(
        f"* `{c.name}` = {c.value:g} {c.unit}: {c.meaning}"
        for c in timing_constants()
        if c.source == "[open]"
    )
    return (
        "# Modelled times of our kernels next to published measurements\n\n"
        "Modelled, never measured: `timing=replay`, `data=skip`; one set of constants for all "
        "rows. Published: Ascend 950DT, CANN 9.20, cold L2. The published times are those of "
        "another implementation of the same operation. Made by `python tools/calibrate.py`.\n\n"
        f"| {header} |\n|{'---|' * len(COLUMNS)}\n{table}\n\n"
        + "\n".join(f"* {line}" for line in class_lines(results))
        + f"\n* slowest row against its published time: {slowest.row}, "
        f"{slowest.error * 100:+.1f} %\n\n"
        "Closed forms that the model must reproduce (copies at the rate of HBM, products at peak, "
        "drains at the rate of FIX): `shared/tests/timing/test_closed_forms.py`.\n"
        f"\nPublished rows that no kernel here covers yet:\n\n{missing}\n\n"
        f"Constants without a source:\n\n{open_ones}\n"
    )


def write(results: list[Result], folder: Path) -> None:
    """Writes calibration.csv and calibration.md."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "calibration.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(result.cells() for result in results)
    (folder / "calibration.md").write_text(page(results))


def draw(results: list[Result], folder: Path) -> None:
    """Writes roofline.svg, and bf16_timeline.png: the pipes of one core over a few result tiles."""
    from deep_gemm._shared.emulator.plots import plot_roofline, plot_timeline
    from deep_gemm._shared.emulator.timeline import load_timeline

    folder.mkdir(parents=True, exist_ok=True)
    hbm = next(c.value for c in timing_constants() if c.name == "hbm_read_gbps")
    profiles = {str(result.row): result.profile for result in results}
    plot_roofline(folder / "roofline.svg", profiles, peak_tflops=PEAK_TFLOPS, hbm_gbps=hbm)
    model(TIMELINE_ROW)
    plot_timeline(folder / "bf16_timeline.png", load_timeline(), end_us=TIMELINE_US)


def show(results: list[Result]) -> None:
    """Prints the table, the errors and the cost."""
    view = Table(title="modelled / published")
    for column in (*COLUMNS, "host_s"):
        view.add_column(column.replace("_", " "))
    for result in results:
        view.add_row(*result.cells(), f"{result.host_s:.1f}")
    console = Console(width=140)
    console.print(view)
    for line in class_lines(results):
        console.print(line)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    console.print(f"not covered: {sum(count for _, count in NOT_COVERED)} published rows")
    console.print(f"memory high-water of this process: {peak_mb:.0f} MB")


@click.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=RESULTS,
    show_default=True,
    help="Folder for calibration.csv and calibration.md.",
)
@click.option("--row", "wanted", default="", help="Only rows whose name holds this text; no files.")
@click.option(
    "--pictures",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for roofline.svg and bf16_timeline.png (needs matplotlib).",
)
@click.option("--smoke", is_flag=True, help="One small row, no files.")
def main(out: Path, wanted: str, pictures: Path | None, smoke: bool) -> None:
    """Model error against the published measurements."""
    wanted = "fp8 128x576" if smoke else wanted
    rows = tuple(row for row in DENSE if wanted in str(row))
    if not rows:
        raise click.BadParameter(f"no row holds {wanted!r}; rows: {', '.join(map(str, DENSE))}")
    results = run(rows)
    show(results)
    if not wanted:
        write(results, out)
    if pictures is not None:
        draw(results, pictures)


if __name__ == "__main__":
    main()
