"""Compiler and launch options: defaults, merge, flags, checks (deep_jit.md sections 4 and 5)."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from deep_jit._shared.jit.errors import ConfigError, LaunchOptionError
from deep_jit._shared.jit.options import (
    UNSET,
    AscendCompilerOptions,
    CpuCompilerOptions,
    LaunchOptions,
    coerce_compiler_options,
    coerce_launch_options,
    split_bisheng_flags,
    warn_ignored_flags,
)

ASCEND = AscendCompilerOptions.defaults(arch=3510)
CPU = CpuCompilerOptions.defaults()
BISHENG = (
    "-O2 --npu-arch=dav-3510 --cce-aicore-only -mllvm -enable-hiipu-vf-loop-unroll "
    "-mllvm -cce-aicore-dcpreload-args=false"
)


def test_ascend_flags() -> None:
    assert " ".join(ASCEND.compile_flags()) == BISHENG
    assert " ".join(ASCEND.link_flags()) == "-m aicorelinux -Ttext 0 --no-mmap-output-file"


def test_debug_flags_follow_the_architecture() -> None:
    flags = ASCEND.override_with(AscendCompilerOptions(debug_info=True)).compile_flags()
    assert flags[2:6] == ("-g", "-gdwarf-5", "-gembed-source", "-gline-tables-only")


def test_extra_lists_append_and_others_replace() -> None:
    base = ASCEND.override_with(AscendCompilerOptions(extra_bisheng_flags=("-a",)))
    over = base.override_with(
        AscendCompilerOptions(bisheng_flags=["-x"], extra_bisheng_flags=["-b"])  # type: ignore[arg-type]
    )
    assert over.compile_flags() == ("-O2", "--npu-arch=dav-3510", "-x", "-a", "-b")
    assert base.extra_bisheng_flags == ("-a",)


def test_false_zero_and_empty_list_override() -> None:
    base = CPU.override_with(CpuCompilerOptions(debug_info=True, cxx_flags=("-Wall",)))
    over = base.override_with(CpuCompilerOptions(debug_info=False, cxx_flags=()))
    assert over.debug_info is False
    assert over.cxx_flags == ()


def test_unset_does_not_clear() -> None:
    assert CPU.override_with(CpuCompilerOptions(arch=None)).arch == 3510


def test_aicpu_mode_uses_its_own_lists() -> None:
    aicpu = ASCEND.override_with(AscendCompilerOptions(aicpu=True))
    extra = AscendCompilerOptions(extra_bisheng_flags=("-x",))
    assert aicpu.override_with(extra).key_flags() == aicpu.key_flags()
    unused = AscendCompilerOptions(extra_aicpu_flags=("-x",))
    assert ASCEND.override_with(unused).key_flags() == ASCEND.key_flags()
    assert aicpu.key_flags()[0] == ("aicpu",)
    assert "--npu-arch=dav-3510" not in aicpu.compile_flags()


@pytest.mark.parametrize("level", [None, ""])
def test_missing_level(level: str | None) -> None:
    for options in (AscendCompilerOptions(optimize_level=level, arch=1), CpuCompilerOptions(level)):
        with pytest.raises(ConfigError, match="optimization level must be specified"):
            options.check()


@pytest.mark.parametrize("arch", [None, 0, -1])
def test_missing_architecture(arch: int | None) -> None:
    with pytest.raises(ConfigError, match="Ascend architecture must be specified"):
        AscendCompilerOptions(optimize_level="2", arch=arch).check()
    AscendCompilerOptions(optimize_level="2", arch=arch, aicpu=True).check()


def test_json_has_all_fields_in_order() -> None:
    names = list(ASCEND.to_json())
    assert names[:5] == ["aicpu", "optimize_level", "arch", "debug_info", "dump_asm"]
    assert len(names) == 13
    assert AscendCompilerOptions().to_json()["arch"] is None
    assert AscendCompilerOptions.from_json(json.loads(json.dumps(ASCEND.to_json()))) == ASCEND


@pytest.mark.parametrize(
    "values",
    [
        {"optimize_level": 2},
        {"debug_info": 1},
        {"arch": "3510"},
        {"arch": True},
        {"cxx_flags": "-O3"},
        {"cxx_flags": [1]},
    ],
)
def test_wrong_types_are_errors(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"CpuCompilerOptions.{next(iter(values))} must"):
        CpuCompilerOptions(**values)


def test_unknown_field_lists_the_allowed() -> None:
    with pytest.raises(ConfigError, match="has no field fast_math; allowed: optimize_level"):
        coerce_compiler_options(CpuCompilerOptions, {"fast_math": True})


def test_bisheng_flags_on_cpu() -> None:
    words = ("-DA=1", "--cce-aicore-only", "-mllvm", "-x=y", "-I", "/inc", "-std=c++20", "-ffoo")
    assert split_bisheng_flags(words) == (
        ("-DA=1", "-I", "/inc", "-std=c++20", "-ffoo"),
        ("--cce-aicore-only", "-mllvm", "-x=y"),
    )


def test_ignored_flags_warn() -> None:
    options = CPU.override_with(CpuCompilerOptions(bisheng_flags=("--cce-x", "-DA")))
    with pytest.warns(UserWarning, match="backend cpu ignores these bisheng flags: --cce-x"):
        warn_ignored_flags(options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_ignored_flags(CPU)


def test_ascend_options_are_accepted_by_cpu() -> None:
    given = AscendCompilerOptions(optimize_level="3", extra_bisheng_flags=("-DN=4",), dump_asm=True)
    options = coerce_compiler_options(CpuCompilerOptions, given)
    assert options.host_flags() == ("-DN=4",)
    assert options.optimize_level == "3"
    with pytest.raises(ConfigError, match="aicpu=False"):
        coerce_compiler_options(CpuCompilerOptions, AscendCompilerOptions(aicpu=True))


@pytest.mark.parametrize("value", ["memory", ""])
def test_sanitizer_names(value: str) -> None:
    with pytest.raises(ConfigError, match="sanitize must be one of none, address"):
        CPU.override_with(CpuCompilerOptions(sanitize=value)).check()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "Ascend block count must be positive, got None"),
        ({"num_blocks": 0}, "Ascend block count must be positive, got 0"),
        ({"num_blocks": -3}, "Ascend block count must be positive"),
        ({"num_blocks": 1, "num_ubuf_bytes": -1}, "Ascend dynamic UB size must not be negative"),
        ({"num_blocks": 1, "num_launch_timeout_secs": 65536}, "timeout is out of range"),
        ({"num_blocks": 1, "num_launch_timeout_secs": -1}, "timeout is out of range"),
        ({"num_blocks": 1, "num_ubuf_bytes": 300}, "num_ubuf_bytes=300 exceeds .* 256 bytes"),
        ({"num_blocks": 1, "block_stride": -1}, "block_stride is out of range, got -1"),
        ({"num_blocks": 1, "block_stride": 65536}, "block_stride is out of range, got 65536"),
    ],
)
def test_launch_checks(values: dict[str, Any], message: str) -> None:
    with pytest.raises(LaunchOptionError, match=message) as caught:
        LaunchOptions.defaults().override_with(LaunchOptions(**values)).check(ubuf_limit=256)
    assert isinstance(caught.value, ValueError)


def test_aicpu_takes_no_dynamic_ub() -> None:
    with pytest.raises(LaunchOptionError, match="AICPU kernels do not support dynamic UB"):
        LaunchOptions(num_blocks=1, num_ubuf_bytes=32).check(aicpu=True)


def test_null_stream_is_not_unset() -> None:
    base = LaunchOptions.defaults()
    assert base.stream is UNSET
    assert base.override_with(LaunchOptions(stream=None)).stream is None
    assert base.override_with(LaunchOptions(num_blocks=1)).stream is UNSET


def test_unknown_launch_field() -> None:
    with pytest.raises(ConfigError, match="has no field block_dim; allowed: stream, num_blocks"):
        coerce_launch_options({"block_dim": 8})
    with pytest.raises(LaunchOptionError, match="got int"):
        coerce_launch_options(8)  # type: ignore[arg-type]
