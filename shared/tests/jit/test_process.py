"""The tool runner: no shell, merged output, status, timeout, scrubbing (deep_jit.md section 9)."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from deep_jit._shared.jit.errors import CompileError, CompileTimeout, ToolchainError
from deep_jit._shared.jit.process import check_tool, kill_tools_of, run_tool
from deep_jit._shared.tests.jit.fake_backend import COMPILER

SH = "/bin/sh"


def test_output_is_merged_in_order() -> None:
    done = run_tool([SH, "-c", "echo out; echo err >&2; echo end; exit 7"])
    assert done.output == "out\nerr\nend\n"
    assert done.returncode == 7


def test_words_are_not_interpreted(tmp_path: Path) -> None:
    word = "a b;$HOME'\"*\n&|é"
    assert run_tool([SH, "-c", 'printf %s "$1"', "sh", word]).output == word


def test_working_directory_and_extra_variables(tmp_path: Path) -> None:
    place = tmp_path / "ä b"
    place.mkdir()
    done = run_tool([SH, "-c", "pwd; echo $X"], cwd=place, env_extra={"X": "1"})
    assert done.output == f"{place}\n1\n"


def test_environment_is_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CPATH", "CPLUS_INCLUDE_PATH", "SOURCE_DATE_EPOCH", "NVCC_APPEND_FLAGS"):
        monkeypatch.setenv(name, "bad")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    lines = run_tool(["/usr/bin/env"]).output.splitlines()
    assert not [line for line in lines if line.endswith("=bad")]
    assert "LC_ALL=C" in lines


def test_stdin_is_empty() -> None:
    assert run_tool(["/bin/cat"]).output == ""


def test_death_by_signal() -> None:
    assert run_tool([SH, "-c", "kill -9 $$"]).returncode == 128 + signal.SIGKILL


@pytest.mark.parametrize("argv", [[], [""]])
def test_empty_command(argv: list[str]) -> None:
    with pytest.raises(ToolchainError, match="command must not be empty"):
        run_tool(argv)


def test_missing_and_not_executable_tools(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    for path in (tmp_path / "none", plain, tmp_path):
        with pytest.raises(ToolchainError, match=f"failed to run {path}"):
            run_tool([path])


def test_failure_text() -> None:
    with pytest.raises(CompileError) as caught:
        check_tool([SH, "-c", "echo bad >&2; exit 3"])
    expected = f"command failed with exit code 3:\n{SH} -c echo bad >&2; exit 3\nbad\n"
    assert str(caught.value) == expected
    assert (caught.value.returncode, caught.value.output) == (3, "bad\n")


def test_timeout_kills_the_whole_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deep_jit._shared.jit.process._TERMINATE_GRACE_S", 0.1)
    start = time.monotonic()
    with pytest.raises(CompileTimeout, match=r"exceeded the compile timeout of 0\.3 s") as caught:
        run_tool([COMPILER, "x", "y"], timeout=0.3, env_extra={"FAKE_CC_HANG": "1"})
    assert time.monotonic() - start < 5
    child = int(caught.value.output.split()[1])
    for _ in range(100):
        if not _alive(child):
            return
        time.sleep(0.02)
    raise AssertionError(f"grandchild {child} outlived the timeout")


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_tools_of_a_thread_can_be_killed(tmp_path: Path) -> None:
    started = tmp_path / "started"
    codes: list[int] = []
    env = {"FAKE_CC_STARTED": str(started), "FAKE_CC_WAIT_FOR": str(tmp_path / "never")}

    def work() -> None:
        codes.append(run_tool([COMPILER, "x", "y"], env_extra=env).returncode)

    thread = threading.Thread(target=work)
    thread.start()
    while not started.exists():
        time.sleep(0.005)
    assert kill_tools_of([threading.get_ident()]) == 0
    while kill_tools_of([thread.ident or 0]) == 0:  # the parent may still be in fork
        time.sleep(0.005)
    thread.join(10)
    assert codes == [128 + signal.SIGTERM]


def test_output_that_is_not_utf8() -> None:
    assert run_tool([SH, "-c", r"printf '\377'"]).output == "\\xff"


def test_files_of_this_process_are_not_inherited(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:
        done = run_tool([SH, "-c", f"[ -e /proc/self/fd/{descriptor} ] && echo open"])
        assert done.output == ""
    finally:
        os.close(descriptor)
