"""`reduce_fused`: the experts' rows of each token added up with their weights."""

from __future__ import annotations

import torch

from tile_kernels._checks import check_same_device, check_shape, check_tensor
from tile_kernels.config import get_num_vec_cores
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError

__all__ = ["reduce_fused"]

_DTYPES = (torch.bfloat16, torch.float32, torch.float16)


def reduce_fused(
    x: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    topk_weights: torch.Tensor,
    token_topk_to_pos: torch.Tensor,
    fp8_format: str = "",
    sf: torch.Tensor | None = None,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Adds each token's rows in the order of its slots: acc = fma(row, w * x_sf, acc) in fp32.

    Args:
        x: bf16, fp16 or fp32 [positions, hidden], contiguous; or (x, x_sf) with a factor a row,
            fp32 [positions].
        topk_weights: fp32 [tokens, k], contiguous.
        token_topk_to_pos: int32 [tokens, k], contiguous; negative positions are left out.
        fp8_format: ``"e4m3"`` for fp8 results, ``""`` for the dtype of x.
        sf: one fp32 number that multiplies the sums before they become fp8; needs ``"e4m3"``.
        out: [tokens, hidden] to write to.

    Returns:
        `out`, or a new tensor [tokens, hidden].

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
    """
    rows, x_sf = x if isinstance(x, tuple) else (x, None)
    check_tensor("x", rows, _DTYPES, 2)
    check_tensor("topk_weights", topk_weights, (torch.float32,), 2)
    check_tensor("token_topk_to_pos", token_topk_to_pos, (torch.int32,), 2)
    check_shape("token_topk_to_pos", token_topk_to_pos, topk_weights.shape)
    if x_sf is not None:
        check_tensor("x_sf", x_sf, (torch.float32,), 1)
        check_shape("x_sf", x_sf, (rows.shape[0],))
    out_dtype = _out_dtype(rows.dtype, fp8_format, sf)
    shape = (topk_weights.shape[0], rows.shape[1])
    if out is None:
        out = torch.empty(shape, dtype=out_dtype, device=rows.device)
    check_tensor("out", out, (out_dtype,), 2)
    check_shape("out", out, shape)
    check_same_device(
        x=rows, x_sf=x_sf, topk_weights=topk_weights, token_topk_to_pos=token_topk_to_pos, out=out
    )
    if out.numel():
        _launch(rows, x_sf, topk_weights, token_topk_to_pos, 1.0 if sf is None else sf, out)
    return out


def _out_dtype(dtype: torch.dtype, fp8_format: str, sf: torch.Tensor | None) -> torch.dtype:
    if fp8_format not in ("", "e4m3"):
        raise TileKernelsValueError(f"fp8_format got {fp8_format!r}; allowed: '', 'e4m3'")
    if sf is not None:
        if not fp8_format:
            raise TileKernelsValueError("sf needs fp8_format='e4m3'; leave it out otherwise")
        if not isinstance(sf, torch.Tensor) or sf.dtype != torch.float32 or sf.numel() != 1:
            raise TileKernelsTypeError("sf must be an fp32 tensor with one element")
    return torch.float8_e4m3fn if fp8_format else dtype


def _launch(
    rows: torch.Tensor,
    x_sf: torch.Tensor | None,
    topk_weights: torch.Tensor,
    token_topk_to_pos: torch.Tensor,
    sf: torch.Tensor | float,
    out: torch.Tensor,
) -> None:
    from tile_kernels.moe.reduce_fused_asc import reduce_rows

    reduce_rows(
        rows,
        topk_weights if x_sf is None else x_sf.view(-1, 1),
        topk_weights,
        token_topk_to_pos,
        out,
        float(sf),
        dtype=str(rows.dtype).removeprefix("torch."),
        out_dtype=str(out.dtype).removeprefix("torch."),
        scaled=x_sf is not None,
        cores=get_num_vec_cores(),
    )
