"""Helpers of the source pass tests: one text in, the rewritten body out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from deep_jit._shared.jit.source_pass import rewrite

Body = Callable[..., str]


@pytest.fixture
def body() -> Body:
    """Rewrites a text and returns what follows its `#line 1` directive, or the text itself."""

    def run(text: str, **options: object) -> str:
        result = rewrite(text, path="user.asc", **{"program": True, **options})
        head, marker, rest = result.text.partition('#line 1 "user.asc"\n')
        return rest if marker else head

    return run
