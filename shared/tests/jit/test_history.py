"""History, warm-up and clean-up (deep_jit.md sections 14 and 19)."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deep_jit._shared.jit import fs
from deep_jit._shared.jit.history import append_record, read_files, read_history
from deep_jit._shared.jit.janitor import discard, evict, list_items, maybe_sweep, sweep
from deep_jit._shared.tests.jit.fake_backend import (
    SOURCE,
    FakeBackend,
    make_config,
    make_runtime,
    source_of,
)

Count = Callable[[], int]


def line(tag: str, digest: str, when: float, build_s: float = 0.0) -> str:
    record = {"tag": tag, "digest": digest, "backend": "cpu", "time": when, "build_s": build_s}
    return json.dumps(record) + "\n"


def test_first_use_is_recorded_once(root: Path) -> None:
    runtime = make_runtime()
    for _ in range(3):
        runtime.compile("run", SOURCE)
    runtime.compile_without_load("run", SOURCE)
    make_runtime().compile("run", SOURCE)
    files = list((root / "history").iterdir())
    assert [f.name.split(".")[0] for f in files] == ["FK"]
    lines = [json.loads(text) for text in files[0].read_text().splitlines()]
    assert [item["tag"] for item in lines] == ["run", "run"]
    assert lines[0]["build_s"] > 0
    assert lines[1]["build_s"] == 0
    record = read_history([root], "FK")[0]
    assert (record.uses, record.digest) == (2, runtime.cache_key(SOURCE))
    assert read_history([root], "OTHER") == []


def test_lines_that_cannot_be_read_are_skipped(tmp_path: Path) -> None:
    good = line("a", "1", 5)
    bad = ["", "{", "[]", '{"tag":1}', "\x00\xff", good[:-5]]
    file = tmp_path / "FK.1.jsonl"
    file.write_text("\n".join([*bad, good]))
    assert [r.tag for r in read_files([file, tmp_path / "none"])] == ["a"]


def test_ranking(tmp_path: Path) -> None:
    day = 86400.0
    text = (
        line("old", "1", day) * 9 + line("rare", "1", 5 * day, 9) + line("often", "1", 5 * day) * 2
    )
    file = tmp_path / "x"
    file.write_text(text + line("costly", "1", 5 * day, 10))
    assert [r.tag for r in read_files([file])] == ["often", "costly", "rare", "old"]


def test_history_failures_are_silent(tmp_path: Path) -> None:
    (tmp_path / "history").write_text("")
    for digest in ("1", "x" * 5000):
        append_record(
            tmp_path, "FK", tag="t", digest=digest, backend="cpu", build_s=0, shared=False
        )
    assert (tmp_path / "history").read_text() == ""


def test_warm_up_when_all_is_present(root: Path, compiler_log: Count) -> None:
    make_runtime().compile_many([(f"k{i}", source_of(i)) for i in range(3)])
    backend = FakeBackend()
    runtime = make_runtime(backend)
    report = runtime.warm_up(load=True).wait(30)
    assert (report.total, report.present, report.built, report.preloaded) == (3, 3, 0, 3)
    runtime.compile("k0", source_of(0))
    assert runtime.stats.memory_hits == 1
    assert compiler_log() == 3


def test_warm_up_after_a_compiler_change(root: Path, compiler_log: Count) -> None:
    options = {"extra_cxx_flags": ["-DA"], "optimize_level": "3"}
    make_runtime().compile("run", SOURCE, options)
    backend = FakeBackend()
    backend.identity = (b"2.0",)
    runtime = make_runtime(backend)
    report = runtime.warm_up(workers=1).wait(30)
    assert (report.built, report.failed, report.done) == (1, 0, True)
    assert compiler_log() == 2
    assert runtime.lookup("run", SOURCE, options) is not None


def test_warm_up_rebuilds_from_another_entry_of_the_tag(root: Path, compiler_log: Count) -> None:
    runtime = make_runtime()
    runtime.compile_without_load("run", source_of(1))
    (root / "history" / "FK.29990101.jsonl").write_text(line("run", "f" * 32, time.time()))
    report = runtime.warm_up().wait(30)
    assert (report.total, report.present) == (2, 2)
    assert compiler_log() == 1


def test_warm_up_with_nothing_left(root: Path) -> None:
    make_runtime().compile("run", SOURCE)
    for item in list_items(root):
        discard(root, item.directory)
    report = make_runtime().warm_up().wait(30)
    assert (report.skipped, report.failed) == (1, 0)


def test_warm_up_counts_failures(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_runtime().compile_many([("a", source_of(1)), ("b", source_of(2))])
    monkeypatch.setenv("FAKE_CC_FAIL", "1")
    backend = FakeBackend()
    backend.identity = (b"2.0",)
    report = make_runtime(backend).warm_up().wait(30)
    assert report.failed == 2
    assert sorted(tag for tag, _ in report.errors) == ["a", "b"]


def test_warm_up_can_be_limited_and_cancelled(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make_runtime().compile_many([(f"k{i}", source_of(i)) for i in range(4)])
    assert make_runtime().warm_up(predicate=lambda r: r.tag == "k1").wait(30).total == 1
    assert make_runtime().warm_up(budget_s=-1).wait(30).present == 0
    monkeypatch.setenv("FAKE_CC_WAIT_FOR", str(tmp_path / "gate"))
    monkeypatch.setenv("FAKE_CC_STARTED", str(tmp_path / "started"))
    backend = FakeBackend()
    backend.identity = (b"2.0",)
    report = make_runtime(backend).warm_up(workers=1)  # returns while the compiler waits
    while not (tmp_path / "started").exists():
        time.sleep(0.005)
    report.cancel()
    assert not report.done
    (tmp_path / "gate").touch()
    assert report.wait(30).built == 1
    assert report.cancelled


def test_warm_up_from_files_and_without_history(root: Path, tmp_path: Path) -> None:
    runtime = make_runtime()
    assert runtime.warm_up().wait(5).total == 0
    runtime.compile_without_load("run", SOURCE)
    file = tmp_path / "mine.jsonl"
    file.write_text(line("run", runtime.cache_key(SOURCE), 1))
    assert runtime.warm_up(file).wait(5).present == 1
    assert runtime.warm_up([file, str(file)]).wait(5).total == 1


# Clean-up


def old(path: Path, days: float = 2) -> Path:
    when = time.time() - days * 86400
    os.utime(path, (when, when), follow_symlinks=False)
    return path


def owner(path: Path, pid: int, start: str, host: str) -> None:
    path.mkdir(parents=True)
    (path / "owner").write_text(json.dumps({"pid": pid, "start": start, "host": host}))


def test_sweep_keeps_the_living_and_the_young(tmp_path: Path) -> None:
    start, host = fs.process_start(os.getpid()), fs.host_name()
    for name, pid, begun, place in [
        ("alive", os.getpid(), start, host),
        ("gone", 2**22 + 1, "1", host),
        ("pid reused", os.getpid(), "1", host),
        ("elsewhere", os.getpid(), start, "other host"),
        ("young", 2**22 + 1, "1", host),
    ]:
        owner(tmp_path / "tmp" / name, pid, begun, place)
        if name != "young":
            old(tmp_path / "tmp" / name)
    (tmp_path / "tmp" / "no owner").mkdir()
    old(tmp_path / "tmp" / "no owner")
    for name in ("junk", "fresh"):
        (tmp_path / "trash" / name).mkdir(parents=True)
    old(tmp_path / "trash" / "junk")
    report = sweep(tmp_path)
    assert sorted(os.listdir(tmp_path / "tmp")) == ["alive", "young"]
    assert os.listdir(tmp_path / "trash") == ["fresh"]
    assert (report.tmp, report.trash) == (4, 1)


def test_sweep_runs_once_a_day(tmp_path: Path) -> None:
    assert maybe_sweep(tmp_path, 0) is not None
    assert maybe_sweep(tmp_path, 0) is None
    old(tmp_path / ".janitor")
    assert maybe_sweep(tmp_path, 0) is not None


def test_least_recently_used_entries_go_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = make_runtime()
    paths = [runtime.compile_without_load("run", source_of(i)) for i in range(3)]
    for index, path in enumerate(paths):
        os.utime(path / ".committed", (1e9 + index, 1e9 + index))
    assert runtime.lookup("run", source_of(0)) == paths[0]  # a hit makes it recent
    sizes = {item.directory: item.size for item in list_items(root)}
    limit = sum(sizes.values()) - 1
    assert evict(root, limit) == (1, sizes[paths[1]])
    assert sorted(item.directory for item in list_items(root)) == sorted([paths[0], paths[2]])
    assert os.listdir(root / "trash") == []

    monkeypatch.setenv("FK_JIT_CACHE_MAX_SIZE", str(sizes[paths[2]] + 10))
    newest = make_runtime().compile("run", source_of(9))
    assert newest.artifact.is_dir()
    assert [item.directory for item in list_items(root)] == [newest.artifact]


def test_items_show_uncommitted_entries(root: Path) -> None:
    make_runtime().compile_without_load("run", SOURCE)
    (root / "cache" / "junk.abc").mkdir()
    (root / "cache" / "file").write_text("")
    items = {item.tag: item for item in list_items(root)}
    assert {tag: item.committed for tag, item in items.items()} == {"run": True, "junk": False}
    assert items["run"].size > 500
    assert list_items(root / "none") == []


# compile_many


def test_compile_many(root: Path, compiler_log: Count) -> None:
    backend = FakeBackend()
    runtime = make_runtime(backend)
    requests = [
        ("a", source_of(1)),
        ("b", source_of(2), {"optimize_level": "3"}),
        ("a", source_of(1)),
    ]
    paths = runtime.compile_many(requests, workers=3)
    assert paths[0] == paths[2] != paths[1]
    assert compiler_log() == 2
    kernels = runtime.compile_many(requests, load=True)
    assert kernels[0] is kernels[2]
    assert runtime.compile_many([]) == []


def test_compile_many_builds_in_parallel(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler_log: Count
) -> None:
    monkeypatch.setenv("FAKE_CC_WAIT_FOR", str(tmp_path / "gate"))
    runtime = make_runtime()

    def open_gate() -> None:
        while compiler_log() < 3:
            time.sleep(0.01)
        (tmp_path / "gate").touch()

    opener = threading.Thread(target=open_gate)
    opener.start()
    assert len(runtime.compile_many([("k", source_of(i)) for i in range(3)], workers=3)) == 3
    opener.join()


def test_compile_many_collects_errors(root: Path) -> None:
    from deep_jit._shared.jit import CompileManyError

    runtime = make_runtime()
    requests = [
        ("ok", source_of(1)),
        ("bad", "syntax error here"),
        ("no/tag", ""),
        ("ok", source_of(2)),
    ]
    with pytest.raises(CompileManyError, match="2 of 4 builds failed:\n  bad \\(request 1\\)") as e:
        runtime.compile_many(requests)
    assert [(index, name) for index, name, _ in e.value.errors] == [(1, "bad"), (2, "no/tag")]
    assert [type(x).__name__ for x in e.value.exceptions] == ["CompileError", "ConfigError"]
    assert [result is None for result in e.value.results] == [False, True, True, False]


def test_compile_many_shows_a_bar(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    runtime = make_runtime()
    runtime.compile_many([("k", source_of(1))], progress=True)
    assert "deep_jit: compile: 100%" in capsys.readouterr().err
    runtime.compile_many([("k", source_of(1))])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("requests", [["abc"], [("a",)], [("a", "b", None, 1)]])
def test_compile_many_checks_its_requests(root: Path, requests: list[object]) -> None:
    with pytest.raises(ValueError, match="request 0 must be"):
        make_runtime().compile_many(requests)  # type: ignore[arg-type]


def test_workers(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= make_runtime().worker_count() <= 16
    monkeypatch.setenv("FK_JIT_NUM_WORKERS", "3")
    runtime = make_runtime(config=make_config())
    assert (runtime.worker_count(), runtime.worker_count(5)) == (3, 5)
    with pytest.raises(ValueError, match="workers must not be negative, got -1"):
        runtime.worker_count(-1)
