"""`deep-jit run`: a program with its own `main()`, or one kernel of a file on arrays in files."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

import click

from .._shared.emulator.options import CHECKS
from .._shared.emulator.sanitizer import SanitizerError, record
from .findings import exit_status, read_report_file, show

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
    threads: int | None,
) -> None:
    """Build and run FILE.

    A program (FILE.asc with `main()`) gets ARGS and its exit status is ours. With --kernel NAME,
    ARGS are the kernel's arguments in order: IN.npy, inout:ACC.npy, out:OUT.npy:float32:16x64,
    f32:1.5, i32:7, null; .pt files work likewise.

    Put `--` before ARGS that look like our own options.
    """
    from ..run import run_kernel, run_program

    options: dict[str, object] = {}
    if checks is not None:
        options["checks"] = tuple(name.strip() for name in checks.split(",") if name.strip())
    if threads is not None:
        options["threads"] = threads
    if kernel is None:
        place: dict[str, object] = {"defines": defines, "include_dirs": include_dirs}
        if checks is None:
            ctx.exit(run_program(file, words, options=options, **place))  # type: ignore[arg-type]
        with tempfile.TemporaryDirectory(prefix="deep-jit-") as folder:
            report = Path(folder) / "reports.jsonl"
            status = run_program(
                file,
                words,
                options=options,
                report_path=report,
                **place,  # type: ignore[arg-type]
            )
            found = read_report_file(report)
        show(found, as_json=as_json)
        ctx.exit(exit_status(found, error_exitcode, status))
    written: list[Path] = []
    with record() as reports, suppress(SanitizerError):
        written = run_kernel(
            file,
            kernel,
            words,
            num_blocks=blocks,
            num_ubuf_bytes=ubuf,
            defines=defines,
            include_dirs=include_dirs,
            options=options,
            backend=backend,
        )
    if not as_json:
        for path in written:
            click.echo(str(path))
    if checks is not None or reports:
        show(reports, as_json=as_json, written=written)
    ctx.exit(exit_status(reports, error_exitcode))
