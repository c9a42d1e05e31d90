"""Integer expressions of a lowered kernel: grids, shapes and strides over dynamic symbols.

An expression is an `int`, the name of a symbol, or `[operator, operand, ...]`: plain JSON, so that
a second process evaluates them without TileLang (emulator.md section 7).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..errors import ArgumentError, CompileError

__all__ = ["Expression", "encode", "evaluate", "symbols_of", "text"]

Expression: TypeAlias = int | str | list[Any]


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_OPERATORS: dict[str, Callable[..., int]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "FloorDiv": lambda a, b: a // b,
    "FloorMod": lambda a, b: a % b,
    "Div": _truncated,
    "Mod": lambda a, b: a - b * _truncated(a, b),
    "Min": min,
    "Max": max,
    "EQ": lambda a, b: int(a == b),
    "NE": lambda a, b: int(a != b),
    "LT": lambda a, b: int(a < b),
    "LE": lambda a, b: int(a <= b),
    "GT": lambda a, b: int(a > b),
    "GE": lambda a, b: int(a >= b),
    "And": lambda a, b: int(bool(a) and bool(b)),
    "Or": lambda a, b: int(bool(a) or bool(b)),
    "Not": lambda a: int(not a),
    "Select": lambda c, a, b: a if c else b,
}
_SIGNS = {"Add": "+", "Sub": "-", "Mul": "*", "FloorDiv": "//", "FloorMod": "%"}


def encode(node: Any, what: str) -> Expression:
    """Returns the expression of a TIR node.

    Args:
        node: an integer, or a node of TileLang's IR.
        what: what it is for, for errors.

    Raises:
        CompileError: it has a part that cannot be computed on the host.
    """
    if isinstance(node, int):
        return node
    kind = type(node).__name__
    if kind in ("IntImm", "StringImm"):
        return int(node.value)
    if kind in ("Var", "SizeVar"):
        return str(node.name)
    if kind == "Cast":
        return encode(node.value, what)
    if kind == "Select":
        parts = (node.condition, node.true_value, node.false_value)
        return ["Select", *(encode(part, what) for part in parts)]
    if kind == "Not":
        return ["Not", encode(node.a, what)]
    if kind in _OPERATORS:
        return [kind, encode(node.a, what), encode(node.b, what)]
    if kind == "Call" and "if_then_else" in str(node.op):
        return ["Select", *(encode(part, what) for part in node.args)]
    raise CompileError(
        f"{what} is {node}, which holds a {kind}; allowed are integers, dynamic symbols and "
        "arithmetic on them"
    )


def evaluate(expression: Expression, symbols: Mapping[str, int]) -> int:
    """Returns the value under `symbols`.

    Raises:
        ArgumentError: a symbol has no value.
    """
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        if expression not in symbols:
            raise ArgumentError(
                f"symbol {expression} has no value: no tensor argument has a dimension that is "
                "just this symbol"
            )
        return symbols[expression]
    operator, *operands = expression
    return _OPERATORS[operator](*(evaluate(operand, symbols) for operand in operands))


def symbols_of(expression: Expression) -> frozenset[str]:
    """Returns the names in an expression."""
    if isinstance(expression, int):
        return frozenset()
    if isinstance(expression, str):
        return frozenset((expression,))
    return frozenset().union(*(symbols_of(operand) for operand in expression[1:]))


def text(expression: Expression) -> str:
    """Returns the expression for a message."""
    if isinstance(expression, (int, str)):
        return str(expression)
    operator, *operands = expression
    words = [text(operand) for operand in operands]
    if operator in _SIGNS:
        return f"({f' {_SIGNS[operator]} '.join(words)})"
    return f"{operator.lower()}({', '.join(words)})"
