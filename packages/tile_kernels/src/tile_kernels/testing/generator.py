"""Lists of cases and random inputs that tests and benchmarks share (tile_kernels.md section 11).

``TK_TEST_LEVEL`` is 0 (core), 1 (default) or 2 (full); with ``TK_PRECOMPILE=1`` every case has 128
tokens: enough to compile its kernel, and quick.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice, product
from typing import Any

import torch

from tile_kernels import config
from tile_kernels.errors import TileKernelsValueError
from tile_kernels.testing.quant_cases import (
    generate_cast_config,
    generate_e5m6_inputs,
    generate_rand_float,
)
from tile_kernels.utils import align as round_up

__all__ = [
    "MoeParams", "generate_cast_config", "generate_e5m6_inputs", "generate_hidden_sizes",
    "generate_moe_params", "generate_num_sms", "generate_num_tokens", "generate_psum_layout",
    "generate_rand_float", "generate_samples", "generate_topk_idx", "get_test_level",
]  # fmt: skip

_TOKENS = (512, 8001)
_PRECOMPILE_TOKENS = 128
_HIDDEN = (128, 192, 384, 768, 2048, 2560, 3072, 4096, 6144, 7168)


@dataclass(frozen=True)
class MoeParams:
    """One routing problem.

    Attributes:
        num_tokens, num_experts, num_topk: sizes.
        alignment: rows of an expert are padded to a multiple of it.
        empty: share of slots without an expert.
    """

    num_tokens: int
    num_experts: int
    num_topk: int
    alignment: int = 128
    empty: float = 0.1


def get_test_level() -> int:
    """Returns ``TK_TEST_LEVEL``, 1 by default.

    Raises:
        TileKernelsValueError: it is not 0, 1 or 2.
    """
    text = os.environ.get("TK_TEST_LEVEL", "1")
    if text not in ("0", "1", "2"):
        raise TileKernelsValueError(f"TK_TEST_LEVEL got {text!r}; allowed: 0, 1, 2")
    return int(text)


def generate_samples(level: int, **dims: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Combinations of values: all at level 2, else each value at least once."""
    names = list(dims)
    if level == 2:
        rows: Iterator[tuple[Any, ...]] = product(*dims.values())
    else:
        longest = max(map(len, dims.values()))
        rows = zip(*(islice(cycle(values), longest) for values in dims.values()), strict=True)
    for row in rows:
        yield dict(zip(names, row, strict=True))


def generate_num_tokens(level: int, alignment: int = 1, backward_only: bool = False) -> list[int]:
    """Token counts, rounded up to a multiple; at level 2 also none and one."""
    if os.environ.get("TK_PRECOMPILE") == "1":
        return [round_up(_PRECOMPILE_TOKENS, alignment)]
    extra = () if level < 2 or backward_only else (0, 1)
    return [round_up(count, alignment) for count in (*extra, *_TOKENS)]


def generate_hidden_sizes(align: int = 64) -> list[int]:
    """Hidden sizes that are multiples of a number."""
    return [size for size in _HIDDEN if size % align == 0]


def generate_num_sms(level: int) -> list[int]:
    """Numbers of cores: all and, from level 1 on, some fewer; at level 2 also one."""
    most = config.get_device_num_sms()
    fewer = max(most - 20, most // 2, 1)
    return [[most], [fewer, most], [1, fewer, most]][level]


def generate_moe_params(level: int) -> list[MoeParams]:
    """Routing problems with small and large numbers of experts and slots."""
    experts, topk = (72, 256), (2, 6, 8, 9)
    samples = generate_samples(
        level, num_tokens=generate_num_tokens(level), num_experts=experts, num_topk=topk
    )
    return [MoeParams(**sample) for sample in samples]


def generate_topk_idx(params: MoeParams) -> torch.Tensor:
    """Distinct random experts of each token, int64 [tokens, k], some slots -1."""
    order = torch.rand(params.num_tokens, params.num_experts).argsort(dim=1)
    idx = order[:, : params.num_topk].contiguous()
    idx[torch.rand(idx.shape) < params.empty] = -1
    return idx


def generate_psum_layout(params: MoeParams) -> tuple[torch.Tensor, torch.Tensor]:
    """Spreads the slots of a routing problem over its experts, each starting at an aligned row.

    Returns:
        (bool [rows], which of them belong to an expert; psum int32 [experts], one after the last
        row of each). The alignment is that of `params`; pass it to
        `tile_kernels.set_token_alignment`.
    """
    idx = generate_topk_idx(params)
    counts = torch.bincount(idx[idx >= 0], minlength=params.num_experts).tolist()
    ends, first = [], 0
    for count in counts:
        ends.append(first + count)
        first = round_up(ends[-1], params.alignment)
    mask = torch.zeros(first, dtype=torch.bool)
    for end, count in zip(ends, counts, strict=True):
        mask[end - count : end] = True
    return mask, torch.tensor(ends, dtype=torch.int32)
