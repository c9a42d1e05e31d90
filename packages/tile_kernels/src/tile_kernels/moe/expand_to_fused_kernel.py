"""`expand_to_fused` and `expand_to_fused_with_sf`: rows of tokens to the buffer of all experts."""

from __future__ import annotations

import torch

from tile_kernels._bridge import launched_together
from tile_kernels._checks import check_same_device, check_shape, check_tensor, check_whole
from tile_kernels.config import get_num_vec_cores
from tile_kernels.errors import TileKernelsValueError
from tile_kernels.utils import align, ceil_div

__all__ = ["expand_to_fused", "expand_to_fused_with_sf"]

_ROW_DTYPES = (
    torch.bfloat16,
    torch.float32,
    torch.float16,
    torch.float8_e4m3fn,
    torch.int8,
    torch.uint8,
    torch.int16,
    torch.int32,
)
_COLUMN_MAJOR_ROWS = 4  # the storage of column-major scales is padded to so many rows


def expand_to_fused(
    x: torch.Tensor, token_topk_to_pos: torch.Tensor, pos_to_expert: torch.Tensor
) -> torch.Tensor:
    """Copies each token's row to its positions: out[pos] = x[token].

    Args:
        x: [tokens, hidden], contiguous, any element type of 1, 2 or 4 bytes.
        token_topk_to_pos: int32 [tokens, k], contiguous, from `get_fused_mapping`.
        pos_to_expert: int32 [positions]; rows with a negative expert become zero.

    Returns:
        [positions, hidden], dtype of x.

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
    """
    _check_rows("x", x, token_topk_to_pos, pos_to_expert)
    out = torch.empty((pos_to_expert.shape[0], x.shape[1]), dtype=x.dtype, device=x.device)
    _expand(x, token_topk_to_pos, pos_to_expert, out)
    return out


def expand_to_fused_with_sf(
    x: tuple[torch.Tensor, torch.Tensor],
    num_per_channels: int,
    token_topk_to_pos: torch.Tensor,
    pos_to_expert: torch.Tensor,
    use_tma_aligned_col_major_sf: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Copies quantised rows and their scales to the tokens' positions.

    Args:
        x: data [tokens, hidden] (int8: two codes a byte) and scales, fp32
            [tokens, ceil(hidden / num_per_channels)], or int32 / int16 with four / two packed
            exponents a word. Scales may have any strides.
        num_per_channels: 32 or 128 channels a scale.
        token_topk_to_pos: int32 [tokens, k], contiguous.
        pos_to_expert: int32 [positions]; rows and scales with a negative expert become zero.
        use_tma_aligned_col_major_sf: lay the new scales out column-major, each column padded to 4
            rows; packed scales need it.

    Returns:
        Data [positions, hidden] and scales [positions, number of scale words].

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
    """
    data, sf = x
    _check_rows("x[0]", data, token_topk_to_pos, pos_to_expert)
    check_tensor("x[1]", sf, (torch.float32, torch.int32, torch.int16), 2, contiguous=False)
    check_same_device(x=data, sf=sf)
    _check_scales(data, sf, num_per_channels, use_tma_aligned_col_major_sf)
    rows, words = pos_to_expert.shape[0], sf.shape[1]
    out = torch.empty((rows, data.shape[1]), dtype=data.dtype, device=data.device)
    if use_tma_aligned_col_major_sf:
        padded = align(rows, _COLUMN_MAJOR_ROWS)
        out_sf = torch.empty((words, padded), dtype=sf.dtype, device=sf.device).T[:rows]
    else:
        out_sf = torch.empty((rows, words), dtype=sf.dtype, device=sf.device)
    with launched_together():
        _expand(data, token_topk_to_pos, pos_to_expert, out)
        _expand_scales(sf, token_topk_to_pos, pos_to_expert, out_sf)
    return out, out_sf


def _check_rows(
    name: str, x: torch.Tensor, token_topk_to_pos: torch.Tensor, pos_to_expert: torch.Tensor
) -> None:
    check_tensor(name, x, _ROW_DTYPES, 2)
    check_tensor("token_topk_to_pos", token_topk_to_pos, (torch.int32,), 2)
    check_tensor("pos_to_expert", pos_to_expert, (torch.int32,), 1)
    check_shape("token_topk_to_pos", token_topk_to_pos, (x.shape[0], token_topk_to_pos.shape[1]))
    check_same_device(x=x, token_topk_to_pos=token_topk_to_pos, pos_to_expert=pos_to_expert)


def _check_scales(
    data: torch.Tensor, sf: torch.Tensor, num_per_channels: int, column_major: bool
) -> None:
    check_whole("num_per_channels", num_per_channels, 1)
    if num_per_channels not in (32, 128):
        raise TileKernelsValueError(f"num_per_channels got {num_per_channels}, allowed: 32, 128")
    per_word = {torch.float32: 1, torch.int32: 4, torch.int16: 2}[sf.dtype]
    if per_word > 1 and not column_major:
        raise TileKernelsValueError(
            f"packed scales ({sf.dtype}) need use_tma_aligned_col_major_sf=True"
        )
    hidden = data.shape[1] * (2 if data.dtype in (torch.int8, torch.uint8) else 1)
    words = ceil_div(ceil_div(hidden, num_per_channels), per_word)
    check_shape("x[1]", sf, (data.shape[0], words))


def _expand(
    x: torch.Tensor,
    token_topk_to_pos: torch.Tensor,
    pos_to_expert: torch.Tensor,
    out: torch.Tensor,
) -> None:
    if not out.numel():
        return
    from tile_kernels._rows_asc import scatter_rows

    rows, target = x.view(torch.int8), out.view(torch.int8)
    scatter_rows(rows, token_topk_to_pos, pos_to_expert, target, cores=get_num_vec_cores())


def _expand_scales(
    sf: torch.Tensor,
    token_topk_to_pos: torch.Tensor,
    pos_to_expert: torch.Tensor,
    out: torch.Tensor,
) -> None:
    if not out.numel():
        return
    from tile_kernels.moe.expand_to_fused_asc import scatter_scales

    dtype = "int16" if sf.dtype == torch.int16 else "int32"
    source, target = (item.view(getattr(torch, dtype)) for item in (sf, out))
    mapping = (token_topk_to_pos, pos_to_expert)
    scatter_scales(source, *mapping, target, dtype=dtype, cores=get_num_vec_cores())
