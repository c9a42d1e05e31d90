"""Scales of many weights as the GEMMs of both directions read them (tile_kernels.md 4.10)."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from tile_kernels import config as settings
from tile_kernels._checks import check_tensor
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant.block_cast_kernel import dtype_name
from tile_kernels.quant.common import get_packed_ue8m0_pack_factor, get_packed_ue8m0_torch_dtype
from tile_kernels.utils import align, ceil_div

__all__ = ["batched_transpose_weight_sf"]

BLOCKS = (32, 128)
SIZE_MULTIPLE = 128
POOL_ALIGNMENT = 32  # bytes

Pair = tuple[torch.Tensor, torch.Tensor]


def batched_transpose_weight_sf(
    sf: Sequence[torch.Tensor],
    block_size: int,
    transpose_sf1s: Sequence[bool],
    outs: Sequence[Pair | None],
) -> list[Pair]:
    """Packs the block scales of weights [n, k] row by row, for the weight and for its transpose.

    Args:
        sf: per weight fp32 powers of two, contiguous [n / block_size, k / block_size] or
            [groups, ...]; n and k multiples of 128.
        block_size: 32 or 128, in both directions.
        transpose_sf1s: per weight whether sf1 is returned as [..., words, k].
        outs: per weight None, or the (sf0, sf1) to write.

    Returns:
        Per weight (sf0, sf1) of packed exponent bytes, int16 words of two blocks (int32 of four
        after `set_packed_ue8m0_pack_factor(4)`): sf0 [..., n, ceil(k / block_size / 2)] with
        strides (..., 1, n), sf1 [..., k, ceil(n / block_size / 2)] with strides (..., 1, k), or
        contiguous [..., words, k]. Missing bytes are 0. New tensors share one allocation.

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a length, shape, stride, dtype or option that
            is not allowed; nothing is written.
        LaunchError: a scale is negative or no power of two.
    """
    if block_size not in BLOCKS:
        raise TileKernelsValueError(f"block_size got {block_size!r}; allowed: 32, 128")
    if not len(sf) == len(transpose_sf1s) == len(outs):
        raise TileKernelsValueError(
            f"sf, transpose_sf1s and outs have lengths {len(sf)}, {len(transpose_sf1s)} and "
            f"{len(outs)}; wanted equal ones"
        )
    for index, scales in enumerate(sf):
        _check_scales(f"sf[{index}]", scales, block_size)
        if scales.device != sf[0].device:
            raise TileKernelsValueError(
                f"sf[{index}] is on {scales.device}, sf[0] on {sf[0].device}; move all to one"
            )
    stored = _storage(sf, block_size, transpose_sf1s, outs)
    for scales, (first, second) in zip(sf, stored, strict=True):
        if first.numel():
            _launch(scales.view(-1, *scales.shape[-2:]), first, second, block_size)
    return [
        _public(scales, pair, flag)
        for scales, pair, flag in zip(sf, stored, transpose_sf1s, strict=True)
    ]


def _check_scales(name: str, scales: torch.Tensor, block_size: int) -> None:
    check_tensor(name, scales, (torch.float32,), (2, 3))
    for axis in (-2, -1):
        if scales.shape[axis] * block_size % SIZE_MULTIPLE:
            raise TileKernelsValueError(
                f"{name} has shape {tuple(scales.shape)}; with blocks of {block_size} a weight has "
                f"{scales.shape[axis] * block_size} rows or columns, allowed are multiples of "
                f"{SIZE_MULTIPLE}"
            )


def _stored_shapes(scales: torch.Tensor, block_size: int) -> tuple[tuple[int, ...], ...]:
    """Shapes of both results as words lie in memory: [groups, words, rows]."""
    pack = get_packed_ue8m0_pack_factor()
    groups, (down, across) = scales.shape[:-2].numel(), scales.shape[-2:]
    return (
        (groups, ceil_div(across, pack), down * block_size),
        (groups, ceil_div(down, pack), across * block_size),
    )


def _storage(
    sf: Sequence[torch.Tensor],
    block_size: int,
    flags: Sequence[bool],
    outs: Sequence[Pair | None],
) -> list[Pair]:
    dtype = get_packed_ue8m0_torch_dtype()
    step = POOL_ALIGNMENT // dtype.itemsize
    shapes = [_stored_shapes(scales, block_size) for scales in sf]
    sizes = [
        [align(torch.Size(shape).numel(), step) if out is None else 0 for shape in pair]
        for pair, out in zip(shapes, outs, strict=True)
    ]
    total = sum(sum(pair) for pair in sizes)
    pool = torch.empty(total, dtype=dtype, device=sf[0].device if sf else "cpu")
    stored, start = [], 0
    for index, (pair, out) in enumerate(zip(shapes, outs, strict=True)):
        views = []
        for which, shape in enumerate(pair):
            if out is None:
                size = torch.Size(shape).numel()
                views.append(pool[start : start + size].view(shape))
                start += sizes[index][which]
            else:
                name = f"outs[{index}][{which}]"
                is_turned = which == 0 or not flags[index]
                views.append(_given(name, out[which], sf[index], shape, is_turned, dtype))
        stored.append((views[0], views[1]))
    return stored


def _given(
    name: str,
    out: torch.Tensor,
    scales: torch.Tensor,
    shape: tuple[int, ...],
    is_turned: bool,
    dtype: torch.dtype,
) -> torch.Tensor:
    """Checks one given result and returns it as it lies in memory."""
    if not isinstance(out, torch.Tensor) or out.dtype != dtype:
        got = out.dtype if isinstance(out, torch.Tensor) else type(out).__name__
        raise TileKernelsTypeError(f"{name} must be a tensor of {dtype}, got {got}")
    stored = out.transpose(-1, -2) if is_turned else out
    wanted = (*scales.shape[:-2], *shape[1:])
    if tuple(stored.shape) != wanted or not stored.is_contiguous() or out.device != scales.device:
        raise TileKernelsValueError(
            f"{name} is {tuple(out.shape)} with stride {tuple(out.stride())} on {out.device}; "
            f"wanted {'the transposed view of ' if is_turned else ''}a contiguous {wanted} on "
            f"{scales.device}"
        )
    if out.data_ptr() % POOL_ALIGNMENT:
        raise TileKernelsValueError(f"{name} must start at a multiple of {POOL_ALIGNMENT} bytes")
    return stored.reshape(shape)


def _public(scales: torch.Tensor, stored: Pair, flag: bool) -> Pair:
    first, second = (item.view(*scales.shape[:-2], *item.shape[1:]) for item in stored)
    return first.transpose(-1, -2), second if flag else second.transpose(-1, -2)


def _launch(
    scales: torch.Tensor, first: torch.Tensor, second: torch.Tensor, block_size: int
) -> None:
    from tile_kernels.quant.batched_transpose_weight_sf_asc import SPAN, transpose_weight_sf

    side = SPAN // block_size
    down, across = ceil_div(scales.shape[1], side), ceil_div(scales.shape[2], side)
    transpose_weight_sf(
        scales, first, second, scales.shape[0] * down * across, down, across,
        block=block_size, pack=first.element_size(), word=dtype_name(first.dtype),
        cores=settings.get_num_vec_cores(),
    )  # fmt: skip
