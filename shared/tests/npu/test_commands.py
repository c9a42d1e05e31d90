"""Command lines of the Ascend tools, word for word (deep_jit.md sections 4.1 and 9)."""

from __future__ import annotations

from pathlib import Path

import pytest

from deep_jit._shared.jit.options import AscendCompilerOptions
from deep_jit._shared.testing.plugin import Golden
from deep_jit._shared.testing.stand_ins import StandInToolkit
from deep_jit._shared.testing.stand_ins.harness import (
    AICPU_KERNEL,
    KERNEL,
    Builder,
    normalised,
)

CASES: dict[str, AscendCompilerOptions] = {
    "default": AscendCompilerOptions(),
    "debug_info": AscendCompilerOptions(debug_info=True),
    "level_and_arch": AscendCompilerOptions(optimize_level="3", arch=9999),
    "extra_flags": AscendCompilerOptions(
        extra_bisheng_flags=("--cce-disable-vf-stack-reserved-ubuf", "-DA=1"),
        extra_linker_flags=("--gc-sections",),
        extra_aicpu_flags=("-DNOT_USED",),
    ),
    "replaced_lists": AscendCompilerOptions(bisheng_flags=("-x", "cce"), linker_flags=()),
    "dump_asm": AscendCompilerOptions(dump_asm=True),
    "aicpu": AscendCompilerOptions(
        aicpu=True,
        extra_aicpu_flags=("-DB=2",),
        extra_aicpu_linker_flags=("-lm",),
        extra_bisheng_flags=("-DNOT_USED",),
    ),
    "aicpu_dump_asm": AscendCompilerOptions(aicpu=True, dump_asm=True),
}


@pytest.mark.parametrize("case", CASES)
def test_command_lines(
    case: str, builder: Builder, toolkit: StandInToolkit, golden: Golden, tmp_path: Path
) -> None:
    builder.include_dirs = (tmp_path / "first dir", tmp_path / "second")
    options = CASES[case]
    directory, result = builder.build(AICPU_KERNEL if options.aicpu else KERNEL, options)
    places = {"home": toolkit.home, "dir": directory, "tmp": tmp_path}
    lines = []
    for record in toolkit.commands():
        words = [record["tool"], *record["argv"]]
        cwd = normalised([record["cwd"]], **places)
        lines += [f"in {cwd[0]}:", *(f"    {word}" for word in normalised(words, **places))]
    golden.check("\n".join(lines) + "\n", f"{case}.txt")
    programs = [Path(command[0]).name for command in result.commands]
    assert programs == ["bisheng", "ld.lld"], "meta.json tells how the binary was made"


def test_blanks_and_metacharacters_need_no_quotes(builder: Builder, tmp_path: Path) -> None:
    builder.folder = tmp_path / "a b;$(touch x)'\"é"
    odd = '-DNAME="a b"'
    directory, result = builder.build(options=AscendCompilerOptions(extra_bisheng_flags=(odd,)))
    assert odd in result.commands[0]
    assert (directory / "kernel.o").stat().st_size > 0
