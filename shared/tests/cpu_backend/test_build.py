"""Compiling kernels: command line, artifacts, headers, kernels found (deep_jit.md section 20)."""

from __future__ import annotations

import hashlib
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

from deep_jit._shared._component import include_dirs
from deep_jit._shared.emulator import emulator
from deep_jit._shared.jit.backends.base import TrackedInclude
from deep_jit._shared.jit.errors import CompileError, CompileTimeout

ADD = """
#include <c_api/asc_simd.h>
extern "C" __global__ __vector__ void add(__gm__ int32_t* out, int32_t value) {
    out[asc_get_block_idx()] += value;
}
"""
TEMPLATE = """
#include <c_api/asc_simd.h>
template <int kFactor, class T>
__global__ __cube__ void scale(__gm__ T* out) { *out *= kFactor; }
[[maybe_unused]] static void instantiate() {
    auto* entry = reinterpret_cast<void*>(&scale<3, float>);
    (void)entry;
}
"""


def test_a_kernel_compiles_loads_and_runs(build):
    built = build(ADD)
    out = np.zeros(4, np.int32)
    built.run(out, 7, num_blocks=4)
    assert out.tolist() == [7, 7, 7, 7]
    (info,) = built.result.kernels
    assert (info.name, info.num_aic, info.num_aiv) == ("add", 0, 1)
    assert [(p.kind, p.size) for p in info.params] == [("pointer", 8), ("int", 4)]
    assert sorted(p.name for p in built.directory.iterdir()) == [
        "kernel.asc",
        "kernel.d",
        "kernel.so",
    ]


def test_a_template_instance_whose_address_is_taken_is_a_kernel(build):
    built = build(TEMPLATE)
    (info,) = built.result.kernels
    assert "scale<3, float>" in info.demangled
    assert (info.num_aic, info.num_aiv) == (1, 0)
    out = np.full(1, 5, np.float32)
    built.run(out)
    assert out[0] == 15


def test_none_and_two_kernels_are_reported_not_refused(build):
    assert build("int x;").result.kernels == ()
    two = build(ADD + ADD.replace("add(", "again("))
    assert [kernel.name for kernel in two.result.kernels] == ["add", "again"]
    out = np.zeros(1, np.int32)
    second = two.backend.load(two.directory, two.result.kernels[1:])
    assert second.info.name == "again"
    assert out[0] == 0


def test_command_line(build):
    (command,) = build(ADD).result.commands
    for flag in [
        "-std=c++20",
        "-O2",
        "-fPIC",
        "-shared",
        "-Wl,-Bsymbolic",
        "-fvisibility=hidden",
        "-fno-gnu-unique",
        "-fno-delete-null-pointer-checks",
        "-fno-strict-aliasing",
        "-fno-math-errno",
        "-ffp-contract=off",
        "-ftls-model=initial-exec",
        "-DDEEP_JIT_CPU=1",
        "-D__NPU_ARCH__=3510",
    ]:
        assert flag in command, flag
    assert not any("native" in word or "fast-math" in word for word in command)
    shared, emulated = include_dirs()
    assert command.index(f"-I{emulated}") > 0
    assert command.index(f"-I{shared}") > command.index(f"-I{emulated}")


def test_user_flags_come_after_ours_and_includes_after_them(build, tmp_path):
    headers = tmp_path / "inc"
    headers.mkdir()
    (command,) = build(
        ADD,
        include_dirs=(headers,),
        optimize_level="1",
        cxx_flags=("-DA=1",),
        extra_cxx_flags=("-Wextra",),
        extra_linker_flags=("-lm",),
        bisheng_flags=("-DC=3", "-mllvm", "-nothing"),
    ).result.commands
    order = ["-O1", "-include", "-Wextra", f"-I{headers}", f"-I{include_dirs()[1]}", "-lm"]
    places = [command.index(word) for word in order]
    assert places == sorted(places)
    assert "-nothing" not in command


def test_the_standard_library_is_found_without_being_linked(build):
    """g++ would read all of libstdc++ for every kernel; flags of the user bring it back."""
    source = """
#include <c_api/asc_simd.h>
#include <string>
extern "C" __global__ __vector__ void length(__gm__ int32_t* out, int32_t value) {
    std::string text(100, 'x');
    text += std::to_string(value);
    *out = static_cast<int32_t>(text.size());
}
"""
    plain, full = build(source), build(source, extra_linker_flags=("-lm",))
    assert "-nodefaultlibs" in plain.result.commands[0]
    assert "-nodefaultlibs" not in full.result.commands[0]
    for built in (plain, full):
        out = np.zeros(1, np.int32)
        built.run(out, 12345)
        assert out[0] == 105


def test_user_macros_reach_the_kernel_and_only_it(build):
    """Short names would hit template parameters of the emulated API."""
    source = ADD.replace("+= value", "= A * 100 + B * 10 + C(T)")
    out = np.zeros(1, np.int32)
    flags = ("-DA=1", "-D", "B=2", "-DC(x)=(x)", "-DGONE", "-UGONE", "-DT", "-DM=9", "-DN=9")
    built = build(source + "#ifdef GONE\n#error not undefined\n#endif\n", cxx_flags=flags)
    built.run(out, 0)
    assert out[0] == 121
    assert built.result.log == ""  # the precompiled header was not refused


def test_every_flag_is_in_the_key(make_backend):
    backend = make_backend()
    defaults = backend.default_compiler_options()
    keys = {backend.key_flags(defaults)}
    changed = (
        {"optimize_level": "1"},
        {"arch": 3511},
        {"debug_info": True},
        {"cxx_flags": ("-DX",)},
        {"extra_cxx_flags": ("-DY",)},
        {"linker_flags": ("-lm",)},
        {"extra_linker_flags": ("-ldl",)},
        {"sanitize": "undefined"},
        {"bisheng_flags": ("-DZ",)},
    )
    for change in changed:
        keys.add(backend.key_flags(defaults.override_with(type(defaults)(**change))))
    assert len(keys) == 1 + len(changed)
    with emulator(source_map="off"):
        keys.add(backend.key_flags(defaults))
    assert len(keys) == 2 + len(changed)
    dump = defaults.override_with(type(defaults)(dump_asm=True))
    assert backend.key_flags(dump) in keys


def test_compile_errors_show_the_users_lines(build, make_backend, tmp_path):
    source = ADD.replace("+= value", "+= valu")
    with pytest.raises(CompileError, match=r"(?s)command failed with exit code 1:.*valu") as caught:
        build(source)
    assert "kernel.asc:4:" in caught.value.output
    assert caught.value.returncode == 1


def test_a_slow_compiler_is_stopped(build, make_backend, fakes, tmp_path):
    slow = fakes.script(
        tmp_path / "slow", 'case "$*" in *kernel.so*) sleep 60;; esac\nexec g++ "$@"\n'
    )
    backend = make_backend(TT_JIT_HOST_COMPILER=str(slow))
    build(ADD.replace("add", "first"), directory=None)  # runtime and prelude exist
    backend.prepare()
    limited = make_backend(TT_JIT_HOST_COMPILER=str(slow), TT_JIT_COMPILE_TIMEOUT="2")
    with pytest.raises(CompileTimeout, match="compile timeout of 2 s"):
        build(ADD, backend=limited)


def test_a_compiler_without_output_is_an_error(build, make_backend, fakes, tmp_path):
    lazy = fakes.script(
        tmp_path / "lazy", 'case "$*" in *kernel.so*) exit 0;; esac\nexec g++ "$@"\n'
    )
    backend = make_backend(TT_JIT_HOST_COMPILER=str(lazy))
    with pytest.raises(CompileError, match="did not produce a valid kernel object"):
        build(ADD, backend=backend)


@pytest.mark.parametrize("debug", [False, True])
def test_builds_are_byte_identical_in_any_directory(build, tmp_path, debug):
    hashes = set()
    for name in ("one", "another place ü"):
        built = build(ADD, directory=tmp_path / name, debug_info=debug)
        hashes.add(hashlib.sha256((built.directory / "kernel.so").read_bytes()).hexdigest())
    assert len(hashes) == 1


def test_debug_info_names_the_users_source(build):
    built = build(ADD, debug_info=True)
    shown = subprocess.run(
        ["readelf", "--debug-dump=line", built.directory / "kernel.so"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "kernel.asc" in shown.stdout


def test_dumps(build):
    built = build(ADD, dump_asm=True)
    assert "add:" in (built.directory / "asm" / "kernel.s").read_text()
    only = build(ADD, dump_asm=True, dumps_only=True)
    assert sorted(p.name for p in only.directory.iterdir()) == ["asm", "kernel.asc"]
    assert only.result.kernels == ()


def test_undefined_behaviour_sanitizer(build, capfd):
    source = ADD.replace("+= value", "= value << 40")
    out = np.zeros(1, np.int32)
    with warnings.catch_warnings():
        build(source, sanitize="undefined").run(out, 1)
    assert "shift exponent 40 is too large" in capfd.readouterr().err


def _tracked(folder: Path, *names: str) -> tuple[TrackedInclude, ...]:
    return tuple(TrackedInclude(name, folder / name, "") for name in names)


def test_tracked_headers_are_rewritten_and_reported_as_the_users(build, tmp_path):
    lib = tmp_path / "my headers ü" / "lib"
    (lib / "sub").mkdir(parents=True)
    (lib / "value.hpp").write_text(
        '#pragma once\n#include "sub/more.hpp"\n'
        "inline int wait_and_get(int* p) {\n"
        "    int n = 0;\n    while (*p && n < 3) ++n;\n    return kMore + n;\n}\n"
    )
    (lib / "sub" / "more.hpp").write_text("#pragma once\nconstexpr int kMore = 40;\n")
    source = "#include <lib/value.hpp>\n" + ADD.replace("+= value", "+= wait_and_get(&value)")
    built = build(
        source,
        include_dirs=(lib.parent,),
        tracked=_tracked(lib.parent, "lib/value.hpp", "lib/sub/more.hpp"),
    )
    out = np.zeros(1, np.int32)
    built.run(out, 1)
    assert out[0] == 43
    used = built.result.used_headers
    assert lib / "value.hpp" in used
    assert lib / "sub" / "more.hpp" in used
    assert not any("rewritten" in str(path) or "ascend_emu" in str(path) for path in used)
    assert any(path.name == "cstdint" for path in used)  # inside the precompiled header


def test_kernels_may_include_mad_and_the_entry_themselves(build):
    source = "#include <mad/mad.hpp>\n#include <asc_emu/entry.hpp>\n" + ADD
    tracked = _tracked(include_dirs()[0], "mad/mad.hpp", "mad/copy.hpp")
    assert build(source, tracked=tracked, include_dirs=(include_dirs()[0],)).result.kernels


def test_generated_files_stay_when_debugging(build, make_backend):
    built = build(ADD, backend=make_backend(TT_JIT_DEBUG="1"))
    text = (built.directory / "rewritten" / "kernel.cpu.cpp").read_text()
    assert "ASC_EMU_KERNEL(0, 1, add)" in text
    assert '#line 1 "kernel.asc"' in text
