"""The runtime in one process: caches, keys, kernel count, threads (deep_jit.md 6-8, 13, 19).

Upstream's matrix (section 22), where each row is covered:
- here: disk + memory cache, increment, metadata, artifact keys, tracked / untracked include
  contents, relocated include dir, kernel count, multiple runtimes, arch override in meta, invalid
  tags, failure cleanup, output validation, dump asm, option matrix, signature bytes, same-key
  single flight, GIL release
- test_launch: launch validation, mixed args, lifecycle
- test_env: environment precedence, bool and int parsing; test_config: configuration errors, device
  counts; test_options: option order, append, mode isolation, timeout default
- test_process, test_store: file and command helpers, secondary root
- test_includes, test_strict_includes: parser cases, deep include graph
- test_key: hash boundary, avalanche, section 24 vectors
- test_lazy: lazy import, registered API
- test_faults: direct publication, crashed writer, multi-process compile, fork
- test_diagnostics: commands, load time, prefix rules of the print switches
- kernels that compute (SIMD, SIMT, UB sizes, AICPU, debug info, launch blocking) need a compiler:
  they are tests of the cpu and ascend backends
"""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deep_jit._shared.jit import (
    CompileError,
    ConfigError,
    Kernel,
    KernelCountError,
    LaunchOptions,
)
from deep_jit._shared.tests.jit.fake_backend import (
    SOURCE,
    FakeBackend,
    make_config,
    make_runtime,
    source_of,
)

Count = Callable[[], int]
ONE = LaunchOptions(num_blocks=1)


def tmp_is_empty(root: Path) -> bool:
    return not list((root / "tmp").iterdir())


def test_memory_then_disk(root: Path, compiler_log: Count) -> None:
    runtime = make_runtime()
    kernel = runtime.compile("run", SOURCE)
    assert runtime.compile("run", SOURCE) is kernel
    other = make_runtime()
    again = other.compile("run", SOURCE)
    assert again is not kernel
    assert again.artifact == kernel.artifact
    assert compiler_log() == 1
    assert (runtime.stats.memory_hits, other.stats.disk_hits) == (1, 1)
    assert other.stats.disk_hits_per_root == {str(root): 1}
    assert tmp_is_empty(root)


def test_another_source_is_another_kernel(root: Path, compiler_log: Count) -> None:
    runtime = make_runtime()
    kernels = {runtime.compile("run", source_of(i)).digest for i in range(3)}
    assert len(kernels) == compiler_log() == 3


def test_the_tag_is_not_in_the_digest(root: Path) -> None:
    runtime = make_runtime()
    a = runtime.compile_without_load("a", SOURCE)
    b = runtime.compile_without_load("b", SOURCE)
    assert a != b
    assert a.name.split(".")[1] == b.name.split(".")[1] == runtime.cache_key(SOURCE)
    assert runtime.compile("a", SOURCE) is runtime.compile("b", SOURCE)


@pytest.mark.parametrize("tag", ["invalid/tag", "", "a.b", "é", "a b", "a\n", None])
def test_invalid_tags_even_on_a_memory_hit(root: Path, tag: Any) -> None:
    runtime = make_runtime()
    runtime.compile("ok", SOURCE)
    for act in (runtime.compile, runtime.compile_without_load, runtime.lookup):
        with pytest.raises(ConfigError, match="must contain only letters, digits, or underscores"):
            act(tag, SOURCE)  # type: ignore[operator]


def test_entry_on_disk(root: Path) -> None:
    kernel = make_runtime().compile("run", SOURCE, {"arch": 9999, "extra_cxx_flags": ["-DA=é"]})
    names = sorted(path.name for path in kernel.artifact.iterdir())
    assert names == [".committed", "kernel.asc", "kernel.so", "meta.json"]
    assert kernel.artifact.parent == root / "cache"
    assert (kernel.artifact / "kernel.asc").read_text() == SOURCE
    meta = json.loads((kernel.artifact / "meta.json").read_text())
    assert list(meta)[:4] == ["command", "config", "compiler_info", "compiler_options"]
    assert meta["compiler_options"]["arch"] == 9999
    assert meta["digest_full"].startswith(kernel.digest)
    assert meta["kernel"]["names"] == ["run"]
    assert meta["files"]["kernel.asc"]["size"] == len(SOURCE)
    assert meta["command"].endswith("kernel.so -DA=é")


def test_bytes_sources_are_kept_byte_by_byte(root: Path) -> None:
    source = b"// \xff\x00\r\n" + SOURCE.encode()
    path = make_runtime().compile_without_load("run", source)
    assert (path / "kernel.asc").read_bytes() == source


@pytest.mark.parametrize(
    "options",
    [
        {"optimize_level": "3"},
        {"extra_cxx_flags": ["-DA"]},
        {"extra_cxx_flags": ["-DA", "-DB"]},
        {"extra_cxx_flags": ["-DA -DB"]},
        {"extra_linker_flags": ["-DA"]},
        {"bisheng_flags": ["-DN=4"]},
    ],
)
def test_options_change_the_key(root: Path, options: dict[str, Any]) -> None:
    runtime = make_runtime()
    everything = [{}, {"optimize_level": "3"}, {"extra_cxx_flags": ["-DA"]},
                  {"extra_cxx_flags": ["-DA", "-DB"]}, {"extra_cxx_flags": ["-DA -DB"]},
                  {"extra_linker_flags": ["-DA"]}, {"bisheng_flags": ["-DN=4"]}]  # fmt: skip
    keys = [runtime.cache_key(SOURCE, o) for o in everything]
    assert keys.count(runtime.cache_key(SOURCE, options)) == 1
    assert runtime.cache_key(SOURCE, {"dump_asm": True}) == runtime.cache_key(SOURCE)


def test_signature_and_compiler_change_the_key(root: Path) -> None:
    from deep_jit._shared.jit import Config

    def key(signature: bytes, identity: bytes = b"1") -> str:
        backend = FakeBackend()
        backend.identity = (identity,)
        return make_runtime(backend, Config("/x", "FK", signature)).cache_key(SOURCE)

    assert len({key(b"a"), key(b"a\0"), key(b"a\0b"), key(b""), key(b"a", b"2")}) == 5


def test_the_compiler_is_identified_once(root: Path) -> None:
    backend = FakeBackend()
    runtime = make_runtime(backend)
    assert backend.identity_calls == 0
    for number in range(3):
        runtime.cache_key(source_of(number))
    assert backend.identity_calls == 1


def test_explain_names_what_differs(root: Path) -> None:
    runtime = make_runtime()
    a = runtime.explain(SOURCE)
    b = runtime.explain(SOURCE, {"optimize_level": "3"})
    assert a.diff(b) == [("flags 0", "-O2", "-O3")]
    assert a.digest == runtime.cache_key(SOURCE)
    assert dict(a.components)["compiler 0"] == "fake cc 1.0\\n"


def test_defaults_are_replaced_whole(root: Path) -> None:
    runtime = make_runtime()
    key = runtime.cache_key(SOURCE, {"extra_cxx_flags": ["-DA"]})
    runtime.default_compiler_options = {  # type: ignore[assignment]
        **runtime.default_compiler_options.to_json(),
        "extra_cxx_flags": ["-DA"],
    }
    assert runtime.cache_key(SOURCE) == key
    kernel = runtime.compile("run", SOURCE)
    runtime.default_launch_options = LaunchOptions(num_blocks=4, num_launch_timeout_secs=7)
    kernel(None, None, 1)
    assert kernel.loaded.launches[0][1].num_launch_timeout_secs == 7  # type: ignore[attr-defined]


def test_tracked_header(root: Path, tmp_path: Path, compiler_log: Count) -> None:
    (tmp_path / "inc" / "lib").mkdir(parents=True)
    header = tmp_path / "inc" / "lib" / "a.hpp"
    header.write_text("1")
    source = "#include <lib/a.hpp>\n#include <other.hpp>\n" + SOURCE
    runtime = make_runtime(config=make_config((tmp_path / "inc",)))
    first = runtime.compile("run", source)
    header.write_text("2")
    second = runtime.compile("run", source)
    assert second.digest != first.digest
    header.write_text("1")
    (tmp_path / "inc" / "other.hpp").write_text("untracked")
    assert runtime.compile("run", source) is first
    meta = json.loads((first.artifact / "meta.json").read_text())
    assert [item["name"] for item in meta["includes"]] == ["lib/a.hpp"]

    shutil.copytree(tmp_path / "inc", tmp_path / "moved")
    moved = make_runtime(config=make_config((tmp_path / "moved",))).compile("run", source)
    assert moved.artifact == first.artifact
    assert compiler_log() == 2
    assert json.loads((first.artifact / "meta.json").read_text()) == meta


def test_a_header_that_the_scan_missed_stops_publication(root: Path, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.hpp").write_text("")
    backend = FakeBackend()
    backend.used_headers = (tmp_path / "lib" / "a.hpp",)
    runtime = make_runtime(backend, make_config((tmp_path,)))
    with pytest.raises(Exception, match="tracked header that the include scan did not see"):
        runtime.compile("run", SOURCE)
    assert tmp_is_empty(root)
    assert runtime.lookup("run", SOURCE) is None


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("int x;\n", r"expected exactly one kernel in kernel\.so, found 0; mark"),
        (SOURCE + "__global__ void two() {}\n", r"found 2: void run\(.*\), void two\(\); mark"),
    ],
)
def test_kernel_count_is_checked_before_publication(root: Path, source: str, message: str) -> None:
    runtime = make_runtime()
    with pytest.raises(KernelCountError, match=message):
        runtime.compile("run", source)
    assert runtime.lookup("run", source) is None
    assert tmp_is_empty(root)
    path = runtime.compile_without_load("run", source)
    assert path.is_dir()
    for _ in range(2):
        with pytest.raises(KernelCountError, match=message):
            runtime.compile("run", source)
    assert path.is_dir()


def test_one_of_several_kernels(root: Path) -> None:
    runtime = make_runtime()
    source = SOURCE + "__global__ void two() {}\n"
    assert runtime.compile("k", source, kernel="two").info.name == "two"  # type: ignore[union-attr]
    assert runtime.compile("k", source, kernel="run").info.name == "run"  # type: ignore[union-attr]
    with pytest.raises(KernelCountError, match="named three, found 0; the binary has: void run"):
        runtime.compile("k", source, kernel="three")
    with pytest.raises(KernelCountError, match="found 2"):
        runtime.compile("k", source, allow_any_kernel_count=True)


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("FAKE_CC_FAIL", r"command failed with exit code 9:\n.*fake_cc\.sh .*\n.*error: FAKE"),
        ("FAKE_CC_PARTIAL", "command failed with exit code 37:"),
        ("FAKE_CC_EMPTY", r"did not produce a valid binary: kernel\.so is missing or empty"),
        ("FAKE_CC_NOTHING", "did not produce a valid binary"),
    ],
)
def test_failed_builds_leave_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, variable: str, message: str
) -> None:
    runtime = make_runtime()
    monkeypatch.setenv(variable, "9")
    for act in (runtime.compile, runtime.compile_without_load):
        with pytest.raises(CompileError, match=message) as caught:
            act("run", SOURCE)  # type: ignore[operator]
        assert caught.value.source == SOURCE
        assert caught.value.source_path is None
    assert tmp_is_empty(root)
    assert not (root / "cache").exists()
    assert len(runtime.mem_cache) == 0
    monkeypatch.delenv(variable)
    assert runtime.compile("run", SOURCE).artifact.is_dir()


def test_debug_keeps_the_directory_of_a_failed_build(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FK_JIT_DEBUG", "1")
    with pytest.raises(CompileError) as caught:
        make_runtime().compile("run", "syntax error here")
    assert caught.value.source_path is not None
    assert caught.value.source_path.read_text() == "syntax error here"
    assert "directory kept:" in capsys.readouterr().err


def test_dumps(root: Path, compiler_log: Count) -> None:
    runtime = make_runtime()
    plain = runtime.compile_without_load("run", SOURCE)
    asked = runtime.compile_without_load("run", SOURCE, {"dump_asm": True})
    assert asked == plain
    assert not (plain / "asm").exists()
    runtime.compile("run", SOURCE, {"dump_asm": True}, ensure_dumps=True)
    assert (root / "dumps" / plain.name / "asm" / "kernel.s").is_file()
    assert not (plain / "asm").exists()
    other = runtime.compile_without_load("run", source_of(2), {"dump_asm": True})
    assert (other / "asm" / "kernel.s").is_file()
    assert compiler_log() == 2
    assert tmp_is_empty(root)


def test_lookup_builds_nothing(root: Path, compiler_log: Count) -> None:
    runtime = make_runtime()
    assert runtime.lookup("run", SOURCE) is None
    assert not root.exists()
    path = runtime.compile_without_load("run", SOURCE)
    assert runtime.lookup("run", SOURCE) == path
    assert runtime.lookup("other", SOURCE) is None
    assert compiler_log() == 1


# Threads


def test_same_key_single_flight(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler_log: Count
) -> None:
    """Threads ask for one key while the compiler waits for a file that another thread creates."""
    gate, started = tmp_path / "gate", tmp_path / "started"
    monkeypatch.setenv("FAKE_CC_WAIT_FOR", str(gate))
    monkeypatch.setenv("FAKE_CC_STARTED", str(started))
    runtime = make_runtime()
    found: list[object] = []
    work = [lambda: found.append(runtime.compile("run", SOURCE))] * 3
    work += [lambda: found.append(runtime.compile_without_load("run", SOURCE))] * 2
    threads = [threading.Thread(target=act) for act in work]
    for thread in threads:
        thread.start()
    while not started.exists():
        time.sleep(0.005)
    time.sleep(0.05)
    gate.touch()
    for thread in threads:
        thread.join(20)
    assert compiler_log() == 1
    assert len({id(item) for item in found if isinstance(item, Kernel)}) == 1
    assert len(found) == 5


def test_entry_that_vanishes_before_load_is_built_again(root: Path, compiler_log: Count) -> None:
    backend = FakeBackend()
    runtime = make_runtime(backend)
    path = runtime.compile_without_load("run", SOURCE)

    def vanish() -> None:
        backend.before_load = None
        shutil.rmtree(path)

    backend.before_load = vanish
    assert runtime.compile("run", SOURCE).artifact == path
    assert compiler_log() == 2


def test_kernels_belong_to_a_device(root: Path) -> None:
    backend = FakeBackend()
    a = make_runtime(backend, device=0).compile("run", SOURCE)
    b = make_runtime(backend, device=1).compile("run", SOURCE)
    assert a is not b
    assert a.artifact == b.artifact


def test_compat_format(root: Path) -> None:
    runtime = make_runtime(key_format="deepjit")
    kernel = runtime.compile("run", SOURCE)
    meta = json.loads((kernel.artifact / "meta.json").read_text())
    assert meta["key_format"] == "deepjit"
    assert meta["digest_full"] == kernel.digest
    assert (
        make_runtime(
            key_format="deepjit",
        ).lookup("run", SOURCE)
        == kernel.artifact
    )
    with pytest.raises(Exception, match="non-standard include"):
        runtime.cache_key('#include "x"\n')
    with pytest.raises(Exception, match="non-standard include"):
        make_runtime(strict_includes=True).cache_key('#include "x"\n')
    with pytest.raises(ConfigError, match="key_format must be one of v2, deepjit"):
        make_runtime(key_format="v1")
