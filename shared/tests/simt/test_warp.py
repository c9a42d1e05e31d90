"""Warp operations against their index formulas (ascend_c_vector.md section 14.3)."""

from __future__ import annotations

import numpy as np
import pytest

THREADS = 96
LANE = np.arange(THREADS) % 32
WARP = np.arange(THREADS) // 32


def _sources(kind: str, operand: int, width: int) -> np.ndarray:
    base = LANE // width * width
    if kind == "":
        source = base + operand % width
    elif kind == "_up":
        source = np.where(operand < width, LANE - operand, LANE)
    elif kind == "_down":
        source = np.where(operand < width, LANE + operand, LANE)
    else:
        source = LANE ^ operand
    inside = source < base + width
    if kind != "_xor":
        inside &= source >= base
    return np.where(inside, source, LANE) + WARP * 32


@pytest.mark.parametrize("kind", ["", "_up", "_down", "_xor"])
@pytest.mark.parametrize("width", [32, 16, 8, 2])
@pytest.mark.parametrize("operand", [0, 1, 3, 8, 31])
def test_shuffles(simt, mode, kind, width, operand):
    if kind == "_xor" and operand >= width:
        pytest.skip("the lane mask of asc_shfl_xor is below the width")
    data = np.random.default_rng(1).standard_normal(THREADS).astype(np.float32)
    out = np.zeros_like(data)
    body = f"p1[threadIdx.x] = asc_shfl{kind}(p0[threadIdx.x], {operand}, {width});"
    simt.run(body, THREADS, data, out, mode=mode)
    assert (out == data[_sources(kind, operand, width)]).all()


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint32"])
@pytest.mark.parametrize("name", ["add", "max", "min"])
def test_reductions(simt, mode, dtype, name):
    data = np.random.default_rng(2).integers(0, 1000, THREADS).astype(dtype)
    out = np.zeros_like(data)
    simt.run(
        f"p1[threadIdx.x] = asc_reduce_{name}(p0[threadIdx.x]);", THREADS, data, out, mode=mode
    )
    reduce = {"add": np.sum, "max": np.max, "min": np.min}[name]
    assert (out == reduce(data.reshape(-1, 32), axis=1)[WARP]).all()


def test_float_sum_is_a_tree_of_neighbours(simt, mode):
    data = np.random.default_rng(3).standard_normal(32).astype(np.float32) * 1e6
    out = np.zeros_like(data)
    simt.run("p1[threadIdx.x] = asc_reduce_add(p0[threadIdx.x]);", 32, data, out, mode=mode)
    level = data
    while level.size > 1:
        level = level[0::2] + level[1::2]
    assert (out == level[0]).all()


def test_only_lanes_at_the_call_take_part(simt):
    out = np.zeros(32, np.int32)
    body = """
    if (threadIdx.x % 3 == 0) {
        p0[threadIdx.x] = asc_reduce_add((int32_t)1);
    } else {
        p0[threadIdx.x] = -asc_reduce_add((int32_t)threadIdx.x);
    }
    """
    simt.run(body, 32, out)
    lanes = np.arange(32)
    rest = lanes[lanes % 3 != 0].sum()
    assert (out == np.where(lanes % 3 == 0, 11, -rest)).all()


def test_votes(simt, mode):
    data = np.random.default_rng(4).integers(0, 2, THREADS).astype(np.uint32)
    data[32:64] = 1
    out = np.zeros((4, THREADS), np.uint32)
    body = f"""
    p1[threadIdx.x] = asc_ballot(p0[threadIdx.x]);
    p1[threadIdx.x + {THREADS}] = asc_any(p0[threadIdx.x] == 0);
    p1[threadIdx.x + {2 * THREADS}] = asc_all(p0[threadIdx.x]);
    p1[threadIdx.x + {3 * THREADS}] = asc_activemask();
    """
    simt.run(body, THREADS, data, out, mode=mode)
    votes = data.reshape(-1, 32)
    masks = (votes.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(1)
    assert (out[0] == masks[WARP]).all()
    assert (out[1] == (votes == 0).any(1)[WARP]).all()
    assert (out[2] == votes.all(1)[WARP]).all()
    assert (out[3] == 0xFFFFFFFF).all()


def test_a_partial_warp_has_fewer_active_lanes(simt, mode):
    out = np.zeros(40, np.uint32)
    simt.run("p0[threadIdx.x] = asc_activemask();", 40, out, mode=mode)
    assert (out[:32] == 0xFFFFFFFF).all()
    assert (out[32:] == 0xFF).all()


def test_lanes_leave_a_loop_at_different_times_and_meet_again(simt):
    out = np.zeros(32, np.int32)
    body = """
    int32_t n = 0;
    while (n < (int32_t)threadIdx.x * 5) { n += 1; }
    p0[threadIdx.x] = asc_reduce_add(n);
    """
    simt.run(body, 32, out)
    assert (out == 5 * np.arange(32).sum()).all()


def test_coalesced_groups(simt):
    out = np.zeros(32, np.int32)
    body = """
    if (threadIdx.x % 2) {
        auto group = cooperative_groups::coalesced_threads();
        group.sync();
        p0[threadIdx.x] = group.size() * 100 + group.thread_rank();
    }
    """
    simt.run(body, 32, out)
    assert (out[1::2] == 1600 + np.arange(16)).all()
    assert (out[::2] == 0).all()
