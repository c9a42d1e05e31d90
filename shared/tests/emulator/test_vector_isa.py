"""Registers give the same bits on every instruction set of this host (emulator.md section 2)."""

from __future__ import annotations

import platform

import pytest

from deep_jit._shared.jit.backends.cpu.isa import host_features, supported_isas

from . import test_vector_arith, test_vector_float, test_vector_moves
from .conftest import Emulator
from .vector_lanes import LaneKernel, masks

# A sample of every family; all of them are checked on the best instruction set.
CASES = [
    case
    for rows in (
        *test_vector_arith.GROUPS.values(),
        test_vector_moves.CASES,
        [c for c in test_vector_float.CASES if "vmula" not in c.text],
    )
    for case in rows[::7]
]
OTHERS = [isa.name for isa in supported_isas(platform.machine(), host_features())[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("isa", OTHERS)
def test_other_instruction_sets_give_the_same_bits(emu: Emulator, isa):
    kernel = LaneKernel(emu, f"isa_{isa}", CASES, isa=isa)
    for index, case in enumerate(CASES):
        kernel.check(index, *test_vector_arith.rows_of(case, 32), masks(32), isa=isa)
