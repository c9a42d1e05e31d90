"""`deep-jit warm`: build ahead what first uses would build (deep_jit.md section 19)."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from typing import Any

import click

from .._shared.jit.config import Config
from .._shared.jit.env import GLOBAL_PREFIX
from .._shared.jit.errors import ConfigError, Error
from .._shared.jit.runtime import Runtime
from .._shared.jit.warm_up import Report
from .cache_view import list_entries, roots_of

__all__ = ["PREFIXES", "warm"]

PREFIXES: Mapping[str, str] = {
    "deep_jit": "DJ",
    "tile_kernels": "TK",
    "deep_gemm": "DG",
    "flash_mla": "MLA",
    "deep_select": "DS",
    "deep_ep": "EP",
}
"""Component -> prefix of its environment variables and history files."""


@click.command()
@click.option(
    "--components",
    "-c",
    multiple=True,
    type=click.Choice(list(PREFIXES)),
    help="Components whose history counts; all by default.",
)
@click.option(
    "--backend", type=click.Choice(["auto", "cpu", "ascend"]), default="auto", show_default=True
)
@click.option("--workers", type=int, help="Builds at the same time; one per core by default.")
@click.option("--days", type=int, help="Days of history to read.")
@click.option("--budget", type=float, metavar="SECONDS", help="Start no build after this time.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def warm(
    ctx: click.Context,
    components: tuple[str, ...],
    backend: str,
    workers: int | None,
    days: int | None,
    budget: float | None,
    as_json: bool,
) -> None:
    """Build the emulator runtime and precompiled headers, then the kernels that history names.

    Exit status 1 if a kernel could not be built.
    """
    start = time.monotonic()
    prepared = _prepare(backend)
    reports = {}
    for component in components or tuple(PREFIXES):
        report = _warm_component(PREFIXES[component], backend, workers, days, budget)
        if report is not None:
            reports[component] = report
    if as_json:
        click.echo(json.dumps(_json(prepared, reports)))
    else:
        _print(prepared, reports, time.monotonic() - start)
    ctx.exit(1 if any(report.failed for report in reports.values()) else 0)


def _prepare(backend: str) -> str | None:
    """Builds what every kernel of the backend needs; returns its file."""
    runtime = Runtime(Config.with_global_prefix("/"), backend)
    prepare = getattr(runtime.backend, "prepare", None)
    return None if prepare is None else str(prepare())


def _warm_component(
    prefix: str, backend: str, workers: int | None, days: int | None, budget: float | None
) -> Report | None:
    """Warms up one component; None when nothing is known of it."""
    config = _last_config(prefix)
    if config is None:
        return None
    report = Runtime(config, backend).warm_up(days, workers, budget_s=budget)
    _watch(prefix, report)
    return report


def _last_config(prefix: str) -> Config | None:
    """The configuration that the component's newest entry was built with, if it still holds."""
    entries = sorted(list_entries(roots_of(prefix)), key=lambda entry: -entry.item.last_used)
    for entry in entries:
        recorded = entry.meta.get("config", {})
        if recorded.get("env_prefix") != prefix:
            continue
        try:
            return _config(recorded)
        except (ConfigError, KeyError, TypeError):
            continue
    return None


def _config(recorded: Mapping[str, Any]) -> Config:
    root, prefix = recorded["python_library_root"], recorded["env_prefix"]
    fields = {
        "extra_signature": recorded["extra_signature"].encode("utf-8", "surrogateescape"),
        "include_dirs": recorded["include_dirs"],
        "include_prefixes": recorded["include_prefixes"],
    }
    if prefix == GLOBAL_PREFIX:
        return Config.with_global_prefix(root, **fields)
    return Config(root, prefix, **fields)


def _watch(prefix: str, report: Report) -> None:
    """Shows progress on a terminal until the warm-up ends; Ctrl-C cancels what has not begun."""
    from tqdm import tqdm

    bar = tqdm(total=report.total, desc=f"warm {prefix}", disable=not sys.stderr.isatty())
    try:
        while not report.done:
            report.wait(0.1)
            bar.n = report.present + report.built + report.skipped + report.failed
            bar.refresh()
    except KeyboardInterrupt:
        report.cancel()
        raise
    finally:
        bar.close()


def _json(prepared: str | None, reports: Mapping[str, Report]) -> dict[str, Any]:
    return {
        "prepared": prepared,
        "components": {
            name: {
                **{n: getattr(report, n) for n in ("total", "present", "built", "skipped")},
                "failed": [f"{tag}: {error}" for tag, error in report.errors],
            }
            for name, report in reports.items()
        },
    }


def _print(prepared: str | None, reports: Mapping[str, Report], seconds: float) -> None:
    if prepared is not None:
        click.echo(f"emulator runtime: {prepared}")
    for name, report in reports.items():
        click.echo(
            f"{name}: {report.total} kernels in history, {report.present} present, "
            f"{report.built} built, {report.skipped} without source, {report.failed} failed"
        )
        for tag, error in report.errors:
            click.echo(f"  {tag}: {_first_line(error)}", err=True)
    click.echo(f"done in {seconds:.1f} s")


def _first_line(error: Exception) -> str:
    kind = "" if isinstance(error, Error) else f"{type(error).__name__}: "
    return kind + (str(error).splitlines() or [""])[0]
