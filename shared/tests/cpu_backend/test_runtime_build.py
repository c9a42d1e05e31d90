"""Building the runtime once per machine: publishing, races, damage, bad roots (deep_jit.md 14)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from deep_jit._shared._component import native
from deep_jit._shared.jit.backends.cpu.emu_runtime import EmuRuntimeBuilder, runtime_sources_sha256
from deep_jit._shared.jit.backends.cpu.host_compiler import find_host_compiler
from deep_jit._shared.jit.backends.cpu.isa import choose_isa
from deep_jit._shared.jit.backends.cpu.places import Places
from deep_jit._shared.jit.backends.cpu.probes import ProbeCache
from deep_jit._shared.jit.errors import CacheError, CompileError, CompileTimeout, ToolchainError
from deep_jit._shared.jit.locks import KeyLock
from deep_jit._shared.jit.log import Log

GENERIC = choose_isa("generic")


@pytest.fixture(scope="module")
def sources(tmp_path_factory, fakes) -> Path:
    """Sources of a runtime of two files."""
    folder = tmp_path_factory.mktemp("runtime-sources")
    (folder / "runtime.cpp").write_text(fakes.RUNTIME_SOURCE.replace("ADDEND", "100"))
    (folder / "sub").mkdir()
    (folder / "sub" / "more.cpp").write_text("int more() { return 1; }\n")
    return folder


class Messages(Log):
    """A log that keeps what it is told."""

    def __init__(self) -> None:
        super().__init__("stderr")
        self.lines: list[str] = []
        self.add_hook(lambda level, text: self.lines.append(f"{level}: {text}"))


@pytest.fixture
def make_builder(fakes, sources):
    """Builders on a cache root: `(root, folder=sources, **variables) -> builder`."""

    def make(root: Path, folder: Path = sources, **values: str) -> EmuRuntimeBuilder:
        env, settings = fakes.settings_of("TT", root, **values)
        log = Messages()
        compiler = find_host_compiler(settings, ProbeCache(None))
        builder = EmuRuntimeBuilder(compiler, Places(env, settings, log), settings, log, folder)
        builder.messages = log.lines
        return builder

    return make


def test_built_once_with_a_message_and_found_again(make_builder, tmp_path):
    builder = make_builder(tmp_path / "cache")
    library = builder.path(GENERIC)
    assert library.name == builder.name(GENERIC)
    assert library.parent.parent == tmp_path / "cache" / "runtime"
    assert "building the emulator runtime for generic" in builder.messages[0]
    assert sorted(os.listdir(library.parent)) == ["build.json", library.name]
    assert native().load_runtime(library).describe() == '{"abi": 1}'
    os.utime(library.parent, (1.0, 1.0))
    later = make_builder(tmp_path / "cache")
    assert later.path(GENERIC) == library
    assert time.time() - library.parent.stat().st_mtime < 3600, "a use is noted, for pruning"
    assert later.messages == []
    assert list((tmp_path / "cache" / "runtime" / "building").iterdir()) == []


def test_the_soname_is_the_file_name(make_builder, tmp_path):
    library = make_builder(tmp_path).path(GENERIC)
    shown = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True)
    assert f"soname: [{library.name}]" in shown.stdout


def test_every_ingredient_is_in_the_name(make_builder, sources, tmp_path):
    names = {make_builder(tmp_path).name(GENERIC), make_builder(tmp_path).name(choose_isa("best"))}
    other = tmp_path / "other-sources"
    shutil.copytree(sources, other)
    same = make_builder(tmp_path, other).name(GENERIC)
    assert same in names
    (other / "sub" / "more.cpp").write_text("int more() { return 2; }\n")
    runtime_sources_sha256.cache_clear()
    names.add(make_builder(tmp_path, other).name(GENERIC))
    assert len(names) == 3 if choose_isa("best") != GENERIC else 2


@pytest.mark.faults
def test_damage_is_noticed_and_rebuilt(make_builder, tmp_path):
    library = make_builder(tmp_path).path(GENERIC)
    good = library.read_bytes()
    for damaged in (good[:-100], good[:50] + bytes([good[50] ^ 1]) + good[51:]):
        library.write_bytes(damaged)
        assert make_builder(tmp_path).path(GENERIC) == library
        assert library.read_bytes() == good
    (library.parent / "build.json").write_text("{")
    assert make_builder(tmp_path).path(GENERIC).read_bytes() == good
    library.unlink()
    assert make_builder(tmp_path).path(GENERIC).read_bytes() == good


def test_other_roots_are_searched_and_not_written(make_builder, tmp_path):
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    library = make_builder(shared).path(GENERIC)
    roots = f"{mine}:{shared}"
    assert make_builder(mine, TT_JIT_CACHE_DIR=roots).path(GENERIC) == library
    assert not mine.exists()


def test_runtime_dir_overrides_the_roots(make_builder, tmp_path):
    library = make_builder(tmp_path / "cache", TT_JIT_RUNTIME_DIR=str(tmp_path / "rt")).path(
        GENERIC
    )
    assert library.parent.parent.parent == tmp_path / "rt"
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("variable", ["TT_JIT_CACHE_DISABLE", "TT_JIT_CACHE_READONLY"])
def test_a_cache_that_must_not_be_written_is_not(make_builder, tmp_path, monkeypatch, variable):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    library = make_builder(tmp_path / "cache", **{variable: "1"}).path(GENERIC)
    assert tmp_path / "tmp" in library.parents
    assert not (tmp_path / "cache").exists()
    again = make_builder(tmp_path / "cache", **{variable: "1"})
    assert again.path(GENERIC) == library
    assert all("building" not in line for line in again.messages)


@pytest.mark.faults
def test_an_unwritable_root_is_replaced_with_a_warning(make_builder, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    blocked = tmp_path / "a file"
    blocked.write_text("")
    builder = make_builder(blocked / "cache")
    library = builder.path(GENERIC)
    assert tmp_path / "tmp" in library.parents
    assert library.parent.parent.parent.stat().st_mode & 0o777 == 0o700
    assert any("cannot be written or is full; using" in line for line in builder.messages)


@pytest.mark.faults
def test_nowhere_to_build(make_builder, tmp_path, monkeypatch):
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(blocked / "tmp"))
    with pytest.raises(
        CacheError, match="cannot build the emulator runtime: neither .* can be written"
    ):
        make_builder(blocked / "cache").path(GENERIC)


@pytest.mark.faults
def test_a_foreign_world_writable_folder_is_not_trusted(make_builder, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root: gives a file to another user")
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    library = make_builder(shared).path(GENERIC)
    os.chown(library.parent, 12345, 12345)
    library.parent.chmod(0o777)
    roots = f"{mine}:{shared}"
    assert make_builder(mine, TT_JIT_CACHE_DIR=roots).path(GENERIC) != library
    trusting = make_builder(tmp_path / "third", TT_JIT_CACHE_DIR=roots, TT_JIT_CACHE_SHARED="1")
    assert trusting.path(GENERIC).parent.parent.parent == mine


def test_a_failing_build_is_a_typed_error_and_leaves_nothing(make_builder, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "bad.cpp").write_text("int f() { return nothing; }\n")
    with pytest.raises(
        CompileError, match="(?s)command failed with exit code 1.*nothing"
    ) as caught:
        make_builder(tmp_path / "cache", broken).path(GENERIC)
    assert caught.value.command[0].endswith("g++")
    assert list((tmp_path / "cache" / "runtime").glob("*/*")) == []
    (broken / "bad.cpp").write_text("int f();\nint g() { return f(); }\n")
    runtime_sources_sha256.cache_clear()
    with pytest.raises(CompileError, match="undefined reference"):
        make_builder(tmp_path / "cache", broken).path(GENERIC)
    (broken / "bad.cpp").unlink()
    with pytest.raises(ToolchainError, match="no runtime sources in .*broken; reinstall"):
        make_builder(tmp_path / "cache", broken).path(GENERIC)


def test_a_compiler_that_hangs_is_killed(make_builder, fakes, tmp_path):
    slow = fakes.script(
        tmp_path / "slow g++", 'case "$*" in *-c*) sleep 60;; esac\nexec g++ "$@"\n'
    )
    builder = make_builder(
        tmp_path / "cache", TT_JIT_HOST_COMPILER=str(slow), TT_JIT_COMPILE_TIMEOUT="1"
    )
    start = time.monotonic()
    with pytest.raises(CompileTimeout, match="exceeded the compile timeout of 1 s"):
        builder.path(GENERIC)
    assert time.monotonic() - start < 30


CHILD = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
import fakes
from deep_jit._shared.jit.backends.cpu.emu_runtime import EmuRuntimeBuilder
from deep_jit._shared.jit.backends.cpu.host_compiler import find_host_compiler
from deep_jit._shared.jit.backends.cpu.isa import choose_isa
from deep_jit._shared.jit.backends.cpu.places import Places
from deep_jit._shared.jit.backends.cpu.probes import ProbeCache
from deep_jit._shared.jit.locks import KeyLock
from deep_jit._shared.jit.log import Log
env, settings = fakes.settings_of("TT", Path({root!r}), TT_JIT_HOST_COMPILER={compiler!r})
log = Log()
compiler = find_host_compiler(settings, ProbeCache(None))
builder = EmuRuntimeBuilder(compiler, Places(env, settings, log), settings, log, Path({sources!r}))
print(builder.path(choose_isa("generic")))
"""


@pytest.fixture
def start_child(sources, tmp_path, fakes):
    """Starts a process that wants the runtime, with a compiler that records its runs."""
    compiler = fakes.script(
        tmp_path / "recorder",
        f'case "$*" in *" -c "*) echo run >> "{tmp_path}/runs"; sleep 1;; esac\nexec g++ "$@"\n',
    )

    def start(root: Path) -> subprocess.Popen[str]:
        code = CHILD.format(
            tests=str(Path(__file__).parent),
            root=str(root),
            compiler=str(compiler),
            sources=str(sources),
        )
        return subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return start


@pytest.mark.faults
def test_two_processes_build_it_once(start_child, tmp_path):
    root = tmp_path / "cache dir ü"
    children = [start_child(root) for _ in range(2)]
    outputs = [child.communicate(timeout=120) for child in children]
    assert [child.returncode for child in children] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0]
    assert Path(outputs[0][0].strip()).is_file()
    assert (tmp_path / "runs").read_text().split() == ["run", "run"]  # two files, once each
    assert sum("building the emulator runtime" in err for _, err in outputs) == 1


@pytest.mark.faults
def test_a_killed_builder_blocks_nobody(start_child, tmp_path):
    root = tmp_path / "cache"
    first = start_child(root)
    deadline = time.monotonic() + 60
    while not (tmp_path / "runs").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(first.pid, 9)
    first.communicate()
    second = start_child(root)
    out, err = second.communicate(timeout=120)
    assert second.returncode == 0, err
    assert Path(out.strip()).is_file()
    leftovers = list((root / "runtime" / "building").iterdir())
    assert len(leftovers) == 1  # of the killed one; removed once it is a day old
    old = time.time() - 2 * 24 * 3600
    os.utime(leftovers[0], (old, old))
    shutil.rmtree(Path(out.strip()).parent)
    third = start_child(root)
    assert third.wait(120) == 0
    third.communicate()
    assert list((root / "runtime" / "building").iterdir()) == []


@pytest.mark.faults
def test_without_locks_the_loser_takes_the_winners(make_builder, tmp_path, monkeypatch):
    monkeypatch.setattr(KeyLock, "_open", lambda self: -1)
    builders = [make_builder(tmp_path) for _ in range(3)]
    paths: list[Path] = []
    threads = [threading.Thread(target=lambda b=b: paths.append(b.path(GENERIC))) for b in builders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(paths) == 3
    assert len(set(paths)) == 1
    assert list((tmp_path / "runtime" / "building").iterdir()) == []


def test_manifest_names_compiler_and_flags(make_builder, tmp_path):
    library = make_builder(tmp_path).path(GENERIC)
    manifest = json.loads((library.parent / "build.json").read_bytes())
    assert manifest["isa"] == "generic"
    assert "-ffp-contract=off" in manifest["flags"]
    assert "-fno-gnu-unique" in manifest["flags"]
    assert not any("fast-math" in flag or "native" in flag for flag in manifest["flags"])
