"""Flags, barriers and mutexes inside one core (ascend_c_cube.md 13.1 and 13.2)."""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.jit import LaunchError

SCHEDULES = [{"schedule": "immediate"}] + [{"schedule": "deferred", "seed": s} for s in range(4)]
schedules = pytest.mark.parametrize(
    "options", SCHEDULES, ids=lambda o: "-".join(map(str, o.values()))
)


@schedules
def test_flags_order_pipes_and_the_scalar_unit(cube, options):
    out = np.zeros(4, np.int32)
    cube(out, 0, 100, 4, **options)
    assert (out == 100).all()


@schedules
def test_a_wait_may_precede_its_notify(cube, options):
    out = np.zeros(3, np.int32)
    cube(out, 1, 0, 3, **options)
    assert (out == 7).all()


@schedules
def test_a_second_notify_is_reported(cube, options):
    with pytest.raises(LaunchError, match="flag M->FIX id 2 is already set"):
        cube(np.zeros(1, np.int32), 2, **options)


def test_event_ids_end_at_7(cube):
    with pytest.raises(LaunchError, match="event id got 8, allowed 0 .. 7"):
        cube(np.zeros(1, np.int32), 3, 8)


@schedules
def test_a_missing_notify_is_a_deadlock(cube, options):
    with pytest.raises(LaunchError, match="pipe MTE1 at flag MTE2->MTE1 id 3"):
        cube(np.zeros(1, np.int32), 4, **options)


@schedules
def test_locks_alternate_between_pipes(cube, options):
    out = np.zeros(1, np.int32)
    cube(out, 8, 50, **options)
    assert out[0] == 50


@schedules
def test_locks_of_different_ids_overlap(cube, options):
    out = np.zeros(1, np.int32)
    cube(out, 12, **options)
    assert out[0] == 1


@pytest.mark.parametrize(
    ("scenario", "text"),
    [
        (9, "mutex 4 is locked by pipe MTE1"),
        (10, "unlock of mutex 4 on pipe M without a lock"),
        (11, "PIPE_S alone is not allowed"),
    ],
)
def test_wrong_use_is_reported(cube, scenario, text):
    with pytest.raises(LaunchError, match=text):
        cube(np.zeros(1, np.int32), scenario)


def test_the_next_launch_starts_afresh(cube):
    with pytest.raises(LaunchError):
        cube(np.zeros(1, np.int32), 2)
    out = np.zeros(1, np.int32)
    cube(out, 0, 3)
    assert out[0] == 3
