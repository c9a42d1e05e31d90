"""The precompiled header: used, found again, replaced when damaged (emulator.md section 2)."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess

import pytest

from deep_jit._shared._component import include_dirs
from deep_jit._shared.jit.backends.cpu import pch
from deep_jit._shared.jit.backends.cpu.pch import PreludeBuilder, prelude_text
from deep_jit._shared.jit.backends.cpu.places import Places
from deep_jit._shared.jit.log import Log

SOURCE = """
#include <c_api/asc_simd.h>
extern "C" __global__ __vector__ void add(__gm__ int32_t* out) { *out += 1; }
"""
FLAGS = ("-std=c++20", "-O0", "-fPIC")


@pytest.fixture
def small_prelude(monkeypatch):
    """Replaces the emulated API by one small header, to build preludes in no time."""
    monkeypatch.setattr(pch, "prelude_text", lambda: "#pragma once\n#include <cstdint>\n")


@pytest.fixture
def make_builder(make_backend, fakes, tmp_path):
    """Builders of preludes in an empty place, with the messages they log."""

    def make(name: str = "preludes") -> PreludeBuilder:
        env, settings = fakes.settings_of("TT", tmp_path / name)
        log = Log()
        builder = PreludeBuilder(make_backend().compiler, Places(env, settings, log), settings, log)
        builder.messages = []
        log.add_hook(lambda level, text: builder.messages.append(text))
        return builder

    return make


def _opened(command: tuple[str, ...]) -> str:
    """What the compiler says it reads (`-H`), for a recorded command."""
    words = [word for word in command if not word.startswith("-Wl,") and word != "-shared"]
    end = words.index("-MD")
    done = subprocess.run(
        [*words[:end], "-H", "-fsyntax-only"], capture_output=True, text=True, check=True
    )
    return done.stderr


def test_kernels_use_it(build, make_backend):
    backend = make_backend(TT_JIT_DEBUG="1")  # keeps the rewritten text
    built = build(SOURCE, backend=backend)
    (command, *_) = built.result.commands
    first_line = _opened(command).splitlines()[0]
    assert first_line.startswith("! ")  # "!" marks a precompiled header in use
    assert first_line.endswith("prelude.hpp.gch")
    assert built.result.log == ""


@pytest.mark.parametrize("flags", [("-O1",), ("-fno-inline",), ("-funsigned-char",)])
def test_flags_that_do_not_fit_it_go_without(build, make_backend, flags):
    backend = make_backend(TT_JIT_DEBUG="1")
    built = build(SOURCE, backend=backend, cxx_flags=flags)
    (command, *_) = built.result.commands
    assert ".gch" not in _opened(command)
    assert built.result.kernels


def test_each_level_and_instruction_set_has_its_own(build, make_backend):
    backend = make_backend()
    headers = set()
    for level in ("1", "2"):
        (command,) = build(SOURCE, backend=backend, optimize_level=level).result.commands
        headers.add(command[command.index("-include") + 1])
    assert len(headers) == 2


def test_built_once_and_found_again(small_prelude, make_builder):
    first = make_builder().get(FLAGS)
    assert first.compiled
    assert first.header.read_text() == pch.prelude_text()
    assert any(path.name == "cstdint" for path in first.headers)
    stamp = first.header.with_name("prelude.hpp.gch").stat().st_mtime_ns
    again = make_builder().get(FLAGS)
    assert again == first
    assert again.header.with_name("prelude.hpp.gch").stat().st_mtime_ns == stamp
    assert make_builder().get((*FLAGS, "-O1")).header != first.header


@pytest.mark.faults
def test_damage_is_repaired(small_prelude, make_builder):
    folder = make_builder().get(FLAGS).header.parent
    compiled = folder / "prelude.hpp.gch"
    good = compiled.read_bytes()
    for damage in (
        lambda: compiled.write_bytes(good[:-1]),
        lambda: compiled.write_bytes(good[:99] + bytes([good[99] ^ 1]) + good[100:]),
        compiled.unlink,
        lambda: (folder / "headers.json").write_text("[]"),
        lambda: (folder / "prelude.hpp").unlink(),
    ):
        damage()
        assert make_builder().get(FLAGS).compiled
        listed = json.loads((folder / "headers.json").read_bytes())
        assert hashlib.sha256(compiled.read_bytes()).hexdigest() == listed["sha256"]


def test_one_that_does_not_compile_is_left_out_with_a_warning(monkeypatch, make_builder):
    monkeypatch.setattr(pch, "prelude_text", lambda: "#error no such API\n")
    builder = make_builder()
    assert builder.get(FLAGS) is None
    assert "no precompiled header, kernels compile slower" in builder.messages[0]
    assert "no such API" in builder.messages[0]


def test_without_it_kernels_compile_from_the_text(build, make_backend, monkeypatch):
    monkeypatch.setattr(PreludeBuilder, "get", lambda self, flags: None)
    built = build(SOURCE)
    assert built.result.kernels
    assert not (built.directory / "rewritten").exists()


def test_it_serves_a_copy_of_the_headers_elsewhere(build, make_backend, tmp_path):
    """Another component holds the same headers in another folder and uses the same one."""
    backend = make_backend(TT_JIT_DEBUG="1")
    (command, *_) = build(SOURCE + "#include <mad/mad.hpp>\n", backend=backend).result.commands
    shared = include_dirs()[0]
    copy = tmp_path / "other component" / "include"
    shutil.copytree(shared, copy)
    moved = tuple(word.replace(f"-I{shared}", f"-I{copy}") for word in command)
    assert moved != command
    assert _opened(moved).splitlines()[0].endswith("prelude.hpp.gch")


def test_it_holds_the_public_headers():
    text = prelude_text()
    for name in ("c_api/asc_simd.h", "asc_emu/entry.hpp", "mad/mad.hpp"):
        assert f"#include <{name}>" in text
