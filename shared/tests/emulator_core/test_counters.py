"""Cross-core synchronisation: modes 0, 1, 2 and 4, SSBuffer (ascend_c_cube.md 13.3 to 13.6)."""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.jit import LaunchError

SCHEDULES = [
    {"schedule": "immediate", "threads": 1},
    {"schedule": "immediate", "threads": 2},
    {"schedule": "deferred", "seed": 0, "threads": 1},
    {"schedule": "deferred", "seed": 11, "threads": 2},
]
schedules = pytest.mark.parametrize(
    "options", SCHEDULES, ids=lambda o: "-".join(map(str, o.values()))
)


@schedules
def test_mode_4_hands_a_token_round(mix, options):
    out = np.zeros(8, np.int32)
    mix(out, 0, 5, **options)
    assert out[0] == int("01" * 5, 2)  # AIV0 and AIV1 took turns: bits 0, 1, 0, 1, ...


@schedules
def test_mode_2_waits_for_both_vector_cores(mix, options):
    out = np.zeros(8, np.int32)
    mix(out, 1, 20, **options)
    assert out[0] == 20 + 21


@schedules
def test_mode_1_joins_the_vector_cores(mix, options):
    out = np.zeros(8, np.int32)
    mix(out, 2, 30, **options)
    assert out[2] == 31


@schedules
@pytest.mark.parametrize("blocks", [1, 2, 7, 32])
def test_mode_0_is_a_barrier_of_all_cores_of_a_type(mix, options, blocks):
    out = np.zeros(3 * blocks, np.int32)
    mix(out, 3, 4, blocks, **options)
    assert (out == 4).all(), out


@schedules
def test_ssbuffer_is_shared_by_the_cores_of_a_block(mix, options):
    out = np.zeros(3, np.int32)
    mix(out, 7, 41, **options)
    assert out.tolist() == [0, 41, 42]


@schedules
def test_a_counter_that_overflows_is_reported(mix, options):
    with pytest.raises(LaunchError, match="counter 0 exceeds 15"):
        mix(np.zeros(3, np.int32), 4, 16, **options)


def test_ids_of_a_vector_core_end_at_15(mix):
    with pytest.raises(LaunchError, match="got 16, allowed 0 .. 15"):
        mix(np.zeros(3, np.int32), 5, 16)


@schedules
def test_a_deadlock_names_who_waits_for_what(mix, options):
    with pytest.raises(LaunchError, match="no core can go on") as caught:
        mix(np.zeros(3, np.int32), 6, **options)
    text = str(caught.value)
    assert "block 0 AIC waits" in text
    assert "AIV1" in text
    assert "pipe MTE2 at intra counter 7" in text


def test_blocks_beyond_the_cores_cannot_wait_for_each_other(mix):
    with pytest.raises(LaunchError, match="no core can go on"):
        mix(np.zeros(3 * 4, np.int32), 3, 1, 4, num_cores=2, threads=1)
