"""Blocks that depend on each other, polling, and the place of a core (emulator.md section 2)."""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.jit import LaunchError


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("blocks", [1, 5, 32])
def test_blocks_poll_each_other(cube, threads, blocks):
    out = np.zeros(blocks, np.int32)
    cube(out, 5, 0, blocks, threads=threads)
    assert out.tolist() == list(range(1, blocks + 1))


def test_polling_for_what_nobody_writes_is_a_deadlock(cube):
    with pytest.raises(LaunchError, match="block 0 AIC polls memory"):
        cube(np.zeros(2, np.int32), 6, 0, 2)


@pytest.mark.parametrize("threads", [1, 2])
def test_scalar_atomics_of_all_blocks_add_up(cube, threads):
    out = np.zeros(1, np.int32)
    cube(out, 7, 1000, 32, threads=threads)
    assert out[0] == 32000


def test_more_blocks_than_cores_run_in_turns(cube):
    out = np.zeros(100, np.int32)
    cube(out, 13, 0, 100, num_cores=8)
    assert out.tolist() == [100_000 + i % 8 for i in range(100)]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_ai_core_holds_two_blocks_of_one_vector_core(vector, threads):
    out = np.zeros(16, np.int32)
    vector(out, 1, 0, 16, num_cores=8, threads=threads)
    assert out.tolist() == [100 + i for i in range(16)]


def test_vector_blocks_beyond_the_vector_cores_cannot_wait_for_each_other(vector):
    with pytest.raises(LaunchError, match="polls memory"):
        vector(np.zeros(17, np.int32), 1, 0, 17, num_cores=8, threads=1)
