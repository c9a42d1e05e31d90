"""Splits a SIMT function's body into parts without barriers, and finds what lives across them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..scan import Source, skip_blanks
from .calls import Collective, check_calls, find_collectives, is_barrier
from .statements import Block, Branch, Loop, Node, Simple, Unsupported, parse_body, walk

__all__ = ["Part", "Plan", "Region", "Step", "Variable", "plan_function"]

_DECLARATION = re.compile(
    r"(?P<type>(?:(?:const|unsigned|signed|volatile|__\w+__)\s+)*[A-Za-z_][\w:]*(?:\s*<[^;=()]*?>)?"
    r"(?:\s+(?:int|long|char|short))*(?:\s*\*+)?)\s*(?<=[\s*>])(?P<name>[A-Za-z_]\w*)\s*"
    r"(?P<dims>(?:\[[^\]]*\]\s*)*)(?P<rest>=|;|\{|\()"
)
_NOT_TYPES = frozenset(("return", "else", "delete", "new", "goto", "case", "throw"))
_WORD = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
_UNIFORM = re.compile(
    r"u?int(?:8|16|32|64)_t|int|unsigned|long|size_t|bool|const|true|false|min|max|"
    r"blockIdx|gridDim|blockDim|block_idx|x|y|z"
)
_CHANGED = r"(?:\+\+|--)\s*{0}\b|(?<![\w.])(?<!->){0}\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))"


@dataclass(frozen=True)
class Variable:
    """A private variable of a thread, declared beside barriers."""

    name: str
    type: str
    dims: str
    declaration: Simple
    value: tuple[int, int] | None  # range of its initial value


@dataclass
class Part:
    """A statement of a region; `calls` are made by all lanes, before or after it."""

    node: Node
    calls: list[Collective] = field(default_factory=list)
    evaluates: bool = False  # only the arguments of the calls, for the step that follows


@dataclass
class Region:
    """Statements that each thread runs without waiting."""

    parts: list[Part] = field(default_factory=list)


@dataclass
class Step:
    """One step of all threads together: a region, calls, or control flow around steps."""

    region: Region | None = None
    calls: list[Collective] = field(default_factory=list)
    node: Loop | Branch | None = None
    then: list[Step] = field(default_factory=list)
    otherwise: list[Step] = field(default_factory=list)


@dataclass
class Plan:
    """How to run a function for all its threads.

    Attributes:
        steps: what to do, in order.
        arrays: variables that keep a value per thread from one region to another.
    """

    steps: list[Step]
    arrays: dict[str, Variable]


def plan_function(source: Source, opening: int, parameters: tuple[str, ...]) -> Plan:
    """Splits the body that opens at `opening`.

    Raises:
        Unsupported: it must run a thread at a time.
    """
    body = parse_body(source, opening)
    code = source.code
    check_calls(source, body.start, body.end)
    for name in parameters:
        if re.search(_CHANGED.format(name), code[body.start : body.end]):
            raise Unsupported(f"parameter {name} is assigned to")
    return _Planner(source, set(parameters)).plan(body)


class _Planner:
    def __init__(self, source: Source, uniform: set[str]) -> None:
        self._source = source
        self._uniform = uniform
        self._variables: dict[str, Variable] = {}

    def plan(self, body: Block) -> Plan:
        steps = self._steps(body)
        counts: dict[str, set[int]] = {name: set() for name in self._variables}
        for index, region in enumerate(_regions(steps)):
            for name in self._words(region):
                if name in counts:
                    counts[name].add(index)
        arrays = {
            name: variable
            for name, variable in self._variables.items()
            if len(counts[name]) > 1 or self._is_moved(variable, steps)
        }
        for variable in arrays.values():
            if "auto" in variable.type.split() or "const" in variable.type.split():
                raise Unsupported(f"variable {variable.name} of type {variable.type}")
        return Plan(steps, arrays)

    def _steps(self, block: Block) -> list[Step]:
        steps: list[Step] = []
        region = Region()

        def close() -> None:
            nonlocal region
            if region.parts:
                steps.append(Step(region=region))
            region = Region()

        for node in block.children:
            if isinstance(node, Simple):
                if is_barrier(self._source, node.start, node.end):
                    close()
                    continue
                self._declare(node)
                calls = find_collectives(self._source, node.start, node.end)
                if calls:
                    region.parts.append(Part(node, calls, evaluates=True))
                    close()
                    steps.append(Step(calls=calls))
                region.parts.append(Part(node, calls))
            elif self._waits(node):
                close()
                steps += self._control(node)
            else:
                region.parts.append(Part(node))
        close()
        return steps

    def _control(self, node: Node) -> list[Step]:
        if isinstance(node, Block):
            return self._steps(node)
        if isinstance(node, Loop):
            variable = self._loop_variable(node)
            self._check_uniform(node.head, "loop")
            if re.search(
                _CHANGED.format(variable), self._source.code[node.body.start : node.body.end]
            ):
                raise Unsupported(f"loop variable {variable} is assigned to")
            return [Step(node=node, then=self._steps(node.body))]
        assert isinstance(node, Branch)
        self._check_uniform(node.condition, "branch")
        otherwise = self._steps(node.otherwise) if node.otherwise is not None else []
        return [Step(node=node, then=self._steps(node.then), otherwise=otherwise)]

    def _waits(self, node: Node) -> bool:
        for below in walk(node):
            if isinstance(below, Simple) and (
                is_barrier(self._source, below.start, below.end)
                or find_collectives(self._source, below.start, below.end)
            ):
                return True
        for below in walk(node):  # conditions and heads
            if isinstance(below, Loop) and find_collectives(self._source, *below.head):
                raise Unsupported("a warp operation in the head of a loop")
            if isinstance(below, Branch) and find_collectives(self._source, *below.condition):
                raise Unsupported("a warp operation in a condition")
        return False

    def _loop_variable(self, node: Loop) -> str:
        match = _DECLARATION.match(self._source.code, skip_blanks(self._source.code, node.head[0]))
        if match is None:
            raise Unsupported("a barrier in a loop without its own variable")
        name = match.group("name")
        self._uniform.add(name)
        return name

    def _check_uniform(self, head: tuple[int, int], what: str) -> None:
        if "[" in self._source.code[head[0] : head[1]]:
            raise Unsupported(f"a barrier in a {what} that depends on memory")
        for match in _WORD.finditer(self._source.code, *head):
            word = match.group()
            if word not in self._uniform and not _UNIFORM.fullmatch(word):
                raise Unsupported(f"a barrier in a {what} that depends on {word}")

    def _declare(self, node: Simple) -> None:
        code = self._source.code
        match = _DECLARATION.match(code, node.start, node.end)
        if match is None or match.group("type").split()[0] in _NOT_TYPES:
            return
        name = match.group("name")
        rest = match.group("rest")
        if rest in "{(" or name in self._variables or name in self._uniform:
            raise Unsupported(f"declaration of {name}")
        value = (match.end(), node.end - 1) if rest == "=" else None
        if value is None and match.end() != node.end:
            raise Unsupported(f"declaration of {name}")
        if value is not None and match.group("dims").strip():
            raise Unsupported(f"initial value of array {name}")
        self._variables[name] = Variable(
            name, match.group("type").strip(), match.group("dims").strip(), node, value
        )

    def _words(self, region: Region) -> set[str]:
        code = self._source.code
        words: set[str] = set()
        for part in region.parts:
            words |= set(_WORD.findall(code[part.node.start : part.node.end]))
        return words

    def _is_moved(self, variable: Variable, steps: list[Step]) -> bool:
        """Whether the declaration itself holds a call of all lanes."""
        return any(
            part.node is variable.declaration and part.calls
            for region in _regions(steps)
            for part in region.parts
        )


def _regions(steps: list[Step]) -> Iterator[Region]:
    for step in steps:
        if step.region is not None:
            yield step.region
        yield from _regions(step.then)
        yield from _regions(step.otherwise)
