"""The pytest plug-in of all components: options, markers and fixtures (style.md section 6).

Load one copy a run: `pytest -p deep_jit._shared.testing.plugin`. Importing it needs no torch.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ..emulator.options import CHECKS, ENV_PREFIX, EmulatorOptions
from ..emulator.sanitizer import SanitizerWarning
from ..jit.errors import ConfigError

if TYPE_CHECKING:
    import torch

MARKERS = (
    "npu: needs an NPU and torch_npu; runs with --backend=npu",
    "multirank(n): starts n processes that talk to each other",
    "slow: takes more than ten seconds; runs at --level=2",
    "bench: runs a benchmark program at its smallest size",
    "faults: kills, truncates, races or fills something",
)
# Markers that a level leaves out.
LEFT_OUT = {0: ("slow", "bench", "faults"), 1: ("slow",), 2: ()}
CACHE_VARIABLE = "DJ_JIT_CACHE_DIR"
RUNTIME_VARIABLE = "DJ_JIT_RUNTIME_DIR"
_OWN_CACHE = pytest.StashKey[str]()


def parse_checkers(text: str) -> tuple[str, ...]:
    """Returns the checkers that a comma-separated list names, if the emulator has them."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    try:
        return EmulatorOptions(checks=names).checks
    except ConfigError as error:
        raise pytest.UsageError(f"--sanitize: {error}") from None


def turn_on(checkers: tuple[str, ...]) -> None:
    """Turns checkers on in this process and its children; without any, the environment decides."""
    if checkers:
        os.environ[f"{ENV_PREFIX}CHECKS"] = ",".join(checkers)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options that every component's tests understand."""
    group = parser.getgroup("kernels", "kernel tests")
    group.addoption(
        "--backend", choices=("cpu", "npu"), default="cpu", help="device of the tensors (cpu)"
    )
    group.addoption(
        "--level",
        type=int,
        choices=(0, 1, 2),
        default=1,
        help="size of the case lists: 0 core, 1 default, 2 full with slow tests (1)",
    )
    group.addoption("--seed", type=int, default=0, help="seed of all random inputs (0)")
    group.addoption(
        "--sanitize",
        default="",
        help=f"emulator checkers to turn on: all, or {','.join(CHECKS)} (none)",
    )
    group.addoption(
        "--update-golden", action="store_true", help="rewrite golden files, then fail once"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Registers the markers, gives the run a JIT cache of its own and turns the checkers on.

    What a checker only warns of fails a test too, unless the test expects it.
    """
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    warning = f"{SanitizerWarning.__module__}.{SanitizerWarning.__qualname__}"
    config.addinivalue_line("filterwarnings", f"error::{warning}")
    if CACHE_VARIABLE not in os.environ:
        # NOTE: xdist workers inherit the variable, so a run and its workers share one cache.
        config.stash[_OWN_CACHE] = tempfile.mkdtemp(prefix="jit-cache-")
        os.environ[CACHE_VARIABLE] = config.stash[_OWN_CACHE]
    turn_on(parse_checkers(config.getoption("--sanitize")))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Removes the cache that this run made."""
    own = config.stash.get(_OWN_CACHE, None)
    if own is not None:
        os.environ.pop(CACHE_VARIABLE, None)
        shutil.rmtree(own, ignore_errors=True)


def pytest_report_header(config: pytest.Config) -> str:
    """Says how to repeat the run."""
    options = ("backend", "level", "seed", "sanitize")
    values = " ".join(f"--{name}={config.getoption(f'--{name}')}" for name in options)
    return f"kernels: {values} {CACHE_VARIABLE}={os.environ.get(CACHE_VARIABLE)}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips what the chosen level and backend leave out, and says what would run it."""
    level = config.getoption("--level")
    needs_npu = config.getoption("--backend") != "npu"
    for item in items:
        for marker in LEFT_OUT[level]:
            if item.get_closest_marker(marker):
                wanted = min(n for n, names in LEFT_OUT.items() if marker not in names)
                item.add_marker(pytest.mark.skip(reason=f"{marker}: needs --level={wanted}"))
        if needs_npu and item.get_closest_marker("npu"):
            item.add_marker(pytest.mark.skip(reason="needs an NPU and --backend=npu"))


@pytest.fixture(scope="session")
def backend(request: pytest.FixtureRequest) -> str:
    """The chosen backend, `cpu` or `npu`; also the torch device type of the tensors."""
    return str(request.config.getoption("--backend"))


@pytest.fixture(scope="session")
def level(request: pytest.FixtureRequest) -> int:
    """The size of the case lists: 0 core, 1 default, 2 full."""
    return int(request.config.getoption("--level"))


@pytest.fixture(scope="session")
def jit_cache_root() -> Path:
    """The JIT cache that the whole run shares."""
    return Path(os.environ[CACHE_VARIABLE].split(":")[0])


@pytest.fixture
def empty_jit_cache(tmp_path: Path, jit_cache_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty JIT cache for one test, seen by runtimes that are made inside it.

    The emulator's runtime and precompiled headers stay those of the run: they take long to build.
    """
    root = tmp_path / "jit-cache"
    # A component's own variable goes before the shared one.
    for name in [name for name in os.environ if name.endswith("_JIT_CACHE_DIR")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv(CACHE_VARIABLE, str(root))
    monkeypatch.setenv(RUNTIME_VARIABLE, str(jit_cache_root))
    return root


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A seed that depends on `--seed` and on the test's id, not on the order of the tests."""
    base = int(request.config.getoption("--seed"))
    return zlib.crc32(f"{base}:{request.node.nodeid}".encode())


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """A numpy generator with the test's own seed."""
    return np.random.default_rng(seed)


@pytest.fixture
def generator(seed: int) -> torch.Generator:
    """A torch generator on the CPU with the test's own seed."""
    import torch

    return torch.Generator().manual_seed(seed)


class Golden:
    """Compares texts with files beside the test: `golden/<test file>/<name>`."""

    def __init__(self, folder: Path, update: bool) -> None:
        self._folder = folder
        self._update = update
        self._rewritten: list[Path] = []

    def check(self, text: str, name: str) -> None:
        """Fails unless the golden file `name` holds exactly `text`."""
        path = self._folder / name
        if self._update:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
                self._rewritten.append(path)
            return
        if not path.exists():
            pytest.fail(f"{path} does not exist; run once with --update-golden and review it")
        assert text == path.read_text(), f"differs from {path}; --update-golden rewrites it"

    def finish(self) -> None:
        """Fails a test that rewrote files, so that no run passes by updating."""
        if self._rewritten:
            names = ", ".join(map(str, self._rewritten))
            pytest.fail(f"rewrote {names}; review the change and run again without --update-golden")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Iterator[Golden]:
    """The golden files of the test's module."""
    path = Path(request.path)
    files = Golden(path.parent / "golden" / path.stem, request.config.getoption("--update-golden"))
    yield files
    files.finish()
