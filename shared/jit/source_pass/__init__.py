"""Source pass: Ascend C text -> text for a host compiler and the emulator (emulator.md section 1).

One module per rewrite: `arrays`, `bases`, `loops`, `roles`, `launches`, `vector_calls`; `kernels`
lists the entry points, `scan`, `scopes`, `functions` and `declarations` are the parsing they share,
`tree` follows quoted includes.
"""

from __future__ import annotations

from .kernels import KernelDecl
from .rewrite import RewriteResult, rewrite, rewrite_headers
from .scan import SourcePassError
from .simt import rewrite_work
from .tree import RewrittenTree, rewrite_tree

__all__ = [
    "KernelDecl",
    "RewriteResult",
    "RewrittenTree",
    "SourcePassError",
    "rewrite",
    "rewrite_headers",
    "rewrite_tree",
    "rewrite_work",
]
