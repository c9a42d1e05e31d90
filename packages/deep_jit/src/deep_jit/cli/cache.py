"""`deep-jit cache`: look at, check and clean the JIT cache (deep_jit.md sections 13 to 15)."""

from __future__ import annotations

import difflib
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from .._shared.jit.env import parse_size
from .._shared.jit.errors import ConfigError
from .._shared.jit.janitor import BUILDS, discard, evict, list_builds, sweep, tree_size
from .cache_view import EntryView, differences, find_entry, list_entries, nearest, roots_of
from .tables import age_text, print_table, size_text

__all__ = ["cache"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_DAY_S = 24 * 3600.0


def _common(command: _Command) -> _Command:
    """Adds the options that all cache commands share."""
    command = click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)
    return click.option(
        "--prefix",
        default="DJ",
        show_default=True,
        help="Environment prefix whose cache folders count: DJ, DG, TK, MLA, DS, EP.",
    )(command)


@click.group()
def cache() -> None:
    """Look at, check and clean the cache of compiled kernels."""


@cache.command()
@_common
def stats(prefix: str, as_json: bool) -> None:
    """Sum up each cache folder."""
    summary = {str(root): _root_summary(root) for root in roots_of(prefix)}
    if as_json:
        click.echo(json.dumps(summary, indent=2))
        return
    for root, values in summary.items():
        click.echo(root)
        for name, value in values.items():
            shown = size_text(value) if name.endswith("bytes") else value
            click.echo(f"  {name.replace('_', ' ')}: {shown}")


def _root_summary(root: Path) -> dict[str, int]:
    entries = list_entries([root])
    sides = {name: root / name for name in ("tmp", "trash", *BUILDS)}
    return {
        "entries": len(entries),
        "entry_bytes": sum(entry.item.size for entry in entries),
        "uncommitted": sum(not entry.item.committed for entry in entries),
        "interrupted_builds": _count(sides["tmp"]),
        "trash": _count(sides["trash"]),
        "emulator_runtime_bytes": tree_size(sides["runtime"]),
        "precompiled_header_bytes": tree_size(sides["pch"]),
        "program_bytes": tree_size(sides["programs"]),
    }


def _count(folder: Path) -> int:
    return sum(1 for _ in folder.iterdir()) if folder.is_dir() else 0


@cache.command()
@_common
@click.option("--tag", help="Only entries of this tag.")
@click.option(
    "--sort", type=click.Choice(["name", "used", "size"]), default="used", show_default=True
)
def ls(prefix: str, as_json: bool, tag: str | None, sort: str) -> None:
    """List the entries."""
    entries = list_entries(roots_of(prefix), tag)
    order: dict[str, Callable[[EntryView], Any]] = {
        "name": lambda entry: entry.name,
        "used": lambda entry: -entry.item.last_used,
        "size": lambda entry: -entry.item.size,
    }
    entries.sort(key=order[sort])
    if as_json:
        click.echo(json.dumps([entry.to_json() for entry in entries], indent=2))
        return
    rows = [
        (
            entry.item.tag,
            entry.item.digest,
            entry.to_json()["backend"],
            size_text(entry.item.size),
            age_text(entry.item.last_used),
            "" if entry.item.committed else "not committed",
        )
        for entry in entries
    ]
    print_table(("tag", "digest", "backend", "size", "used", "state"), rows)


@cache.command()
@_common
@click.argument("entry")
@click.option("--source", is_flag=True, help="Print the kernel's text instead.")
def show(prefix: str, as_json: bool, entry: str, source: bool) -> None:
    """Show one entry: ENTRY is a digest, the start of one, or TAG.DIGEST."""
    view = find_entry(list_entries(roots_of(prefix)), entry)
    if source:
        click.echo(view.source, nl=False)
        return
    if as_json:
        click.echo(json.dumps({**view.to_json(), "meta": view.meta}, indent=2))
        return
    click.echo(str(view.item.directory))
    for name, value in view.to_json().items():
        click.echo(f"  {name}: {value}")
    for name in ("command", "compiler_options", "includes", "files"):
        click.echo(f"  {name}:")
        for line in json.dumps(view.meta.get(name), indent=2).splitlines():
            click.echo(f"    {line}")


@cache.command()
@_common
@click.option("--fix", is_flag=True, help="Remove what is bad; it is built again when needed.")
@click.pass_context
def verify(ctx: click.Context, prefix: str, as_json: bool, fix: bool) -> None:
    """Hash every file of every entry. Exit status 1 if something bad is left."""
    entries = list_entries(roots_of(prefix))
    bad = [(entry, problem) for entry in entries if (problem := entry.problem())]
    removed = [entry for entry, _ in bad if fix and discard(entry.root, entry.item.directory)]
    if as_json:
        problems = [{"entry": e.name, "root": str(e.root), "problem": p} for e, p in bad]
        report = {"checked": len(entries), "bad": problems, "removed": [e.name for e in removed]}
        click.echo(json.dumps(report, indent=2))
    else:
        for entry, problem in bad:
            click.echo(f"{entry.item.directory}: {problem}")
        click.echo(f"{len(entries)} entries, {len(bad)} bad, {len(removed)} removed")
    ctx.exit(1 if len(removed) < len(bad) else 0)


@cache.command()
@_common
@click.option("--max-size", help="Then remove the least recently used down to this: 500M, 2G.")
@click.option(
    "--older-than",
    type=float,
    help="Remove entries, programs, emulator runtimes and headers not used for this many days.",
)
def prune(prefix: str, as_json: bool, max_size: str | None, older_than: float | None) -> None:
    """Remove what dead builds left behind, and old entries if asked for."""
    limit = None if max_size is None else parse_size("--max-size", max_size)
    names = ("interrupted_builds", "trash", "entries", *map(_plural, BUILDS), "freed_bytes")
    total = dict.fromkeys(names, 0)
    for root in roots_of(prefix):
        report = sweep(root)
        total["interrupted_builds"] += report.tmp
        total["trash"] += report.trash
        for entry in _unused(root, older_than):
            if discard(root, entry.item.directory):
                total["entries"] += 1
                total["freed_bytes"] += entry.item.size
        for kind in BUILDS:
            count, freed = _discard_builds(root, kind, older_than)
            total[_plural(kind)] += count
            total["freed_bytes"] += freed
        if limit is not None:
            count, freed = evict(root, limit)
            total["entries"] += count
            total["freed_bytes"] += freed
    _print_removed(total, as_json)


def _plural(kind: str) -> str:
    return {"runtime": "emulator_runtimes", "pch": "precompiled_headers"}.get(kind, kind)


def _discard_builds(root: Path, kind: str, days: float | None) -> tuple[int, int]:
    """Removes builds of one kind not used for some days: their number and bytes."""
    if days is None:
        return 0, 0
    count = freed = 0
    for folder in list_builds(root, kind):
        if folder.stat().st_mtime >= time.time() - days * _DAY_S:
            continue
        size = tree_size(folder)
        if discard(root, folder):
            count, freed = count + 1, freed + size
    return count, freed


def _unused(root: Path, days: float | None) -> list[EntryView]:
    if days is None:
        return []
    if days < 0:
        raise ConfigError(f"--older-than must not be negative, got {days} days")
    oldest = time.time() - days * _DAY_S
    return [entry for entry in list_entries([root]) if entry.item.last_used < oldest]


@cache.command()
@_common
@click.option("--tag", help="Only entries of this tag.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def clear(prefix: str, as_json: bool, tag: str | None, yes: bool) -> None:
    """Remove all compiled kernels and programs. The emulator runtime stays."""
    roots = roots_of(prefix)
    kernels = [(e.root, e.item.directory, e.item.size) for e in list_entries(roots, tag)]
    programs = (
        []
        if tag
        else [
            (r, folder, tree_size(folder)) for r in roots for folder in list_builds(r, "programs")
        ]
    )
    size = sum(item[2] for item in (*kernels, *programs))
    if (kernels or programs) and not yes:
        what = f"{len(kernels)} entries and {len(programs)} programs"
        click.confirm(f"Remove {what}, {size_text(size)}?", abort=True, err=True)
    total = {"entries": 0, "programs": 0, "freed_bytes": 0}
    for name, items in (("entries", kernels), ("programs", programs)):
        for root, folder, num_bytes in items:
            if discard(root, folder):
                total[name] += 1
                total["freed_bytes"] += num_bytes
    _print_removed(total, as_json)


def _print_removed(total: dict[str, int], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(total))
        return
    counts = [f"{n} {name.replace('_', ' ')}" for name, n in total.items() if name != "freed_bytes"]
    click.echo(f"removed {', '.join(counts)}; freed {size_text(total['freed_bytes'])}")


@cache.command()
@_common
@click.argument("entry")
@click.argument("other", required=False)
def explain(prefix: str, as_json: bool, entry: str, other: str | None) -> None:
    """Say why ENTRY is not OTHER: the components of their keys that differ.

    Without OTHER it is compared with the entry of the same tag whose key is most like its own.
    """
    entries = list_entries(roots_of(prefix))
    view = find_entry(entries, entry)
    against = find_entry(entries, other) if other else nearest(view, entries)
    if against is None:
        known = "no components recorded" if not view.components else "the only one of its tag"
        click.echo(json.dumps(None) if as_json else f"{view.name}: nothing to compare, {known}")
        return
    rows = differences(view, against)
    if as_json:
        parts = [{"component": n, "this": a, "other": b} for n, a, b in rows]
        click.echo(json.dumps({"entry": view.name, "other": against.name, "differs": parts}))
        return
    click.echo(f"{view.name} differs from {against.name} in:")
    for name, ours, theirs in rows:
        click.echo(f"  {name}\n    this:  {_shown(ours)}\n    other: {_shown(theirs)}")
    if any(name == "source" for name, _, _ in rows):
        _print_source_diff(view, against)


def _shown(value: str | None) -> str:
    return "not there" if value is None else value


def _print_source_diff(view: EntryView, against: EntryView) -> None:
    lines: Sequence[str] = list(
        difflib.unified_diff(
            against.source.splitlines(), view.source.splitlines(), "other", "this", lineterm="", n=1
        )
    )
    for line in lines[:40]:
        click.echo(f"    {line}")
    if len(lines) > 40:
        click.echo(f"    ... {len(lines) - 40} more lines; `deep-jit cache show --source` has all")
