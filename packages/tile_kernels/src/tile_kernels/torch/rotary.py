"""Reference of `apply_rotary`, in float64."""

from __future__ import annotations

import torch

__all__ = ["rotary_embedding_ref"]


def rotary_embedding_ref(
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    positions: torch.Tensor | None = None,
    seqlen_offsets: int = 0,
    interleaved: bool = False,
    conjugate: bool = False,
) -> torch.Tensor:
    """Rotates x [..., tokens, heads, head_dim]; cos and sin are [length, dim / 2]. Not in place."""
    if positions is None:
        positions = torch.arange(x.shape[-3]).expand(x.shape[:-2])
    row = positions.long() + seqlen_offsets
    c, s = (table.double()[row].unsqueeze(-2) for table in (cos, sin))
    s = -s if conjugate else s
    dim = 2 * cos.shape[1]
    out = x.double().clone()
    first, second = (
        (slice(0, dim, 2), slice(1, dim, 2))
        if interleaved
        else (slice(0, dim // 2), slice(dim // 2, dim))
    )
    a, b = x.double()[..., first], x.double()[..., second]
    out[..., first] = a * c - b * s
    out[..., second] = a * s + b * c
    return out.to(x.dtype)
