"""`apply_rotary`: rotary position embedding, in place."""

from __future__ import annotations

import torch

from tile_kernels._checks import check_same_device, check_shape, check_tensor, check_whole
from tile_kernels.config import get_num_vec_cores
from tile_kernels.errors import TileKernelsValueError
from tile_kernels.transform.rotary_plan import Heads, merged_heads, plan_rotary, rows_of_a_tile
from tile_kernels.utils import ceil_div

__all__ = ["apply_rotary"]

_DTYPES = (torch.bfloat16, torch.float32, torch.float16)


def apply_rotary(
    query: torch.Tensor,
    cos_sin_cache: torch.Tensor,
    key: torch.Tensor | None = None,
    positions: torch.Tensor | None = None,
    interleaved: bool = False,
    conjugate: bool = False,
    seqlen_offset: int = 0,
) -> None:
    """Rotates pairs of elements of every head in place: a' = a cos - b sin, b' = a sin + b cos.

    Arithmetic is fp32, each result is rounded once.

    Args:
        query: bf16, fp16 or fp32 [tokens, heads, head_dim] or [batches, tokens, heads, head_dim],
            last stride 1.
        cos_sin_cache: fp32 [length, dim], contiguous, cosines then sines; dim is even and at most
            head_dim. Elements of a head beyond dim stay as they are.
        key: the same rank and dtype, with its own number of heads.
        positions: int32 or int64 [tokens] or [batches, tokens]; without it a token's index.
        interleaved: pairs are neighbours (2i, 2i + 1), else (i, i + dim / 2).
        conjugate: rotate back.
        seqlen_offset: is added to the positions.

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above, or a token
            without a row in the cache where positions are not given.
        LaunchError: a given position is outside the cache.
    """
    check_tensor("query", query, _DTYPES, (3, 4), contiguous=False)
    check_tensor("cos_sin_cache", cos_sin_cache, (torch.float32,), 2)
    check_whole("seqlen_offset", seqlen_offset, 0)
    tensors = [("query", query)]
    if key is not None:
        check_tensor("key", key, (query.dtype,), query.dim(), contiguous=False)
        tensors.append(("key", key))
    for name, tensor in tensors:
        _check_heads(name, tensor, query, cos_sin_cache.shape[1])
    _check_positions(query, cos_sin_cache, positions, seqlen_offset)
    check_same_device(query=query, cos_sin_cache=cos_sin_cache, key=key, positions=positions)
    for _, tensor in tensors:
        if tensor.numel() and cos_sin_cache.numel():
            _launch(tensor, cos_sin_cache, positions, seqlen_offset, interleaved, conjugate)


def _check_heads(name: str, tensor: torch.Tensor, query: torch.Tensor, dim: int) -> None:
    check_shape(name, tensor, (*query.shape[:-2], tensor.shape[-2], tensor.shape[-1]))
    if tensor.stride(-1) != 1:
        raise TileKernelsValueError(
            f"{name} has strides {tensor.stride()}, wanted 1 on the last axis"
        )
    if dim % 2 or dim > tensor.shape[-1]:
        raise TileKernelsValueError(
            f"cos_sin_cache has {dim} columns, wanted an even number up to {name}'s head_dim "
            f"{tensor.shape[-1]}"
        )


def _check_positions(
    query: torch.Tensor, cache: torch.Tensor, positions: torch.Tensor | None, offset: int
) -> None:
    if positions is None:
        need = query.shape[-3] + offset
        if need > cache.shape[0]:
            raise TileKernelsValueError(
                f"cos_sin_cache has {cache.shape[0]} rows, {need} are needed for tokens plus "
                "seqlen_offset"
            )
        return
    check_tensor("positions", positions, (torch.int32, torch.int64), (1, 2))
    check_shape("positions", positions, query.shape[:-2])


def _launch(
    tensor: torch.Tensor,
    cache: torch.Tensor,
    positions: torch.Tensor | None,
    offset: int,
    interleaved: bool,
    conjugate: bool,
) -> None:
    x = tensor if tensor.dim() == 4 else tensor.unsqueeze(0)
    given = torch.empty(0, dtype=torch.int32, device=x.device)
    if positions is not None:
        given = positions.reshape(-1)
    dtype, position_dtype = (str(t.dtype).removeprefix("torch.") for t in (x, given))
    sign = -1.0 if conjugate else 1.0
    cores, dim = get_num_vec_cores(), cache.shape[1]

    batches, tokens, heads, _ = x.shape
    batch, token, head, _ = x.stride()
    given_heads = Heads(batches, tokens, heads, (batch, token, head))
    rows, merged = merged_heads(given_heads, positions is not None)
    plan = plan_rotary(
        dtype, dim, interleaved, merged, positions is not None, position_dtype, cores
    )
    if plan is not None:
        from tile_kernels.transform.rotate_rows_asc import rotate_rows

        in_batch = rows.tokens * rows.heads
        most = rows_of_a_tile(plan.rows, rows.batches * in_batch, cores)
        tiles = rows.batches * ceil_div(in_batch, most)
        view = x.as_strided(
            (rows.batches, rows.tokens, rows.heads, dim), (*rows.strides, 1), x.storage_offset()
        )
        rotate_rows(view, cache, given, offset, sign, heads, most, tiles, plan=plan)
        return
    from tile_kernels.transform.apply_rotary_asc import rotate

    rotate(
        x,
        cache,
        given,
        offset,
        int(interleaved),
        sign,
        dtype=dtype,
        position_dtype=position_dtype,
        with_positions=positions is not None,
        cores=cores,
    )
