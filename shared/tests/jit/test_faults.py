"""Faults with real processes: kills, races, other users, full disks, forks (deep_jit.md 14-16)."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from deep_jit._shared.jit import CompileError, CompileTimeout
from deep_jit._shared.jit.locks import KeyLock
from deep_jit._shared.tests.jit import fake_backend
from deep_jit._shared.tests.jit.fake_backend import (
    COMPILER,
    FakeBackend,
    make_runtime,
    source_of,
)

pytestmark = pytest.mark.faults

Starter = Callable[..., "subprocess.Popen[str]"]
Count = Callable[[], int]


def wait_for(path: Path, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.005)


def finish(process: subprocess.Popen[str]) -> list[str]:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out.split("\n")


def test_writer_killed_before_publication(
    root: Path, tmp_path: Path, start_program: Starter, compiler_log: Count
) -> None:
    gate = tmp_path / "gate"
    writer = start_program("publisher.py", "run", 1, gate)
    wait_for(tmp_path / "gate.reached")
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert not (root / "cache").exists()
    stale = os.listdir(root / "tmp")
    assert [name.split("-")[0] for name in stale] == [str(writer.pid)]
    kernel = make_runtime().compile("run", source_of(1))  # its lock died with it
    assert kernel.artifact.parent == root / "cache"
    assert os.listdir(root / "tmp") == stale
    assert compiler_log() == 2


def test_processes_share_one_build(
    root: Path,
    tmp_path: Path,
    start_program: Starter,
    compiler_log: Count,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two cold processes, one compiler run; a third process later is a hit."""
    monkeypatch.setenv("FAKE_CC_WAIT_FOR", str(tmp_path / "gate"))
    monkeypatch.setenv("FAKE_CC_STARTED", str(tmp_path / "started"))
    programs = [start_program("publisher.py", tag, 1) for tag in ("run", "run", "other")]
    wait_for(tmp_path / "started")
    time.sleep(0.2)
    (tmp_path / "gate").touch()
    lines = [finish(program)[0].rsplit(" ", 1) for program in programs]
    assert lines[0][0] == lines[1][0]
    assert lines[2][0].replace("other.", "run.") == lines[0][0]
    assert int(lines[0][1]) + int(lines[1][1]) == 1
    assert compiler_log() == 2  # one per tag
    assert make_runtime().lookup("run", source_of(1)) == Path(lines[0][0])
    assert os.listdir(root / "tmp") == []


def test_direct_publication_race(root: Path, tmp_path: Path, start_program: Starter) -> None:
    """Processes commit the same entry at once: one winner, all its files from one owner."""
    gate = tmp_path / "gate"
    racers = [start_program("racer.py", gate, root, index) for index in range(3)]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    assert not (root / "cache").exists()
    gate.touch()
    finals = {finish(racer)[0] for racer in racers}
    assert len(finals) == 1
    final = Path(finals.pop())
    assert (final / "payload_a").read_text() == (final / "payload_b").read_text()
    assert (final / ".committed").exists()
    assert os.listdir(root / "tmp") == []


@pytest.mark.parametrize("act", ["after_use", "during_build", "device_lost"])
def test_fork(
    root: Path, tmp_path: Path, start_program: Starter, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    if act == "during_build":
        monkeypatch.setenv("FAKE_CC_WAIT_FOR", str(tmp_path / "gate"))
        monkeypatch.setenv("FAKE_CC_STARTED", str(tmp_path / "started"))
    finish(start_program("forker.py", act))


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A directory that any user can reach: holds the root, TMPDIR and a copy of the compiler."""
    place = Path(tempfile.mkdtemp(prefix="deep jit ü ", dir="/tmp"))
    place.chmod(0o755)
    (place / "tmp").mkdir()
    (place / "tmp").chmod(0o777)
    shutil.copy(COMPILER, place / "cc")
    (place / "cc").chmod(0o755)
    yield place
    shutil.rmtree(place)


def as_nobody(work: Callable[[], object]) -> Any:
    """The JSON result of `work` in a forked child with the user id of nobody.

    Tests may run as root, whom file modes do not stop. No exec: the interpreter itself may lie
    where nobody may not look.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            result: object = work()
        except BaseException as error:
            result = {"error": repr(error)}
        os.write(write, json.dumps(result).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(data)


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to become another user")
@pytest.mark.parametrize("state", ["missing", "unwritable", "unreadable", "everybody writes"])
def test_root_of_another_user(
    open_place: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """An ordinary user in front of a root that is not his: private builds, warnings, results."""
    root = open_place / "root"
    if state != "missing":
        root.mkdir()
        root.chmod({"unwritable": 0o755, "unreadable": 0o700, "everybody writes": 0o777}[state])
    monkeypatch.setenv("FK_JIT_CACHE_DIR", str(root))
    monkeypatch.setattr(tempfile, "tempdir", str(open_place / "tmp"))
    monkeypatch.setattr(fake_backend, "COMPILER", open_place / "cc")
    import_module("deep_jit._shared.jit.args")  # the child may be unable to read modules

    def work() -> object:
        warnings: list[str] = []
        runtime = make_runtime()
        runtime.log.add_hook(lambda _, message: warnings.append(message))
        first = runtime.compile("run", source_of(1))
        again = runtime.compile_without_load("run", source_of(1))
        second = runtime.compile("other", source_of(2))
        first({"num_blocks": 1}, None, 1)
        return {
            "artifacts": [str(first.artifact), str(again), str(second.artifact)],
            "mode": first.artifact.parents[1].stat().st_mode & 0o777,
            "warnings": warnings,
            "builds": runtime.stats.builds,
        }

    report = as_nobody(work)
    assert "error" not in report, report
    private = str(open_place / "tmp" / "deep_jit-65534-")
    assert all(path.startswith(private) for path in report["artifacts"])
    assert report["artifacts"][0] == report["artifacts"][1]
    assert report["mode"] == 0o700
    assert report["builds"] == 2
    assert any(str(root) in text for text in report["warnings"])
    assert len(report["warnings"]) == len(set(report["warnings"])) <= 2
    assert not (root / "cache").exists()


def test_private_root_goes_with_its_process(
    root: Path, own_private_root: Path, start_program: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(own_private_root))
    monkeypatch.setenv("FK_JIT_CACHE_READONLY", "1")
    artifact = finish(start_program("publisher.py", "run", 1))[0].rsplit(" ", 1)[0]
    assert artifact.startswith(str(own_private_root))
    assert os.listdir(own_private_root) == []
    assert not root.exists()


@pytest.mark.parametrize("where", ["source", "compiler"])
def test_full_disk_while_building(
    root: Path, monkeypatch: pytest.MonkeyPatch, compiler_log: Count, where: str
) -> None:
    """The first root is full: the build moves to the private root, the kernel is right."""
    from deep_jit._shared.jit import fs

    backend = FakeBackend()
    runtime = make_runtime(backend)
    write, compile_ = fs.write_synced, backend.compile

    def full_write(path: Path, data: bytes) -> None:
        if root in path.parents and path.name == "kernel.asc":
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, data)

    def full_compile(request):  # type: ignore[no-untyped-def]
        if root in request.directory.parents:
            raise CompileError("exit 1", output="cc1: error: No space left on device")
        return compile_(request)

    if where == "source":
        monkeypatch.setattr(fs, "write_synced", full_write)
    else:
        monkeypatch.setattr(backend, "compile", full_compile)
    kernel = runtime.compile("run", source_of(1))
    assert root not in kernel.artifact.parents
    assert kernel.artifact.is_dir()
    assert os.listdir(root / "tmp") == []
    assert runtime.compile_without_load("run", source_of(1)) == kernel.artifact
    assert compiler_log() == 1


def test_really_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny tmpfs as root 0."""
    mount = tmp_path / "tiny"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(mount)]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        monkeypatch.setenv("FK_JIT_CACHE_DIR", str(mount))
        runtime = make_runtime()
        big = source_of(1) + "//" + "x" * 100_000
        kernel = runtime.compile("run", big)
        assert mount not in kernel.artifact.parents
        small = runtime.compile("run", source_of(2))
        assert small.artifact.is_dir()
        assert runtime.compile("run", big) is kernel
    finally:
        subprocess.run(["umount", "-l", str(mount)], check=True)


def test_compile_timeout(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FK_JIT_COMPILE_TIMEOUT", "1")
    monkeypatch.setenv("FAKE_CC_WAIT_FOR", str(tmp_path / "never"))
    runtime = make_runtime()
    with pytest.raises(CompileTimeout, match="exceeded the compile timeout of 1 s"):
        runtime.compile("run", source_of(1))
    assert os.listdir(root / "tmp") == []
    monkeypatch.delenv("FAKE_CC_WAIT_FOR")
    assert runtime.compile("run", source_of(1)).artifact.is_dir()


# Locks


def lock(directory: Path, **options: object) -> KeyLock:
    return KeyLock(directory, "d", done=lambda: False, **options)  # type: ignore[arg-type]


def test_lock_excludes_and_gives_up_after_its_limit(tmp_path: Path) -> None:
    waits: list[int] = []
    with lock(tmp_path) as first:
        assert first.held
        with lock(tmp_path, limit_s=0.05, on_wait=lambda: waits.append(1)) as second:
            assert not second.held
        with KeyLock(tmp_path, "other", done=lambda: False) as third:
            assert third.held
    assert waits == [1]
    with lock(tmp_path) as again:
        assert again.held
    assert sorted(os.listdir(tmp_path)) == ["d.lock", "other.lock"]


def test_lock_stops_waiting_when_nothing_is_left_to_do(tmp_path: Path) -> None:
    with lock(tmp_path), KeyLock(tmp_path, "d", done=lambda: True) as second:
        assert not second.held


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_file_systems_without_locks(
    root: Path, monkeypatch: pytest.MonkeyPatch, code: int, compiler_log: Count
) -> None:
    def no_lock(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("fcntl.flock", no_lock)
    assert make_runtime().compile("run", source_of(1)).artifact.parent == root / "cache"
    assert compiler_log() == 1


def test_unusable_lock_directory(root: Path) -> None:
    root.mkdir(parents=True)
    (root / "locks").write_text("not a directory")
    assert make_runtime().compile("run", source_of(1)).artifact.parent == root / "cache"


def test_damaged_entry_is_rebuilt_by_the_runtime(root: Path, compiler_log: Count) -> None:
    path = make_runtime().compile_without_load("run", source_of(1))
    os.truncate(path / "kernel.so", 5)
    kernel = make_runtime().compile("run", source_of(1))
    assert kernel.artifact == path
    assert (path / "kernel.so").stat().st_size > 5
    assert compiler_log() == 2


def test_paths_with_any_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = os.fsdecode(b"a '\"$(x)\n\xff\xc3\xa9;&")
    monkeypatch.setenv("FK_JIT_CACHE_DIR", str(tmp_path / name))
    kernel = make_runtime().compile("run", source_of(1))
    assert kernel.artifact.parent.parent == tmp_path / name
    assert make_runtime().lookup("run", source_of(1)) == kernel.artifact
