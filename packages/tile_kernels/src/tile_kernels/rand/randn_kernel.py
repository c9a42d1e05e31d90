"""`randn`, `randn_like`, `set_seed`: standard normal numbers from Philox streams.

The state is one 32-bit seed on the host. Each call reserves as many consecutive seeds as its
output has blocks, so equal seeds and equal calls give equal numbers on any number of cores.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import torch

from tile_kernels._checks import TARGETS
from tile_kernels.config import get_device, get_num_vec_cores
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.utils import ceil_div

__all__ = ["randn", "randn_like", "set_seed"]

BLOCK = 4096  # numbers drawn from one seed; the kernel has the same
_DTYPES = (torch.float32, torch.bfloat16)
_MASK = 0xFFFFFFFF
_lock = threading.Lock()
_next_seed: int | None = None


def set_seed(seed: int) -> None:
    """Restarts the sequence of numbers; also calls ``torch.manual_seed``.

    Args:
        seed: any int.
    """
    global _next_seed
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TileKernelsTypeError(f"seed must be an int, got {seed!r}")
    torch.manual_seed(seed)
    with _lock:
        _next_seed = seed & _MASK


def randn(
    *size: int | Sequence[int],
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> torch.Tensor:
    """Returns standard normal numbers.

    Args:
        size: the shape, as ints or as one sequence.
        dtype: fp32 (default) or bf16.
        device: `cpu` or `npu`; by default the NPU where there is one.

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
    """
    shape = _shape(size)
    dtype = dtype or torch.float32
    place = torch.device(device or get_device())
    if dtype not in _DTYPES:
        raise TileKernelsTypeError(f"dtype got {dtype}, allowed: {', '.join(map(str, _DTYPES))}")
    if place.type not in TARGETS:
        raise TileKernelsValueError(f"device got {place}, allowed: {', '.join(TARGETS)}")
    out = torch.empty(shape, dtype=dtype, device=place)
    if out.numel():
        from tile_kernels.rand.randn_asc import normal_numbers

        name = str(dtype).removeprefix("torch.")
        seed = reserve_seeds(ceil_div(out.numel(), BLOCK))
        normal_numbers(out.view(-1), seed, dtype=name, cores=get_num_vec_cores())
    return out


def randn_like(input: torch.Tensor) -> torch.Tensor:
    """Returns standard normal numbers in the shape, dtype and device of a tensor."""
    if not isinstance(input, torch.Tensor):
        raise TileKernelsTypeError(f"input must be a torch.Tensor, got {type(input).__name__}")
    return randn(*input.shape, dtype=input.dtype, device=input.device)


def _shape(size: tuple[Any, ...]) -> tuple[int, ...]:
    sizes = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
    if any(not isinstance(item, int) or item < 0 for item in sizes):
        raise TileKernelsValueError(f"size got {size}, wanted ints of 0 or more")
    return sizes


def reserve_seeds(blocks: int) -> int:
    """First seed of a call; the following `blocks` - 1 belong to it too."""
    global _next_seed
    with _lock:
        start = torch.initial_seed() & _MASK if _next_seed is None else _next_seed
        _next_seed = (start + blocks) & _MASK
    return _mixed(start)


def _mixed(seed: int) -> int:
    seed = (seed + 0x9E3779B9) & _MASK
    seed = ((seed ^ seed >> 16) * 0x21F0AAAD) & _MASK
    seed = ((seed ^ seed >> 15) * 0x735A2D97) & _MASK
    return seed ^ seed >> 15
