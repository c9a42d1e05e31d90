"""`deep-jit run`: a program with its own `main()`, or one kernel of a file on arrays in files."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from .._shared.emulator.context import current_options
from .._shared.emulator.options import CHECKS
from .._shared.emulator.sanitizer import Finding, SanitizerError, record
from .findings import exit_status, read_report_file, show
from .timing_view import TimingWishes, profile_json, show_profiles, timing_options

__all__ = ["run"]


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": True})
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]...")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option("-I", "include_dirs", multiple=True, metavar="DIR", help="Search headers here too.")
@click.option("--kernel", metavar="NAME", help="Run this kernel; ARGS are its arguments.")
@click.option("--blocks", type=int, default=1, show_default=True, help="Blocks of the kernel.")
@click.option("--ubuf", type=int, default=0, show_default=True, help="Dynamic UB bytes per block.")
@click.option(
    "--backend",
    type=click.Choice(["cpu", "ascend", "auto"]),
    default="cpu",
    show_default=True,
    help="Where the kernel runs.",
)
@click.option(
    "--sanitize",
    "--checks",
    "checks",
    metavar="LIST",
    help=f"Emulator checkers: all, or out of {','.join(CHECKS)}.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the checkers' findings as JSON.")
@click.option(
    "--error-exitcode",
    type=click.IntRange(0, 255),
    default=1,
    show_default=True,
    metavar="N",
    help="Exit status when the checkers find an error.",
)
@click.option("--profile", is_flag=True, help="Print modelled time and busy pipes of each launch.")
@timing_options
@click.option(
    "--save-trace",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the trace of the last launch for `deep-jit replay`.",
)
@click.option(
    "--timing",
    type=click.Choice(["replay", "fast"]),
    help="Timing model of the options above; replay by default.",
)
@click.option("--threads", type=int, help="Host threads of the emulator.")
@click.pass_context
def run(
    ctx: click.Context,
    file: Path,
    words: tuple[str, ...],
    defines: tuple[str, ...],
    include_dirs: tuple[str, ...],
    kernel: str | None,
    blocks: int,
    ubuf: int,
    backend: str,
    checks: str | None,
    as_json: bool,
    error_exitcode: int,
    profile: bool,
    timeline: Path | None,
    plot: Path | None,
    save_trace: Path | None,
    timing: str | None,
    threads: int | None,
) -> None:
    """Build and run FILE.

    A program (FILE.asc with `main()`) gets ARGS and its exit status is ours. With --kernel NAME,
    ARGS are the kernel's arguments in order: IN.npy, inout:ACC.npy, out:OUT.npy:float32:16x64,
    f32:1.5, i32:7, null; .pt files work likewise.

    Put `--` before ARGS that look like our own options.
    """
    options: dict[str, object] = {}
    checked = checks is not None or bool(current_options().checks)
    if checks is not None:
        options["checks"] = tuple(name.strip() for name in checks.split(",") if name.strip())
    if threads is not None:
        options["threads"] = threads
    wishes = TimingWishes(timing or "", profile, timeline, plot, save_trace)
    if wishes.mode:
        options["timing"] = wishes.mode
    place: dict[str, Any] = {"defines": defines, "include_dirs": include_dirs, "options": options}
    written: list[Path] = []
    status = 0
    if kernel is None:
        status, found = _run_program(file, words, wishes, checked, place)
    else:
        place |= {"num_blocks": blocks, "num_ubuf_bytes": ubuf, "backend": backend}
        written, found = _run_kernel(file, kernel, words, wishes, place)
        if not as_json:
            for path in written:
                click.echo(str(path))
    if wishes.mode and not as_json:
        show_profiles(wishes.profiles)
    if checked or found or (as_json and (wishes.mode or kernel is not None)):
        profiles = [profile_json(each) for each in wishes.profiles]
        show(found, as_json=as_json, written=written, profiles=profiles)
    ctx.exit(exit_status(found, error_exitcode, status))


def _run_program(
    file: Path,
    words: tuple[str, ...],
    wishes: TimingWishes,
    checked: bool,
    place: dict[str, Any],
) -> tuple[int, list[Finding]]:
    """Runs a program in a process of its own; returns its status and the findings."""
    from ..run import run_program

    if not (checked or wishes.mode):
        return run_program(file, words, **place), []
    with tempfile.TemporaryDirectory(prefix="deep-jit-") as folder:
        report = Path(folder) / "reports.jsonl"
        if checked:
            place["report_path"] = report
        if wishes.mode:
            place["trace_folder"] = folder
        status = run_program(file, words, **place)
        wishes.read(Path(folder))
        return status, read_report_file(report)


def _run_kernel(
    file: Path, kernel: str, words: tuple[str, ...], wishes: TimingWishes, place: dict[str, Any]
) -> tuple[list[Path], list[Finding]]:
    """Runs a kernel in this process; returns the files it wrote and the findings."""
    from ..run import run_kernel

    written: list[Path] = []
    with wishes.in_process(), record() as reports, suppress(SanitizerError):
        written = run_kernel(file, kernel, words, **place)
    return written, reports
