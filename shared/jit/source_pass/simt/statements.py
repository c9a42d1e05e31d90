"""Statements of a SIMT function's body, as far as splitting it needs them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..scan import Source, skip_blanks

__all__ = ["Block", "Branch", "Loop", "Node", "Simple", "Unsupported", "parse_body", "walk"]

_FOR = re.compile(r"for\b")
_IF = re.compile(r"if\b(?!\s*constexpr)")
_ELSE = re.compile(r"else\b")
_OTHER = re.compile(r"(?:while|do|switch|goto|return|break|continue|try|case|default|asm)\b")


class Unsupported(Exception):
    """The body has a form that is not split."""


@dataclass
class Node:
    """A statement: its range in the text."""

    start: int
    end: int


@dataclass
class Simple(Node):
    """A declaration or an expression, with its semicolon."""


@dataclass
class Block(Node):
    """A compound statement."""

    children: list[Node] = field(default_factory=list)


@dataclass
class Loop(Node):
    """A `for` statement; `head` is the range between its parentheses."""

    head: tuple[int, int]
    body: Block


@dataclass
class Branch(Node):
    """An `if` statement; `condition` is the range between its parentheses."""

    condition: tuple[int, int]
    then: Block
    otherwise: Block | None


def parse_body(source: Source, opening: int) -> Block:
    """Reads the compound statement that opens at `opening`.

    Raises:
        Unsupported: it has another statement than declarations, expressions, `for` and `if`.
    """
    return _block(source, opening)


def walk(node: Node) -> Iterator[Node]:
    """Yields a node and all below it."""
    yield node
    if isinstance(node, Block):
        for child in node.children:
            yield from walk(child)
    elif isinstance(node, Loop):
        yield from walk(node.body)
    elif isinstance(node, Branch):
        yield from walk(node.then)
        if node.otherwise is not None:
            yield from walk(node.otherwise)


def _block(source: Source, opening: int) -> Block:
    closing = source.closing(opening)
    if closing < 0:
        raise Unsupported("unbalanced braces")
    block = Block(opening, closing + 1)
    at = skip_blanks(source.code, opening + 1)
    while at < closing:
        node = _statement(source, at)
        block.children.append(node)
        at = skip_blanks(source.code, node.end)
    return block


def _statement(source: Source, start: int) -> Node:
    code = source.code
    if code[start] == "{":
        return _block(source, start)
    if _FOR.match(code, start):
        head, at = _parentheses(source, start)
        body = _body(source, at)
        return Loop(start, body.end, head, body)
    if _IF.match(code, start):
        return _branch(source, start)
    if _OTHER.match(code, start):
        raise Unsupported(code[start : start + 20].split()[0])
    end = _semicolon(source, start)
    return Simple(start, end)


def _branch(source: Source, start: int) -> Branch:
    condition, at = _parentheses(source, start)
    then = _body(source, at)
    following = skip_blanks(source.code, then.end)
    if not _ELSE.match(source.code, following):
        return Branch(start, then.end, condition, then, None)
    otherwise = _body(source, following + 4)
    return Branch(start, otherwise.end, condition, then, otherwise)


def _parentheses(source: Source, start: int) -> tuple[tuple[int, int], int]:
    opening = source.code.find("(", start)
    closing = source.closing(opening) if opening >= 0 else -1
    if closing < 0:
        raise Unsupported("unbalanced parentheses")
    return (opening + 1, closing), closing + 1


def _body(source: Source, position: int) -> Block:
    start = skip_blanks(source.code, position)
    if source.code[start] == "{":
        return _block(source, start)
    node = _statement(source, start)
    return Block(node.start, node.end, [node])


def _semicolon(source: Source, start: int) -> int:
    code = source.code
    at = start
    while at < len(code):
        char = code[at]
        if char == ";":
            return at + 1
        if char in "([{":
            at = source.closing(at)
            if at < 0:
                raise Unsupported("unbalanced brackets")
        elif char in ")]}":
            raise Unsupported("a statement without semicolon")
        at += 1
    raise Unsupported("a statement without end")
