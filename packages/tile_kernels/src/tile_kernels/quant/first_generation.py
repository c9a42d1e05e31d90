"""Calls in the form of the library's first generation (tile_kernels.md sections 16 and 17).

Where the two generations share a name, the parameters are those of the second; a call with
arguments that only the first one had is recognised and handed on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

__all__ = ["also_accepts", "block_size_at"]

Function = TypeVar("Function", bound=Callable[..., Any])


def also_accepts(
    first: Callable[..., Any],
    keywords: Sequence[str],
    is_first: Callable[[tuple[Any, ...]], bool] = lambda args: False,
) -> Callable[[Function], Function]:
    """Decorator of a function that also takes the arguments of the first generation.

    Args:
        first: what such calls go to.
        keywords: parameters that only the first generation had.
        is_first: tells from the positional arguments.
    """

    def wrap(function: Function) -> Function:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if any(name in kwargs for name in keywords) or is_first(args):
                return first(*args, **kwargs)
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return wrap


def block_size_at(position: int) -> Callable[[Function], Function]:
    """Decorator: x_block_size, a keyword now, may stand where the first generation had it."""

    def wrap(function: Function) -> Function:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) > position and (
                args[position] is None or isinstance(args[position], (tuple, list))
            ):
                kwargs["x_block_size"] = args[position]
                args = args[:position] + args[position + 1 :]
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return wrap
