"""Uses of file-scope names that are computed per core: each becomes an expression."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .scan import Edits, Source

__all__ = ["rewrite_uses"]


def rewrite_uses(source: Source, edits: Edits, names: Mapping[str, str]) -> None:
    """Replaces each use of a name outside the regions that are rewritten already.

    Members (`x.name`, `p->name`) are other things of the same name and stay.
    """
    if not names:
        return
    taken = sorted((start, end) for start, end, _ in edits.items)
    pattern = re.compile(rf"(?<![\w.])(?<!->)(?:{'|'.join(map(re.escape, names))})\b(?!\s*\(\s*\))")
    for use in pattern.finditer(source.code):
        if not any(start <= use.start() < end for start, end in taken):
            edits.replace(use.start(), use.end(), names[use.group()])
