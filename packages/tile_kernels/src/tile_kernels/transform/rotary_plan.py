"""Plans `apply_rotary` on vector registers: what it takes, tiles and rows (no torch in here).

A plan is the compile-time part of a kernel; equal plans share one, for any number of tokens, heads
and batches, and for any strides of heads, tokens and batches.
"""

from __future__ import annotations

from dataclasses import dataclass

from tile_kernels.utils import align, ceil_div

__all__ = ["Heads", "RotaryPlan", "merged_heads", "plan_rotary", "rows_of_a_tile"]

BYTES = {"bfloat16": 2, "float16": 2, "float32": 4}
LANES = 64  # fp32 lanes of a register
BLOCK = 32  # bytes at which registers are loaded and stored
ROOM = 240 * 1024  # bytes of the unified buffer, of 248 KiB without SIMT
MOST_ROWS, LEAST_ROWS = 64, 16  # of a tile


@dataclass(frozen=True)
class Heads:
    """Heads in global memory: shape and strides in elements, rows of the last axis are dense."""

    batches: int
    tokens: int
    heads: int
    strides: tuple[int, int, int]  # of batches, tokens and heads


@dataclass(frozen=True)
class RotaryPlan:
    """Compile-time options of the kernel.

    Attributes:
        dtype: of the heads.
        dim: elements of a head that are rotated.
        interleaved: pairs are neighbours, else their halves lie dim / 2 apart.
        rows: most heads in a tile.
        merged: heads of all tokens of a batch have one stride, so one copy moves a tile.
        has_positions: tokens have positions, else they count from 0.
        position_dtype: of the positions.
        cores: size of the grid.
    """

    dtype: str
    dim: int
    interleaved: bool
    rows: int
    merged: bool
    has_positions: bool
    position_dtype: str
    cores: int

    @property
    def in_twos(self) -> bool:
        """Two heads fill a register."""
        return self.dim == LANES

    @property
    def steps(self) -> tuple[tuple[int, int], ...]:
        """First pair and number of pairs of each register of a head."""
        half = self.dim // 2
        return tuple((j, min(half - j, LANES)) for j in range(0, half, LANES))

    @property
    def spare(self) -> int:
        """Rows behind those of a tile: what a whole register reads behind the last numbers."""
        behind = align(self.dim // 2, LANES) - self.dim // 2
        return ceil_div(behind, self.dim)


def plan_rotary(
    dtype: str,
    dim: int,
    interleaved: bool,
    merged: bool,
    has_positions: bool,
    position_dtype: str,
    cores: int,
) -> RotaryPlan | None:
    """Returns the plan, or None where threads must do it.

    Registers need numbers, cosines and sines that begin at 32 bytes in the unified buffer: the
    sines begin behind dim / 2 cosines, second halves behind dim / 2 numbers. And a tile must hold a
    few heads.
    """
    half, size = dim // 2, BYTES[dtype]
    if half * 4 % BLOCK or (not interleaved and half * size % BLOCK):
        return None
    # Two tiles of heads, of results and, with a token a head, of cosines and sines
    most = ROOM // (dim * (4 * size + 8)) - LANES // dim - 1
    rows = min(most // LEAST_ROWS * LEAST_ROWS, MOST_ROWS)
    if rows < LEAST_ROWS:
        return None
    return RotaryPlan(dtype, dim, interleaved, rows, merged, has_positions, position_dtype, cores)


def merged_heads(x: Heads, with_positions: bool) -> tuple[Heads, bool]:
    """Returns the same heads in as few batches as possible, and whether their strides merge.

    Batches become one where each token has its position. Heads whose strides merge are returned as
    tokens of one head.
    """
    batch, token, head = x.strides
    batches, tokens = x.batches, x.tokens
    if with_positions and (batches == 1 or tokens == 1 or batch == tokens * token):
        token = batch if tokens == 1 else token
        batches, tokens, batch = 1, batches * tokens, 0
    if x.heads == 1 or tokens == 1 or token == x.heads * head:
        row = token if x.heads == 1 else head
        return Heads(batches, tokens * x.heads, 1, (batch, row, 1)), True
    return Heads(batches, tokens, x.heads, (batch, token, head)), False


def rows_of_a_tile(most: int, rows: int, cores: int) -> int:
    """Returns how many heads a tile gets, so that all cores have about as many of `rows` heads."""
    turns = ceil_div(rows, cores * most)
    return ceil_div(rows, cores * turns)
