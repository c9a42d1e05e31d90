"""Keys: worked vectors of deep_jit.md section 24, framing, what is in a key (section 11)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deep_jit._shared.jit.key import CompatHash, compat_hash, compat_key, frame, v2_key
from deep_jit._shared.jit.options import AscendCompilerOptions
from deep_jit._shared.jit.strict_includes import StrictIncludeParser

SOURCE = b"#include <lib/x.hpp>\nint f() { return kV; }\n"
HEADER = "#pragma once\nconstexpr int kV = 1;\n"
ASCEND_COMPILER = ("bisheng 1\n", "ld.lld 1\n")


@pytest.mark.parametrize(
    ("components", "digest"),
    [
        ([], "ddd805b8cbc69b1eab0665cdad96ab45"),
        ([""], "601991819c51b6b40cce57df1139bba4"),
        (["a"], "071877703434148cbfd5816193c030f4"),
        (["abc"], "d38cb16bf40d72b8c7f98d40271fe40a"),
        ([bytes(range(256))], "dbbbec8d9809336abd7aac673ac1274f"),
        (["ab", "c"], "ade4f2da7faaca1b6b7735b33fffa69f"),
        (["a", "bc"], "fc1aedb4107b5fa7d1d5dcbfaaa19390"),
        (["", "a"], "0bbc7fa64366e3bab44a8c41a9e5ff8d"),
        (["a", ""], "d3e3ca1587d54492a53a26b67caa554b"),
        ([HEADER], "9204b38da5b6a265700407bc3f52d19e"),
        (ASCEND_COMPILER, "22ed86f67c585b365a95e9604067c105"),
        (["Cuda compilation tools, release 13.0\n"], "8de6b9eed9ec20592ad67a2e5f4f0967"),
    ],
)
def test_compat_hash(components: list[str | bytes], digest: str) -> None:
    assert compat_hash(*components) == digest


def include_tree(tmp_path: Path) -> str:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "x.hpp").write_text(HEADER)
    return StrictIncludeParser([tmp_path], ["lib/"], compat_hash).parse(SOURCE).digest


def test_compat_include_tree(tmp_path: Path) -> None:
    assert include_tree(tmp_path) == "119bab0aa7b19f878e5cc91c989a54ef"


@pytest.mark.parametrize(
    ("aicpu", "digest"),
    [(False, "69706b7af5aa4d2461f701517ca4d783"), (True, "ccfb9719049c087872fc7ba6a0560dc3")],
)
def test_ascend_key(tmp_path: Path, aicpu: bool, digest: str) -> None:
    base = CompatHash().update("sig-1").update(compat_hash(*ASCEND_COMPILER))
    options = AscendCompilerOptions.defaults(arch=3510).override_with(
        AscendCompilerOptions(aicpu=aicpu)
    )
    assert compat_key(base, options.key_flags(), include_tree(tmp_path)).digest == digest


def test_cuda_key(tmp_path: Path) -> None:
    flags = (
        "--gpu-architecture=sm_90a -O3 --compiler-options=-O3 "
        "--ptxas-options=--register-usage-level=10 -std=c++20 --compiler-options=-fPIC "
        "--compiler-options=-fconcepts --expt-relaxed-constexpr --expt-extended-lambda"
    )
    base = CompatHash().update("sig-1").update("8de6b9eed9ec20592ad67a2e5f4f0967")
    key = compat_key(base, [flags.split()], include_tree(tmp_path))
    assert key.digest == "c2ea94cdaee23887c846c1eeacee6798"


def test_copies_of_a_hash_are_independent() -> None:
    base = CompatHash().update("a")
    base.copy().update("x")
    assert base.update("bc").hexdigest() == "fc1aedb4107b5fa7d1d5dcbfaaa19390"


def test_avalanche() -> None:
    """Flipping one input bit flips about half of the digest's 128 bits (deep_jit.md section 22)."""
    flips = []
    for bit in range(256):
        text = bytearray(32)
        text[bit // 8] ^= 1 << bit % 8
        other = int(compat_hash(bytes(text)), 16) ^ int(compat_hash(bytes(32)), 16)
        flips.append(bin(other).count("1"))
    assert 60 <= sum(flips) / len(flips) <= 68


components = st.lists(st.binary(max_size=12), max_size=5)


@given(components, components)
def test_frames_differ_when_lists_differ(a: list[bytes], b: list[bytes]) -> None:
    assert (frame(*a) == frame(*b)) == (a == b)


@given(components, components)
def test_compat_hash_respects_boundaries(a: list[bytes], b: list[bytes]) -> None:
    assert (compat_hash(*a) == compat_hash(*b)) == (a == b)


groups = st.lists(st.lists(st.text(max_size=5), max_size=3), max_size=3)


def v2(**changes: object) -> str:
    values: dict[str, object] = {
        "backend": "cpu",
        "signature": b"s",
        "identity": (b"v", b"t"),
        "flags": (("-A", "-B"), ("-C",)),
        "include_tree": "00",
    }
    return v2_key(**{**values, **changes}).digest_full  # type: ignore[arg-type]


@given(groups, groups)
def test_flags_are_framed_one_by_one(a: list[list[str]], b: list[list[str]]) -> None:
    assert (v2(flags=a) == v2(flags=b)) == (a == b)


@pytest.mark.parametrize(
    "changes",
    [
        {"backend": "ascend"},
        {"signature": b"s\0"},
        {"signature": b""},
        {"identity": (b"vt",)},
        {"identity": (b"v", b"u")},
        {"flags": (("-A -B",), ("-C",))},
        {"flags": (("-A", "-B", "-C"),)},
        {"flags": (("-B", "-A"), ("-C",))},
        {"include_tree": "01"},
        {"hook": "x"},
        {"environment": (("A", "1"),)},
    ],
)
def test_every_component_counts(changes: dict[str, object]) -> None:
    assert v2(**changes) != v2()


def test_directory_digest_is_the_head_of_the_full_one() -> None:
    key = v2_key(backend="c", signature=b"", identity=(), flags=(), include_tree="")
    assert len(key.digest) == 32
    assert len(key.digest_full) == 64
    assert key.digest_full.startswith(key.digest)
