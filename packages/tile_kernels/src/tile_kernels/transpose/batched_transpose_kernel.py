"""`transpose` and `batched_transpose`: contiguous transposes of strided matrices."""

from __future__ import annotations

import torch

from tile_kernels._checks import check_tensor
from tile_kernels.config import get_num_vec_cores
from tile_kernels.errors import TileKernelsValueError
from tile_kernels.utils import ceil_div

__all__ = ["batched_transpose", "transpose"]

_DTYPES = (
    torch.float8_e4m3fn,
    torch.bfloat16,
    torch.float32,
    torch.float16,
    torch.int8,
    torch.uint8,
    torch.int16,
    torch.int32,
)
_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32}


def transpose(x: torch.Tensor) -> torch.Tensor:
    """Returns the contiguous transpose [N, M] of a matrix [M, N]; see `batched_transpose`."""
    check_tensor("x", x, _DTYPES, 2, contiguous=False)
    return batched_transpose(x.unsqueeze(0)).squeeze(0)


def batched_transpose(x: torch.Tensor) -> torch.Tensor:
    """Transposes every matrix of a batch.

    Args:
        x: [batches, M, N] of any sizes, elements of 1, 2 or 4 bytes, last stride 1; rows and
            matrices may lie apart.

    Returns:
        [batches, N, M], contiguous, the same bits.

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
    """
    check_tensor("x", x, _DTYPES, 3, contiguous=False)
    if x.shape[2] > 1 and x.stride(2) != 1:
        raise TileKernelsValueError(
            f"x has strides {x.stride()}, wanted 1 on the last axis; pass x.contiguous()"
        )
    batches, rows, columns = x.shape
    out = torch.empty((batches, columns, rows), dtype=x.dtype, device=x.device)
    if out.numel():
        from tile_kernels.transpose.batched_transpose_asc import tile_shape, transpose_tiles

        size = x.element_size()
        tile_rows, tile_columns = tile_shape(size)
        down, across = ceil_div(rows, tile_rows), ceil_div(columns, tile_columns)
        transpose_tiles(
            x.view(_INTEGERS[size]), out.view(_INTEGERS[size]), down, across,
            batches * down * across, size=size, cores=get_num_vec_cores(),
        )  # fmt: skip
    return out
