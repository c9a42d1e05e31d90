"""`deep-jit doctor`: it always prints, whatever is broken (style.md 2.19)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deep_jit._shared.testing.npu_tensors import register_npu_device
from deep_jit._shared.testing.stand_ins import StandInToolkit
from deep_jit._shared.testing.stand_ins.harness import AclJournal
from deep_jit.cli import doctor, probes, self_test
from deep_jit.cli.doctor import run_doctor

SECTIONS = [
    *("versions", "machine", "compilers", "cann", "devices", "cache", "emulator", "environment"),
]


def report(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    status = run_doctor([*words, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_every_section_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    status, values = report(capsys, "--no-self-test")
    assert status == 0
    assert list(values) == SECTIONS
    assert values["versions"]["python"] == sys.version.split()[0]
    assert values["compilers"]["chosen"]["version"]
    assert values["devices"]["emulated"]["npu_arch"] == 3510
    assert isinstance(values["emulator"]["runtime"]["built"], bool)


def test_text_has_every_section(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_doctor(["--no-self-test"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines if line[0].isalpha()] == SECTIONS


def test_cache_roots(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = tmp_path / "absent" / "deeper"
    monkeypatch.setenv("DJ_JIT_CACHE_DIR", f"{tmp_path}:{absent}")
    _, values = report(capsys, "--no-self-test")
    assert values["cache"][str(tmp_path)]["writable"] is True
    assert values["cache"][str(absent)]["exists"] is False
    assert not absent.exists()
    assert values["environment"]["DJ_JIT_CACHE_DIR"] == f"{tmp_path}:{absent}"


def test_stand_in_toolkit_is_found(
    capsys: pytest.CaptureFixture[str], toolkit: StandInToolkit, journal: AclJournal
) -> None:
    _, values = report(capsys, "--no-self-test")
    assert values["cann"]["home"] == str(toolkit.home)
    assert values["cann"]["bisheng"]["version"] == "bisheng stand-in 1.0"
    assert values["devices"]["npu"]["soc_name"] == "Ascend950PR_9599"


@pytest.mark.parametrize(
    "setting",
    [{"DJ_JIT_CACHE_DIR": ":"}, {"DJ_JIT_DEBUG": "maybe"}, {"DJ_JIT_HOST_COMPILER": "/no/such"}],
)
def test_wrong_settings_are_part_of_the_report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, setting: dict[str, str]
) -> None:
    for name, value in setting.items():
        monkeypatch.setenv(name, value)
    status, values = report(capsys)
    assert status == 1
    assert values["self_test"]["cpu"]["status"] == "failed"
    (value,) = setting.values()
    assert value in json.dumps(values["compilers"] | {"detail": values["self_test"]["cpu"]})


def test_failing_probe_leaves_the_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> Any:
        raise ZeroDivisionError("this probe")

    monkeypatch.setattr(doctor, "PROBES", {**probes.PROBES, "machine": broken})
    status, values = report(capsys, "--no-self-test")
    assert status == 0
    assert values["machine"] == {"error": "ZeroDivisionError: this probe"}
    assert values["versions"]["python"]


@pytest.mark.parametrize(
    ("cpu", "npu", "status"),
    [("passed", "absent", 0), ("passed", "passed", 0), ("passed", "failed", 1)],
)
def test_exit_status(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    cpu: str,
    npu: str,
    status: int,
) -> None:
    results = {"cpu": {"status": cpu}, "npu": {"status": npu}}
    monkeypatch.setattr(doctor, "run_self_test", results.__getitem__)
    assert report(capsys)[0] == status


def test_self_test_compares_numbers(toolkit: StandInToolkit, journal: AclJournal) -> None:
    """The toolkit of this test compiles nothing, so the kernel leaves zeros behind."""
    register_npu_device()
    result = self_test.run_self_test("npu")
    assert result["status"] == "failed"
    assert result["detail"] == "element 1 is 0.0, expected 1.0"
    assert [launch["num_blocks"] for launch in journal.launches()] == [4]


def test_absent_target_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCEND_HOME_PATH", "/no/such/toolkit")
    result = self_test.run_self_test("npu")
    assert result["status"] == "absent"
    assert "/no/such/toolkit" in result["detail"]


def test_self_test_on_both_targets(
    capsys: pytest.CaptureFixture[str],
    make_toolkit: Callable[..., StandInToolkit],
    jit_cache_root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    toolkit = make_toolkit(emulate=True, cache_dir=str(jit_cache_root))
    monkeypatch.setenv("ASCEND_HOME_PATH", str(toolkit.home))
    register_npu_device()
    status, values = report(capsys)
    results = values["self_test"]
    assert [results[target]["status"] for target in ("cpu", "npu")] == ["passed"] * 2, results
    assert status == 0


@pytest.mark.parametrize("word", ["--help", "--nonsense"])
def test_usage(capsys: pytest.CaptureFixture[str], word: str) -> None:
    assert run_doctor([word]) == (0 if word == "--help" else 2)
    written = capsys.readouterr()
    assert "--no-self-test" in written.out + written.err


def test_prints_without_click_and_rich() -> None:
    code = (
        "import sys; sys.modules.update(click=None, rich=None, tqdm=None);"
        "sys.argv = ['deep-jit', 'doctor', '--no-self-test', '--json'];"
        "from deep_jit.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert list(json.loads(done.stdout)) == SECTIONS


def test_as_a_program(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "deep_jit.cli", "doctor", "--no-self-test"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "DJ_JIT_CACHE_DIR": str(tmp_path)},
    )
    assert str(tmp_path) in done.stdout
