"""Where the scale of a block lies in memory (tile_kernels.md section 3.3).

Every layout is a contiguous matrix of *items*: numbers (fp32 or e4m3), or UE8M0 bytes of which
`pack` make a word. A kernel keeps the scales of its tile in a small matrix of the same form and
copies it to its origin in the whole one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tile_kernels.utils import ceil_div

__all__ = ["KINDS", "SfLayout"]

KINDS = ("row", "col", "packed_row", "packed_col", "packed_channel")


@dataclass(frozen=True)
class SfLayout:
    """Layout of the scales of a matrix of blocks.

    Attributes:
        kind: ``row`` items [row block, column block]; ``col`` the transpose; ``packed_row`` bytes
            [row block, column block]; ``packed_col`` words [column word, row block];
            ``packed_channel`` words [row word, column block].
        pack: bytes in a word: 1 for numbers, 2 (int16) or 4 (int32) for packed scales.
    """

    kind: str = "row"
    pack: int = 1

    @property
    def is_packed(self) -> bool:
        """Items are UE8M0 bytes."""
        return self.kind.startswith("packed")

    @property
    def is_column_major(self) -> bool:
        """Scales of one column block, or word of them, lie together."""
        return self.kind in ("col", "packed_col")

    def items(self, row_blocks: Any, col_blocks: Any) -> tuple[Any, Any]:
        """The matrix of items of so many blocks; also the position of a tile's first item."""
        if self.kind == "col":
            return col_blocks, row_blocks
        if self.kind == "packed_col":
            return _words(col_blocks, self.pack), row_blocks * self.pack
        if self.kind == "packed_channel":
            return _words(row_blocks, self.pack), col_blocks * self.pack
        if self.kind == "packed_row":
            return row_blocks, _words(col_blocks, self.pack) * self.pack
        return row_blocks, col_blocks

    def item(self, row_block: Any, col_block: Any) -> tuple[Any, Any]:
        """The position of one block's item."""
        if self.kind == "col":
            return col_block, row_block
        if self.kind == "packed_col":
            return col_block // self.pack, row_block * self.pack + col_block % self.pack
        if self.kind == "packed_channel":
            return row_block // self.pack, col_block * self.pack + row_block % self.pack
        return row_block, col_block


def _words(count: Any, pack: int) -> Any:
    # NOTE: a tile starts at a multiple of the word, so an exact expression is enough there.
    return ceil_div(count, pack) if isinstance(count, int) else count // pack
