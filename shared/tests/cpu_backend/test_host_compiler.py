"""The host compiler: discovery, version check, remembered answers (deep_jit.md 10)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from deep_jit._shared.jit.backends.cpu.host_compiler import find_host_compiler
from deep_jit._shared.jit.backends.cpu.probes import ProbeCache
from deep_jit._shared.jit.errors import ToolchainError

GCC = "g++ (Debian 12.2.0-14+deb12u1) 12.2.0"
CLANG = "Debian clang version 14.0.6"


@pytest.fixture
def make(fakes, tmp_path):
    """Makes compilers that count their runs: `(name, first line of --version) -> path`."""

    def make_one(name: str, version: str, extra: str = "") -> Path:
        path = tmp_path / "bin" / name
        return fakes.script(
            path,
            f"""\
            echo "$1" >> "{path}.runs"
            {extra}
            case "$1" in
                --version) echo "{version}";;
                -dumpmachine) echo x86_64-test-linux;;
            esac
            """,
        )

    return make_one


@pytest.fixture
def find(fakes, tmp_path):
    """Looks for a compiler with only the fake folder on PATH."""

    def find_one(probes: ProbeCache | None = None, **values: str):
        values.setdefault("PATH", str(tmp_path / "bin"))
        _, settings = fakes.settings_of("TT", tmp_path / "cache", **values)
        return find_host_compiler(settings, probes or ProbeCache(None))

    return find_one


def _runs(path: Path) -> list[str]:
    return Path(f"{path}.runs").read_text().split()


def test_order_of_discovery(make, find, tmp_path):
    names = {name: make(name, GCC) for name in ("clang++", "c++", "g++", "mine", "other")}
    chosen = find(TT_JIT_HOST_COMPILER="mine", CXX="other")
    assert chosen.argv == (str(names["mine"]),)
    assert chosen.origin == "TT_JIT_HOST_COMPILER=mine"
    assert find(TT_JIT_HOST_COMPILER="", CXX="other").argv == (str(names["other"]),)
    for name in ("g++", "c++", "clang++"):
        assert find().argv == (str(names[name]),)
        names[name].unlink()
    with pytest.raises(ToolchainError) as caught:
        find()
    for tried in ("TT_JIT_HOST_COMPILER", "CXX", "g++", "c++", "clang++", str(tmp_path / "bin")):
        assert tried in str(caught.value)


@pytest.mark.parametrize("variable", ["TT_JIT_HOST_COMPILER", "CXX"])
def test_a_named_compiler_must_be_usable(make, find, variable):
    make("g++", GCC)
    with pytest.raises(ToolchainError, match=f"not executable: /no/such .from {variable}"):
        find(**{variable: "/no/such"})


def test_paths_with_blanks_and_wrappers(make, find, fakes, tmp_path):
    real = make("g++", GCC)
    odd = fakes.script(tmp_path / "my tools ü" / "g++ 12", f'exec "{real}" "$@"\n')
    assert find(TT_JIT_HOST_COMPILER=str(odd)).argv == (str(odd),)
    wrapper = fakes.script(tmp_path / "bin" / "wrap", 'shift 0; exec "$@"\n')
    assert find(CXX="wrap g++").argv == (str(wrapper), "g++")


@pytest.mark.parametrize(
    ("version", "family", "major"),
    [
        (GCC, "gcc", 12),
        ("g++ (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0", "gcc", 11),
        ("g++ (GCC) 13.2.1 20240309 (Red Hat 13.2.1-7)", "gcc", 13),
        ("g++ (Alpine 13.2.1_git20240309) 13.2.1 20240309", "gcc", 13),
        ("c++ (conda-forge gcc 14.1.0-0) 14.1.0", "gcc", 14),
        (CLANG, "clang", 14),
        ("Ubuntu clang version 18.1.3 (1ubuntu1)", "clang", 18),
    ],
)
def test_versions(make, find, version, family, major):
    make("g++", version)
    found = find()
    assert (found.family, found.major, found.triple) == (family, major, "x86_64-test-linux")


@pytest.mark.parametrize(
    ("version", "text"),
    [
        (
            "g++ (Debian 10.2.1-6) 10.2.1 20210110",
            "is gcc 10; needed: g[+][+] >= 11 or clang >= 14",
        ),
        ("clang version 13.0.1", "is clang 13; needed: "),
        ("a fruit basket", "failed to parse the version of host compiler .*a fruit basket"),
        ("", "failed to parse the version"),
    ],
)
def test_unusable_versions(make, find, version, text):
    make("g++", version)
    with pytest.raises(ToolchainError, match=f"(?s){text}"):
        find()


def test_a_failing_or_hanging_compiler_is_named(make, find):
    make("g++", GCC, extra="echo broken driver; exit 3")
    with pytest.raises(
        ToolchainError, match="(?s)g[+][+] on PATH.* exit code 3 on --version.*broken"
    ):
        find()
    make("g++", GCC, extra="sleep 60")
    with pytest.raises(ToolchainError, match="did not answer --version within 1 s"):
        find(TT_JIT_COMPILE_TIMEOUT="1")


def test_answers_are_remembered_until_the_driver_changes(make, find, tmp_path):
    path = make("g++", GCC)
    file = tmp_path / "runtime" / "probes.json"
    first = find(ProbeCache(file))
    again = find(ProbeCache(file))
    assert again == first
    assert _runs(path) == ["--version", "-dumpmachine"]
    make("g++", CLANG + " newer")
    assert find(ProbeCache(file)).family == "clang"
    assert len(json.loads(file.read_bytes())) == 2


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"x": 1}'])
def test_a_damaged_memory_only_means_asking_again(make, find, tmp_path, content):
    make("g++", GCC)
    file = tmp_path / "probes.json"
    file.write_bytes(content)
    assert find(ProbeCache(file)).major == 12
    assert find(ProbeCache(file)).major == 12
    broken = json.loads(file.read_bytes())
    for entry in broken.values():
        if isinstance(entry, dict):
            entry.pop("version")
    file.write_text(json.dumps(broken))
    assert find(ProbeCache(file)).major == 12


def test_an_unwritable_memory_is_no_error(make, find, tmp_path):
    make("g++", GCC)
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert find(ProbeCache(blocked / "probes.json")).major == 12


def test_identity_leaves_out_paths(make, find, tmp_path):
    path = make("g++", GCC)
    elsewhere = tmp_path / "elsewhere" / "g++"
    elsewhere.parent.mkdir()
    shutil.copy(path, elsewhere)
    one, other = find(), find(TT_JIT_HOST_COMPILER=os.fspath(elsewhere))
    assert one.argv != other.argv
    assert one.identity == other.identity
    assert one.driver_sha256 == other.driver_sha256
