"""Building blocks of all TileLang kernels of the package. Importing it imports TileLang."""

# mypy: ignore-errors
# (TileLang gives annotations and names inside a kernel a meaning of their own.)
from __future__ import annotations

import tilelang.ascend.language as T

LANES = 32  # threads of a warp
THREADS = 256  # threads of a block, where nothing speaks for another number


@T.macro
def require(condition):
    """Ends the kernel with an error unless the condition holds.

    NOTE: `T.device_assert` is empty on machines without an NPU, and its template is ambiguous in
    SIMT functions there; the toolkit's assert() is what it would become.
    """
    T.evaluate(T.call_extern("int32", "assert", condition))


def pieces(count, size):
    """Returns how many pieces of `size` cover `count`, which may be negative by less than a piece.

    NOTE: floor division, as in `T.ceildiv`, becomes a shift; as the number of turns of a loop it
    costs the solver of TileLang's simplifier up to a second.
    """
    return T.truncdiv(count + (size - 1), size)


def reused(*buffers):
    """Says, inside a loop, that every access to each of these meets all others of it.

    NOTE: this is what TileLang finds out about a buffer that each turn fills anew, after asking a
    solver about every pair of accesses, at milliseconds each. It never removes a barrier.
    """
    for buffer in buffers:
        T.evaluate(T.assume_conflict(buffer))
