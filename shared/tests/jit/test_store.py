"""Look-up over roots, verification, publication, durable files (deep_jit.md sections 13 to 15)."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from deep_jit._shared.jit import fs
from deep_jit._shared.jit.entry import MARKER, META, dump_json
from deep_jit._shared.jit.log import Log
from deep_jit._shared.jit.store import BuildDirectory, DiskCache

DIGEST = "ab" * 16
SOURCE = b"source\n"
Make = Callable[..., DiskCache]


@pytest.fixture
def messages() -> list[str]:
    return []


@pytest.fixture
def make(tmp_path: Path, messages: list[str]) -> Make:
    """A disk cache over roots of the given names."""

    def make_cache(*names: str, **options: object) -> DiskCache:
        log = Log(str(tmp_path / "log"))
        log.add_hook(lambda _, message: messages.append(message))
        return DiskCache(
            [tmp_path / name for name in names or ("first",)],
            source_name="kernel.asc",
            binary_names=["kernel.o", "kernel.aicpu.so"],
            log=log,
            **options,  # type: ignore[arg-type]
        )

    return make_cache


def build(disk: DiskCache, binary: bytes = b"binary") -> BuildDirectory:
    directory = disk.begin()
    (directory.path / "kernel.asc").write_bytes(SOURCE)
    (directory.path / "kernel.o").write_bytes(binary)
    files = {
        name: {
            "size": (directory.path / name).stat().st_size,
            "sha256": fs.sha256_file(directory.path / name),
        }
        for name in ("kernel.asc", "kernel.o")
    }
    (directory.path / META).write_bytes(dump_json({"files": files, "unknown key": [1]}))
    return directory


def publish(disk: DiskCache, binary: bytes = b"binary") -> Path:
    return disk.publish(build(disk, binary), "tag", DIGEST, SOURCE)


def test_publish_then_lookup(make: Make, tmp_path: Path) -> None:
    disk = make()
    final = publish(disk)
    assert final == tmp_path / "first" / "cache" / f"tag.{DIGEST}"
    assert sorted(os.listdir(final)) == [MARKER, "kernel.asc", "kernel.o", META]
    entry = disk.lookup("tag", DIGEST, SOURCE)
    assert entry is not None
    assert entry.directory == final
    assert entry.kernels is None
    assert os.listdir(tmp_path / "first" / "tmp") == []


def test_nothing_is_visible_before_the_commit(make: Make, tmp_path: Path) -> None:
    disk = make()
    directory = build(disk)
    assert disk.lookup("tag", DIGEST) is None
    assert not disk.committed("tag", DIGEST)
    assert directory.path.name.startswith(f"{os.getpid()}-")
    owner = json.loads((directory.path / "owner").read_text())
    assert owner["pid"] == os.getpid()


def test_second_root_is_read_and_never_written(make: Make, tmp_path: Path) -> None:
    publish(make("second"))
    disk = make("first", "second")
    entry = disk.lookup("tag", DIGEST, SOURCE)
    assert entry is not None
    assert entry.directory.parent.parent == tmp_path / "second"
    assert not (tmp_path / "first").exists()
    assert disk.stats.disk_hits_per_root == {str(tmp_path / "second"): 1}


def test_uncommitted_entry_of_an_earlier_root_is_skipped(make: Make, tmp_path: Path) -> None:
    publish(make("second"))
    junk = tmp_path / "first" / "cache" / f"tag.{DIGEST}"
    junk.mkdir(parents=True)
    (junk / "kernel.o").touch()
    entry = make("first", "second").lookup("tag", DIGEST, SOURCE)
    assert entry is not None
    assert "second" in str(entry.directory)
    assert junk.is_dir()


def test_a_hit_touches_the_marker(make: Make) -> None:
    disk = make()
    marker = publish(disk) / MARKER
    os.utime(marker, (1e9, 1e9))
    disk.lookup("tag", DIGEST)
    assert marker.stat().st_mtime > 1e9
    os.utime(marker, (1e9, 1e9))
    make(readonly=True).lookup("tag", DIGEST)
    assert marker.stat().st_mtime == 1e9


def test_marker_may_be_a_link_to_something_unwritable(make: Make) -> None:
    """Upstream entries: an empty marker of any type, meta.json without our keys."""
    disk = make()
    final = publish(disk)
    (final / META).write_text('{"command":"x"}')
    (final / MARKER).unlink()
    (final / MARKER).symlink_to("/dev/null")
    entry = disk.lookup("tag", DIGEST, SOURCE)
    assert entry is not None
    assert entry.meta["command"] == "x"
    (final / "kernel.o").write_bytes(b"")
    assert disk.lookup("tag", DIGEST, SOURCE) is None


DAMAGE: dict[str, Callable[[Path], object]] = {
    "truncated binary": lambda p: os.truncate(p / "kernel.o", 3),
    "flipped byte": lambda p: (p / "kernel.o").write_bytes(b"binarY"),
    "missing binary": lambda p: (p / "kernel.o").unlink(),
    "missing source": lambda p: (p / "kernel.asc").unlink(),
    "another source": lambda p: (p / "kernel.asc").write_bytes(b"sourcE\n"),
    "marker without files": lambda p: [f.unlink() for f in p.iterdir() if f.name != MARKER],
    "no meta": lambda p: (p / META).unlink(),
    "meta is cut": lambda p: os.truncate(p / META, 10),
    "meta is another": lambda p: (p / META).write_text("{}"),
    "meta is no object": lambda p: ((p / META).write_text("[]"), (p / MARKER).write_text("")),
    "meta has bad kernels": lambda p: (
        (p / META).write_text('{"kernel":{"kernels":[{"params":3}]}}'),
        (p / MARKER).write_text(""),
    ),
    "binary is a directory": lambda p: ((p / "kernel.o").unlink(), (p / "kernel.o").mkdir()),
    "binary is a link": lambda p: (
        (p / "kernel.o").unlink(),
        (p / "kernel.o").symlink_to(p / META),
    ),
    "foreign marker": lambda p: (p / MARKER).write_bytes(b"\xff" * 100),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_entries_are_replaced(
    make: Make, messages: list[str], tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    disk = make()
    final = publish(disk)
    damage(final)
    assert disk.lookup("tag", DIGEST, SOURCE) is None
    assert not final.exists()
    assert disk.stats.verify_failures == 1
    assert "is replaced" in messages[0]
    assert publish(disk) == final
    assert disk.lookup("tag", DIGEST, SOURCE) is not None
    assert os.listdir(tmp_path / "first" / "trash") == []


def test_files_outside_the_entry_are_refused(make: Make) -> None:
    for name in ("../x", "/etc/passwd"):
        disk = make()
        final = publish(disk)
        (final / META).write_bytes(dump_json({"files": {name: {"size": 1}}}))
        (final / MARKER).write_bytes(b"")
        assert disk.lookup("tag", DIGEST) is None


def test_verify_modes(make: Make) -> None:
    final = publish(make())
    (final / "kernel.o").write_bytes(b"binarY")
    assert make(verify="size").lookup("tag", DIGEST, SOURCE) is not None
    (final / "kernel.o").write_bytes(b"short")
    assert make(verify="off").lookup("tag", DIGEST, SOURCE) is not None
    assert make(verify="size").lookup("tag", DIGEST, SOURCE) is None


def test_damage_in_another_root_is_left_alone(make: Make, messages: list[str]) -> None:
    final = publish(make("second"))
    (final / "kernel.o").write_bytes(b"x")
    disk = make("first", "second")
    for _ in range(2):
        assert disk.lookup("tag", DIGEST, SOURCE) is None
    assert final.is_dir()
    assert [message for message in messages if "is ignored" in message] == messages[:1]
    assert publish(disk).parent.parent.name == "first"
    assert disk.lookup("tag", DIGEST, SOURCE) is not None


@pytest.mark.parametrize("kind", ["directory", "empty directory", "file", "link"])
def test_blocked_final_path(make: Make, tmp_path: Path, kind: str) -> None:
    final = tmp_path / "first" / "cache" / f"tag.{DIGEST}"
    final.parent.mkdir(parents=True)
    if kind == "file":
        final.write_text("x")
    elif kind == "link":
        final.symlink_to(tmp_path)
    else:
        final.mkdir()
        if kind == "directory":
            (final / "junk").touch()
    disk = make()
    assert publish(disk) == final
    assert disk.lookup("tag", DIGEST, SOURCE) is not None
    assert tmp_path.is_dir()


def test_loser_adopts_the_winner(make: Make) -> None:
    disk = make()
    mine = build(disk, b"mine")
    winner = publish(disk, b"winner")
    assert disk.publish(mine, "tag", DIGEST, SOURCE) == winner
    assert (winner / "kernel.o").read_bytes() == b"winner"
    assert not mine.path.exists()


def test_loser_replaces_a_damaged_winner(make: Make) -> None:
    disk = make()
    mine = build(disk, b"mine")
    winner = publish(disk, b"winner")
    os.truncate(winner / "kernel.o", 1)
    assert disk.publish(mine, "tag", DIGEST, SOURCE) == winner
    assert (winner / "kernel.o").read_bytes() == b"mine"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("step", ["rename", "fsync"])
def test_publication_problems_keep_the_build_private(
    make: Make, messages: list[str], monkeypatch: pytest.MonkeyPatch, code: int, step: str
) -> None:
    disk = make()
    builds = [build(disk), build(disk)]

    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        if step == "fsync":  # a private copy needs no durability
            patch.setattr("deep_jit._shared.jit.fs.write_synced", lambda p, d: p.write_bytes(d))
        paths = [disk.publish(item, "tag", f"{i}" * 32, SOURCE) for i, item in enumerate(builds)]
    for path in paths:
        assert (path / "kernel.o").read_bytes() == b"binary"
    assert disk.stats.publish_failures == 2
    assert len([m for m in messages if "failed to publish disk cache entry" in m]) == 1
    entry = disk.lookup("tag", "0" * 32, SOURCE)
    if step == "rename":
        assert entry is not None
        assert entry.temporary


def test_readonly_and_disabled(make: Make, tmp_path: Path) -> None:
    for options in ({"readonly": True}, {"disabled": True}):
        disk = make("fresh", **options)
        path = publish(disk)
        assert not (tmp_path / "fresh").exists()
        assert disk.lookup("tag", DIGEST, SOURCE) is not None
        shutil.rmtree(path)
    publish(make("full"))
    assert make("full", disabled=True).lookup("tag", DIGEST) is None
    assert make("full", readonly=True).lookup("tag", DIGEST) is not None


def test_shared_modes(make: Make, tmp_path: Path) -> None:
    old = os.umask(0o077)
    try:
        final = publish(make(shared=True))
    finally:
        os.umask(old)
    assert final.stat().st_mode & 0o777 == 0o775
    assert (final / "kernel.o").stat().st_mode & 0o777 == 0o664
    assert (tmp_path / "first" / "cache").stat().st_mode & 0o777 == 0o775


def test_unusual_roots_are_skipped_with_one_warning(
    make: Make, messages: list[str], tmp_path: Path
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("")
    publish(make("good"))
    disk = make("first", "loop", "file", "good")
    for _ in range(2):
        assert disk.lookup("tag", DIGEST, SOURCE) is not None
    assert len(messages) == 1
    assert "loop is not readable" in messages[0]


def test_root_that_is_a_file_gives_a_private_build(
    make: Make, messages: list[str], tmp_path: Path
) -> None:
    (tmp_path / "first").write_text("")
    disk = make()
    path = publish(disk)
    assert "cannot be written" in messages[0]
    assert path.is_dir()
    assert path.parents[1].stat().st_mode & 0o777 == 0o700
    assert disk.lookup("tag", DIGEST, SOURCE) is not None
    assert (tmp_path / "first").is_file()


# File helpers


def test_names_are_unique_and_start_with_the_pid() -> None:
    names = {fs.unique_name() for _ in range(1000)}
    assert len(names) == 1000
    assert {name.split("-")[0] for name in names} == {str(os.getpid())}


def test_an_existing_name_is_never_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "taken").mkdir()
    names = iter(["taken", "free"])
    monkeypatch.setattr(fs, "unique_name", lambda: next(names))
    assert fs.make_exclusive_directory(tmp_path).name == "free"


def test_removal_does_not_follow_links(tmp_path: Path) -> None:
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep" / "file").touch()
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to(tmp_path / "keep")
    fs.remove_tree(tmp_path / "tree")
    (tmp_path / "link").symlink_to(tmp_path / "keep")
    fs.remove_tree(tmp_path / "link")
    fs.remove_tree(tmp_path / "never was")
    assert sorted(os.listdir(tmp_path)) == ["keep"]
    assert (tmp_path / "keep" / "file").exists()


def test_write_errors_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="failed to write .*none/file"):
        fs.write_synced(tmp_path / "none" / "file", b"")


def test_json_form() -> None:
    value = {"a": '"\\\b\f\n\r\t\x01é\udcff', "b": [1, True, None]}
    text = b'{"a":"\\"\\\\\\b\\f\\n\\r\\t\\u0001\xc3\xa9\xff","b":[1,true,null]}'
    assert dump_json(value) == text


def test_process_start_times() -> None:
    assert fs.process_start(os.getpid()).isdigit()
    assert fs.process_start(2**22 + 1) == ""
