"""`deep-jit warm`: rebuilds what history names under the current key (deep_jit.md section 19)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from deep_jit._shared.jit.backends.cpu import CpuBackend
from deep_jit._shared.testing.stand_ins import StandInToolkit
from deep_jit._shared.testing.stand_ins.harness import KERNEL

Cli = Callable[..., Result]


def warm(cli: Cli, *words: str, status: int = 0) -> Any:
    result = cli("warm", "--backend", "ascend", "--json", *words)
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


def test_everything_present(cli: Cli, made: Any, toolkit: StandInToolkit) -> None:
    toolkit.forget_commands()
    report = warm(cli)
    assert report["prepared"] is None, "the npu target has no runtime to build"
    assert report["components"] == {
        "deep_jit": {"total": 3, "present": 3, "built": 0, "skipped": 0, "failed": []}
    }
    assert toolkit.commands() == []


def test_new_compiler_rebuilds(cli: Cli, made: Any, toolkit: StandInToolkit) -> None:
    config = toolkit.home / "stand_in.json"
    config.write_text(config.read_text().replace('"1.0"', '"2.0"'))
    assert warm(cli)["components"]["deep_jit"]["built"] == 3
    assert warm(cli)["components"]["deep_jit"]["built"] == 0


def test_other_components_keep_their_configuration(
    cli: Cli, made: Any, make_runtime: Callable[..., Any], toolkit: StandInToolkit
) -> None:
    make_runtime("DG", "signature").compile_without_load("gemm", KERNEL)
    toolkit.forget_commands()
    report = warm(cli, "-c", "deep_gemm")
    assert report["components"] == {
        "deep_gemm": {"total": 1, "present": 1, "built": 0, "skipped": 0, "failed": []}
    }
    assert toolkit.commands() == [], "the same signature gives the same key"


def test_no_history(cli: Cli, empty_jit_cache: Path, toolkit: StandInToolkit) -> None:
    assert warm(cli)["components"] == {}


def test_lost_entries_are_skipped(cli: Cli, made: Any) -> None:
    shutil.rmtree(made.entries[2])
    assert warm(cli)["components"]["deep_jit"]["skipped"] == 1


def test_failed_builds_are_counted_and_named(cli: Cli, made: Any, toolkit: StandInToolkit) -> None:
    (toolkit.home / "bin" / "bisheng").write_text(
        '#!/bin/sh\n[ "$1" = --version ] && { echo three; exit; }\necho no licence; exit 9\n'
    )
    report = warm(cli, status=1)
    assert len(report["components"]["deep_jit"]["failed"]) == 3
    result = cli("warm", "--backend", "ascend")
    assert "command failed with exit code 9" in result.stderr
    assert "3 failed" in result.stdout


def test_prepares_the_emulator(
    cli: Cli, empty_jit_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CpuBackend, "prepare", lambda self: Path("/built/libasc_emu-x.so"))
    result = cli("warm", "--backend", "cpu")
    assert result.exit_code == 0
    assert "emulator runtime: /built/libasc_emu-x.so" in result.stdout


def test_without_a_toolkit(
    cli: Cli, empty_jit_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCEND_HOME_PATH", "/no/such/toolkit")
    result = cli("warm", "--backend", "ascend")
    assert result.exit_code == 1
    assert "Ascend toolkit home was not found" in result.stderr
