"""`deep-jit replay`: models a recorded launch again, also with other constants."""

from __future__ import annotations

import json
from pathlib import Path

import click

from .timing_view import (
    parse_constants,
    profile_json,
    show_profiles,
    timing_options,
    write_files,
)

__all__ = ["replay"]


@click.command()
@click.argument("trace", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--set", "words", multiple=True, metavar="NAME=VALUE", help="Another value of a constant."
)
@click.option(
    "--mode",
    type=click.Choice(["replay", "fast"]),
    default="replay",
    show_default=True,
    help="Whether the cores share HBM and L2, or each runs by itself.",
)
@timing_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def replay(
    trace: Path,
    words: tuple[str, ...],
    mode: str,
    timeline: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Model TRACE (of `run --save-trace` or `deep_jit.save_trace`) without running its kernel."""
    from .._shared.emulator.timing import replay_trace
    from ..run import load_runtime

    load_runtime()
    constants = parse_constants(words)
    profile = replay_trace(trace, mode=mode, constants=constants)
    write_files(trace, mode, timeline, plot, constants)
    if as_json:
        click.echo(json.dumps(profile_json(profile), indent=1))
    else:
        show_profiles([profile])
