"""Messages, statistics, import time (deep_jit.md section 17, architecture.md section 3)."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from deep_jit._shared.jit import errors
from deep_jit._shared.jit.log import Log
from deep_jit._shared.tests.jit.fake_backend import SOURCE, make_runtime, source_of

HEAVY = ("numpy", "torch", "rich", "click", "tqdm", "blake3", "elftools", "asyncio", "filelock")


def test_commands_and_load_times(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime = make_runtime()
    runtime.compile("run", source_of(0))
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("DJ_JIT_PRINT_COMPILER_COMMAND", "1")  # re-read at each compile
    monkeypatch.setenv("FK_JIT_PRINT_LOAD_TIME", "yes")
    kernel = runtime.compile("run", source_of(1))
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert lines[0].startswith("[deep_jit] Running command: ")
    assert "fake_cc.sh" in lines[0]
    assert lines[1].startswith(f"[deep_jit] Load time ({kernel.artifact}): ")
    assert lines[1].endswith(" ms")
    make_runtime().compile("run", source_of(1))
    assert "Running command" not in capsys.readouterr().err
    monkeypatch.setenv("FK_JIT_PRINT_COMPILER_COMMAND", "0")  # prefix 0 beats DJ 1
    monkeypatch.setenv("JIT_PRINT_COMPILER_COMMAND", "1")  # never read
    runtime.compile("run", source_of(2))
    assert "Running command" not in capsys.readouterr().err


def test_debug_prints_everything(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FK_JIT_DEBUG", "1")
    make_runtime().compile("run", SOURCE)
    err = capsys.readouterr().err
    assert [word in err for word in ("Running command", "Loading CPU binary: ", "Load time")] == [
        True
    ] * 3


def test_log_targets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Log("stdout").info("a\nb")
    assert capsys.readouterr().out == "[deep_jit] a\n[deep_jit] b\n"
    for text in ("x", "y"):
        Log(str(tmp_path / "file")).warning(text)
    assert (tmp_path / "file").read_text() == "[deep_jit] warning: x\n[deep_jit] warning: y\n"
    Log(str(tmp_path / "none" / "file")).info("lost, not fatal")


def test_log_hooks_and_once(capsys: pytest.CaptureFixture[str]) -> None:
    log = Log()
    seen: list[tuple[str, str]] = []
    remove = log.add_hook(lambda level, text: seen.append((level, text)))
    log.warn_once("topic", "one")
    log.warn_once("topic", "two")
    remove()
    remove()
    log.info("three")
    assert seen == [("warning", "one")]
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_stats(root: Path) -> None:
    runtime = make_runtime()
    runtime.compile("run", SOURCE)
    runtime.compile("run", SOURCE)
    stats = runtime.stats.snapshot()
    assert {n: stats[n] for n in ("builds", "loads", "memory_hits", "disk_hits")} == {
        "builds": 1,
        "loads": 1,
        "memory_hits": 1,
        "disk_hits": 0,
    }
    assert stats["build_s"] > 0
    runtime.stats.reset()
    assert runtime.stats.builds == 0


def test_snapshot_stays_when_the_environment_changes(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = make_runtime()
    monkeypatch.setenv("FK_JIT_CACHE_DIR", str(tmp_path / "other"))
    assert runtime.compile_without_load("run", SOURCE).parent.parent == root
    assert runtime.env_snapshot.cache_dir == (root,)
    assert runtime.env.get("JIT_CACHE_DIR") == str(tmp_path / "other")


ERRORS = [
    errors.CompileError("m", returncode=1, command=["a"], output="o", source="s"),
    errors.CompileTimeout("m", command=["a"]),
    errors.KernelCountError("m", names=["a"]),
    errors.LaunchTimeout("m", report={"kind": "x"}),
    errors.CompileManyError("m", errors=[(0, "a", ValueError("x"))], results=[1]),
    errors.ConfigError("m"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_errors_can_be_pickled(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == "m"
    assert repr(vars(copy)) == repr(vars(error))


def test_hierarchy() -> None:
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.Error)
        assert issubclass(getattr(errors, name), RuntimeError)
    assert issubclass(errors.ConfigError, ValueError)
    assert issubclass(errors.ArgumentError, TypeError)
    assert issubclass(errors.LaunchOptionError, ValueError)
    assert issubclass(errors.CompileTimeout, errors.CompileError)


def test_every_public_name_loads() -> None:
    from deep_jit._shared import jit

    for name in jit.__all__:
        assert getattr(jit, name) is not None
    assert set(jit.__all__) <= set(dir(jit))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        jit.nothing  # noqa: B018
    assert callable(jit.dry_run)


def test_import_is_light() -> None:
    """Building a runtime and asking for a key needs none of the heavy packages."""
    code = (
        "import sys; from deep_jit._shared.jit import Runtime, Config, Kernel, create_lazy_jit;"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
