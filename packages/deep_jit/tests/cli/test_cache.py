"""`deep-jit cache`: every command, its JSON, its exit status, and caches in a bad state."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Cli = Callable[..., Result]


def as_json(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_stats(cli: Cli, filled: Any) -> None:
    (filled.root / "tmp" / "dead").mkdir(parents=True)
    summary = as_json(cli("cache", "stats", "--json"))[str(filled.root)]
    assert (summary["entries"], summary["uncommitted"]) == (3, 0)
    assert summary["interrupted_builds"] == 1
    assert summary["entry_bytes"] == sum(
        path.stat().st_size for entry in filled.entries for path in entry.rglob("*")
    )
    text = cli("cache", "stats").stdout
    assert str(filled.root) in text
    assert "entries: 3" in text


def test_stats_of_a_cache_that_is_not_there(cli: Cli, empty_jit_cache: Path) -> None:
    assert as_json(cli("cache", "stats", "--json"))[str(empty_jit_cache)]["entries"] == 0
    assert not empty_jit_cache.exists(), "looking creates nothing"


def test_ls(cli: Cli, filled: Any) -> None:
    rows = as_json(cli("cache", "ls", "--json", "--sort", "name"))
    assert [row["tag"] for row in rows] == ["alpha", "alpha", "beta"]
    assert {row["digest"] for row in rows[:2]} == {filled.digest(0), filled.digest(1)}
    assert {row["backend"] for row in rows} == {"ascend"}
    assert rows[0]["kernels"] == ["add"]
    lines = cli("cache", "ls", "--tag", "beta").stdout.splitlines()
    assert [line.split("\t")[:2] for line in lines] == [
        ["tag", "digest"],
        ["beta", filled.digest(2)],
    ]


def test_ls_order(cli: Cli, filled: Any) -> None:
    for age, entry in enumerate(filled.entries):
        os.utime(entry / ".committed", (age * 100.0, age * 100.0))
    rows = as_json(cli("cache", "ls", "--json"))
    assert [row["digest"] for row in rows] == [filled.digest(i) for i in (2, 1, 0)]


def test_prefix_chooses_the_cache(
    cli: Cli, filled: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DG_JIT_CACHE_DIR", str(tmp_path / "other"))
    assert as_json(cli("cache", "ls", "--json", "--prefix", "DG")) == []


@pytest.mark.parametrize("form", ["beta", "beta.{0:.8}", "beta.{0}"])
def test_show(cli: Cli, filled: Any, form: str) -> None:
    name = form.format(filled.digest(2))
    shown = as_json(cli("cache", "show", name, "--json"))
    assert shown["tag"] == "beta"
    assert shown["meta"]["compiler_options"]["optimize_level"] == "2"
    text = cli("cache", "show", name).stdout
    assert str(filled.entries[2]) in text
    assert "bisheng" in text


def test_show_source(cli: Cli, filled: Any) -> None:
    expected = (filled.entries[1] / "kernel.asc").read_text()
    assert cli("cache", "show", filled.digest(1), "--source").stdout == expected


def test_unknown_and_ambiguous_entries(cli: Cli, filled: Any) -> None:
    missing = cli("cache", "show", "f" * 33)
    assert missing.exit_code == 1
    assert "no cache entry is named" in missing.stderr
    for several in ("alpha", filled.digest(0)):
        both = cli("cache", "show", several)
        assert both.exit_code == 1
        assert "names 2 entries" in both.stderr


def test_verify_clean(cli: Cli, filled: Any) -> None:
    report = as_json(cli("cache", "verify", "--json"))
    assert report == {"checked": 3, "bad": [], "removed": []}


@pytest.mark.faults
@pytest.mark.parametrize("fault", ["truncated", "changed", "missing", "no_meta", "uncommitted"])
def test_verify_finds_damage_and_fixes_it(cli: Cli, filled: Any, fault: str) -> None:
    entry = filled.entries[0]
    binary = entry / "kernel.o"
    if fault == "truncated":
        binary.write_bytes(binary.read_bytes()[:-1])
    elif fault == "changed":
        binary.write_bytes(binary.read_bytes()[:-1] + b"\xff")
    elif fault == "missing":
        binary.unlink()
    elif fault == "no_meta":
        (entry / "meta.json").write_text("{")
    else:
        (entry / ".committed").unlink()
    found = cli("cache", "verify", "--json")
    assert found.exit_code == 1
    assert [bad["entry"] for bad in json.loads(found.stdout)["bad"]] == [entry.name]
    assert str(entry) in cli("cache", "verify").stdout
    fixed = as_json(cli("cache", "verify", "--fix", "--json"))
    assert fixed["removed"] == [entry.name]
    assert as_json(cli("cache", "verify", "--json"))["checked"] == 2


def test_prune_by_age(cli: Cli, filled: Any) -> None:
    old = time.time() - 40 * 86400
    os.utime(filled.entries[0] / ".committed", (old, old))
    removed = as_json(cli("cache", "prune", "--older-than", "30", "--json"))
    assert removed["entries"] == 1
    assert removed["freed_bytes"] > 0
    assert [entry.exists() for entry in filled.entries] == [False, True, True]


@pytest.fixture
def builds(filled: Any) -> dict[str, Path]:
    """One used and one old build of each kind; returns the old ones."""
    old = {}
    for kind in ("runtime", "pch", "programs"):
        for name in ("old", "used"):
            folder = filled.root / kind / name
            folder.mkdir(parents=True)
            (folder / "file").write_bytes(b"x" * 100)
        (filled.root / kind / "building").mkdir()
        old[kind] = filled.root / kind / "old"
        os.utime(old[kind], (1.0, 1.0))
    return old


def test_prune_by_age_takes_other_builds_too(cli: Cli, filled: Any, builds: Any) -> None:
    assert as_json(cli("cache", "prune", "--json"))["programs"] == 0
    removed = as_json(cli("cache", "prune", "--older-than", "30", "--json"))
    assert removed["emulator_runtimes"] == removed["precompiled_headers"] == 1
    assert removed["programs"] == 1
    assert removed["freed_bytes"] == 300
    assert not any(folder.exists() for folder in builds.values())
    assert all((folder.parent / "used" / "file").exists() for folder in builds.values())


def test_clear_takes_programs_and_keeps_runtimes(cli: Cli, filled: Any, builds: Any) -> None:
    assert as_json(cli("cache", "clear", "--tag", "alpha", "--yes", "--json"))["programs"] == 0
    assert as_json(cli("cache", "clear", "--yes", "--json"))["programs"] == 2
    assert [folder.exists() for folder in builds.values()] == [True, True, False]


def test_prune_by_size_takes_the_least_recently_used(cli: Cli, filled: Any) -> None:
    for age, entry in enumerate(filled.entries):
        os.utime(entry / ".committed", (age * 100.0 + 1, age * 100.0 + 1))
    newest = sum(path.stat().st_size for path in filled.entries[2].rglob("*"))
    assert as_json(cli("cache", "prune", "--max-size", str(newest), "--json"))["entries"] == 2
    assert [entry.exists() for entry in filled.entries] == [False, False, True]


@pytest.mark.faults
def test_prune_removes_what_dead_builds_left(cli: Cli, filled: Any) -> None:
    dead = filled.root / "tmp" / "dead"
    dead.mkdir(parents=True)
    fresh = filled.root / "tmp" / "fresh"
    fresh.mkdir()
    os.utime(dead, (1.0, 1.0))
    assert as_json(cli("cache", "prune", "--json"))["interrupted_builds"] == 1
    assert (dead.exists(), fresh.exists()) == (False, True)


@pytest.mark.parametrize(
    ("option", "value"), [("--max-size", "2X"), ("--max-size", "-1"), ("--older-than", "-3")]
)
def test_prune_refuses_bad_limits(cli: Cli, filled: Any, option: str, value: str) -> None:
    result = cli("cache", "prune", option, value)
    assert result.exit_code == 1
    assert option in result.stderr
    assert all(entry.exists() for entry in filled.entries)


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("n\n", 3)])
def test_clear_asks(cli: Cli, filled: Any, answer: str, left: int) -> None:
    result = cli("cache", "clear", stdin=answer)
    assert result.exit_code == (0 if left == 0 else 1)
    assert sum(entry.exists() for entry in filled.entries) == left


def test_clear_of_one_tag(cli: Cli, filled: Any) -> None:
    removed = as_json(cli("cache", "clear", "--tag", "alpha", "--yes", "--json"))
    assert removed["entries"] == 2
    assert [entry.exists() for entry in filled.entries] == [False, False, True]


def test_explain_names_flags_and_source(cli: Cli, filled: Any) -> None:
    explained = as_json(cli("cache", "explain", filled.digest(1), "--json"))
    assert explained["entry"] == filled.entries[1].name
    assert explained["other"] == filled.entries[0].name
    differs = {part["component"]: part for part in explained["differs"]}
    assert {"source", "flags 0"} <= set(differs)
    assert "-DX=1" in differs["flags 0"]["this"]
    assert "-DX=1" not in differs["flags 0"]["other"]
    text = cli("cache", "explain", filled.digest(1)).stdout
    assert "+// another text" in text


def test_explain_chooses_the_nearest(cli: Cli, made: Any, make_runtime: Callable[..., Any]) -> None:
    from deep_jit._shared.testing.stand_ins.harness import KERNEL

    near = make_runtime(signature="other").compile_without_load("alpha", KERNEL)
    digest = near.name.rpartition(".")[2]
    explained = as_json(cli("cache", "explain", digest, "--json"))
    assert explained["other"] == made.entries[0].name
    assert [part["component"] for part in explained["differs"]] == ["extra signature"]


def test_explain_two_given_entries(cli: Cli, filled: Any) -> None:
    explained = as_json(cli("cache", "explain", "beta", filled.digest(1), "--json"))
    assert explained["other"] == filled.entries[1].name


def test_explain_the_only_one_of_its_tag(cli: Cli, filled: Any) -> None:
    assert as_json(cli("cache", "explain", "beta", "--json")) is None
    assert "the only one of its tag" in cli("cache", "explain", "beta").stdout
