"""Calls inside `launched_together` run when the block ends, in their order."""

from __future__ import annotations

import pytest
import torch

from tile_kernels import moe
from tile_kernels._bridge import launched_together


def test_kernels_run_at_the_end_in_their_order():
    idx = torch.tensor([[3, 3, 1], [0, 0, 3]])
    with launched_together():
        counts = moe.group_count(idx, 4)
        moe.inplace_unique_group_indices(idx, 4)
        later = moe.group_count(idx, 4)
        assert not counts.any()
    assert counts.tolist() == [2, 1, 0, 3]
    assert later.tolist() == [1, 1, 0, 2]
    assert moe.group_count(idx, 4).tolist() == [1, 1, 0, 2]  # outside: at once


def test_an_inner_block_runs_what_waits():
    idx = torch.tensor([[3, 3, 1]])
    with launched_together():
        moe.inplace_unique_group_indices(idx, 4)
        with launched_together():
            counts = moe.group_count(idx, 4)
        assert counts.tolist() == [0, 1, 0, 1]
        again = moe.group_count(idx, 4)
        assert not again.any()
    assert again.tolist() == [0, 1, 0, 1]


def test_nothing_runs_after_an_error():
    def fail(idx):
        with launched_together():
            moe.inplace_unique_group_indices(idx, 4)
            raise RuntimeError("of the test")

    idx = torch.tensor([[3, 3, 1]])
    with pytest.raises(RuntimeError, match="of the test"):
        fail(idx)
    assert idx.tolist() == [[3, 3, 1]]
    moe.inplace_unique_group_indices(idx, 4)
    assert idx.tolist() == [[3, -1, 1]]


def test_an_operator_that_reads_its_result_may_stand_inside():
    idx = torch.tensor([[1, 0], [1, 2]])
    with launched_together():
        mapping = moe.get_fused_mapping(idx, 3, 0, 2)
    assert mapping[7] == [2, 2, 2]
