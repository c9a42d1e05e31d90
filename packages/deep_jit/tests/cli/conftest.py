"""Fixtures of the command line's tests: a cache with entries that stand-in tools made."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deep_jit._shared.jit.config import Config
from deep_jit._shared.jit.runtime import Runtime
from deep_jit._shared.testing.plugin import CACHE_VARIABLE
from deep_jit._shared.testing.stand_ins import StandInToolkit, build_toolkit
from deep_jit._shared.testing.stand_ins.fixtures import (
    journal,
    library_cache,
    make_toolkit,
    toolkit,
)
from deep_jit._shared.testing.stand_ins.harness import KERNEL, AclJournal
from deep_jit._shared.testing.stand_ins.toolkit import StandInConfig
from deep_jit.cli.app import app

__all__ = ["journal", "library_cache", "make_toolkit", "toolkit"]

Cli = Callable[..., Result]


@dataclass(frozen=True)
class Filled:
    """A cache root with entries, oldest first."""

    root: Path
    entries: Sequence[Path]

    def digest(self, index: int) -> str:
        return self.entries[index].name.rpartition(".")[2]


@pytest.fixture(autouse=True)
def checkers_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What commands print and start follows their own options, not those of the test run."""
    monkeypatch.delenv("DJ_EMU_CHECKS", raising=False)


@pytest.fixture
def cli() -> Cli:
    """Runs `deep-jit` with some words."""

    def run(*words: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(app, list(words), input=stdin, catch_exceptions=False)

    return run


@pytest.fixture
def make_runtime(toolkit: StandInToolkit, journal: AclJournal) -> Callable[..., Runtime]:
    """Makes runtimes of the npu target; `DJ` is the prefix of the command line itself."""

    def make(prefix: str = "DJ", signature: str = "") -> Runtime:
        if prefix == "DJ":
            config = Config.with_global_prefix("/", extra_signature=signature)
        else:
            config = Config("/", prefix, extra_signature=signature)
        return Runtime(config, "ascend")

    return make


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, library_cache: Path) -> Filled:
    """A cache that is filled once a session and copied for each test."""
    folder = tmp_path_factory.mktemp("template")
    tools = build_toolkit(folder / "cann", StandInConfig(), library_cache=library_cache)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASCEND_HOME_PATH", str(tools.home))
        patch.setenv(CACHE_VARIABLE, str(folder / "cache"))
        return fill(folder / "cache", Runtime(Config.with_global_prefix("/"), "ascend"))


@pytest.fixture
def filled(empty_jit_cache: Path, template: Filled) -> Filled:
    """The entries of `fill`, made by tools that are not at hand."""
    shutil.copytree(template.root, empty_jit_cache)
    names = [entry.name for entry in template.entries]
    return Filled(empty_jit_cache, [empty_jit_cache / "cache" / name for name in names])


@pytest.fixture
def made(empty_jit_cache: Path, make_runtime: Callable[..., Runtime]) -> Filled:
    """The entries of `fill`, made by the toolkit of this test."""
    return fill(empty_jit_cache, make_runtime())


def fill(root: Path, runtime: Runtime) -> Filled:
    """Makes three entries: `alpha` twice, with another option and text, and `beta`."""
    options = {"extra_bisheng_flags": ["-DX=1"]}
    other = KERNEL + "// another text\n"
    entries = [
        runtime.compile_without_load("alpha", KERNEL),
        runtime.compile_without_load("alpha", other, options),
        runtime.compile_without_load("beta", KERNEL),
    ]
    return Filled(root, entries)
