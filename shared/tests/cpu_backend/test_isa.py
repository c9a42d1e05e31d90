"""Instruction sets: detection from cpuinfo words, names, flags (emulator.md section 2)."""

from __future__ import annotations

import subprocess

import pytest

from deep_jit._shared.jit.backends.cpu.isa import choose_isa, host_features, supported_isas
from deep_jit._shared.jit.errors import ConfigError

HASWELL = frozenset(["fpu", "sse2", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"])
SKYLAKE_X = HASWELL | frozenset(["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"])


def _names(machine: str, features: frozenset[str]) -> list[str]:
    return [isa.name for isa in supported_isas(machine, features)]


def test_x86_levels_best_first():
    assert _names("x86_64", SKYLAKE_X) == ["avx512", "avx2", "generic"]
    assert _names("x86_64", HASWELL) == ["avx2", "generic"]
    assert _names("x86_64", HASWELL - {"fma"}) == ["generic"]
    assert _names("x86_64", SKYLAKE_X - {"avx512vl"}) == ["avx2", "generic"]
    assert _names("x86_64", frozenset()) == ["generic"]


def test_features_beyond_a_level_become_explicit_flags():
    plain = supported_isas("x86_64", SKYLAKE_X)[0].flags
    rich = supported_isas("x86_64", SKYLAKE_X | {"avx512_bf16", "avx512_vnni", "amx_tile"})[0].flags
    assert plain == ("-march=x86-64-v4",)
    assert rich == ("-march=x86-64-v4", "-mavx512bf16", "-mavx512vnni", "-mamx-tile")


def test_other_machines():
    arm = frozenset(["fp", "asimd", "asimdhp", "asimddp", "atomics", "bf16"])
    assert _names("aarch64", arm) == ["neon", "generic"]
    assert supported_isas("aarch64", arm)[0].flags == ("-march=armv8.2-a+fp16+dotprod+bf16",)
    assert _names("aarch64", frozenset({"asimd"})) == ["generic"]
    assert supported_isas("riscv64", frozenset())[0].flags == ()


def test_no_flag_depends_on_where_it_is_read():
    for isa in supported_isas("x86_64", SKYLAKE_X):
        assert "native" not in " ".join(isa.flags)


def test_choice_by_name():
    best = choose_isa("best")
    assert choose_isa(best.name) == best
    assert choose_isa("generic").name == "generic"
    with pytest.raises(
        ConfigError, match="option isa: got 'sse9'; allowed on this host: best, .*generic"
    ):
        choose_isa("sse9")


def test_the_host_compiler_knows_the_flags_of_this_host(tmp_path):
    source = tmp_path / "empty.cpp"
    source.write_text("int f(int x) { return x; }\n")
    for name in ("best", "generic"):
        flags = choose_isa(name).flags
        subprocess.run(["g++", *flags, "-c", source, "-o", tmp_path / "empty.o"], check=True)
    assert host_features()
