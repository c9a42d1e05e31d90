"""Writes the function that runs all threads of a block in one call."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..scan import Source
from .analysis import Plan, Region, Step
from .calls import Collective
from .statements import Branch, Loop, Node, walk

__all__ = ["emit_function"]

_WORD = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
_UNROLL = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+unroll[ \t]*$")
_PAIR = r"\*\s*\(\s*\w+[234](?:_t)?\s*\*\s*\)\s*\(*\s*(?:{})\b"
_NAMESPACE = "::asc_emu::simt::lanes::"


def emit_function(source: Source, name: str, parameters: str, plan: Plan) -> str:
    """Returns the text of the function `name`, with the line directives of what it was made of."""
    return _Emitter(source, plan).function(name, parameters)


class _Emitter:
    def __init__(self, source: Source, plan: Plan) -> None:
        self._source = source
        self._plan = plan
        self._values: dict[int, str] = {}  # start of a call -> name of its array
        self._lines: list[str] = []

    def function(self, name: str, parameters: str) -> str:
        self._add(f'__attribute__((optimize("O3"))) void {name}({parameters}) {{')
        self._add(f"const {_NAMESPACE}Threads asc_emu_threads;")
        for variable in self._plan.arrays.values():
            kind = f"{variable.type}{variable.dims}"
            self._add(f"{_NAMESPACE}Array<{kind}> asc_emu_of_{variable.name}(asc_emu_threads);")
        self._steps(self._plan.steps)
        self._add("}")
        return "\n".join(self._lines)

    def _add(self, text: str) -> None:
        self._lines.append(text)

    def _place(self, position: int) -> None:
        path = self._source.path.replace("\\", "\\\\").replace('"', '\\"')
        self._add(f'#line {self._source.line(position)} "{path}"')

    def _text(self, start: int, end: int) -> str:
        return self._source.text[start:end]

    def _steps(self, steps: list[Step]) -> None:
        for step in steps:
            if step.region is not None:
                self._region(step.region)
            elif step.node is not None:
                self._control(step)
            for call in step.calls:
                self._call(call)

    def _control(self, step: Step) -> None:
        node = step.node
        assert node is not None
        self._place(node.start)
        if isinstance(node, Loop):
            self._add(f"for ({self._text(*node.head)}) {{")
            self._steps(step.then)
            self._add("}")
            return
        self._add(f"if ({self._text(*node.condition)}) {{")
        self._steps(step.then)
        if node.otherwise is not None:
            self._add("} else {")
            self._steps(step.otherwise)
        self._add("}")

    def _call(self, call: Collective) -> None:
        self._place(call.start)
        self._add(f"{self._values[call.start]}.run(asc_emu_threads);")

    def _region(self, region: Region) -> None:
        for part in region.parts:
            if part.evaluates:
                for call in part.calls:
                    self._declare_values(call)
        words: set[str] = set()
        for part in region.parts:
            words |= set(_WORD.findall(self._source.code[part.node.start : part.node.end]))
        arrays = [variable for variable in self._plan.arrays if variable in words]
        self._add("{ const auto asc_emu_local = asc_emu_threads;")
        for variable in arrays:
            self._add(f"auto* asc_emu_at_{variable} = asc_emu_of_{variable}.data();")
        # NOTE: pointers that advance, since the compiler does not see that places found by an index
        # are neighbours.
        steps = ", ".join(f"++asc_emu_at_{variable}" for variable in arrays)
        self._add("for (uint32_t asc_emu_lane = 0; asc_emu_lane < asc_emu_local.count;")
        self._add(f"     {', '.join(filter(None, ['++asc_emu_lane', steps]))}) {{")
        self._add("ASC_EMU_SIMT_LANE(asc_emu_lane);")
        if self._works_on_pairs(region):
            # Vector code over each lane's array, not over lanes, whose arrays are apart.
            self._add('asm volatile("");')
        if "threadIdx" in words:
            self._add("const uint3 threadIdx = asc_emu_local.index(asc_emu_lane);")
        for variable in arrays:
            self._add(f"auto& {variable} = *asc_emu_at_{variable};")
        for part in region.parts:
            self._place(part.node.start)
            if part.evaluates:
                for call in part.calls:
                    self._arguments(call)
            else:
                self._statement(part.node, part.calls)
        self._add("} }")

    def _works_on_pairs(self, region: Region) -> bool:
        """Whether straight-line code reads or writes neighbours in private arrays together."""
        if any(isinstance(node, Branch) for part in region.parts for node in walk(part.node)):
            return False
        arrays = (variable.name for variable in self._plan.arrays.values() if variable.dims)
        pair = re.compile(_PAIR.format("|".join(map(re.escape, arrays)) or "(?!)"))
        return any(
            pair.search(self._source.code, part.node.start, part.node.end) for part in region.parts
        )

    def _declare_values(self, call: Collective) -> None:
        name = self._values[call.start] = f"asc_emu_value_{len(self._values)}"
        self._add(f"{_NAMESPACE}RunOperation {name}_run = nullptr;")
        self._add(
            f"const {_NAMESPACE}Scratch {name}_memory("
            f"{_NAMESPACE}Values::bytes(asc_emu_threads.count));"
        )
        self._add(
            f"const {_NAMESPACE}Values {name}({name}_memory, asc_emu_threads.count, &{name}_run);"
        )

    def _arguments(self, call: Collective) -> None:
        words = [self._text(*argument).strip() for argument in call.arguments[: call.used]]
        array, kind = self._values[call.start], f"{_NAMESPACE}{call.function}"
        brought = "".join(f", {word}" for word in words)
        self._add(f"{array}.bring<{kind}, {self._type(call)}>(asc_emu_lane{brought});")

    def _type(self, call: Collective) -> str:
        """The type of the call's result, from the call itself."""
        return f"decltype({self._text(call.start, call.end)})"

    def _statement(self, node: Node, calls: list[Collective]) -> None:
        variable = next(
            (v for v in self._plan.arrays.values() if v.declaration is node),
            None,
        )
        if variable is not None:
            if variable.value is None:
                return
            self._add(f"{variable.name} = {self._with_results(*variable.value, calls)};")
            return
        if self._unroll_before(node) is not None:
            self._add("#pragma GCC unroll 64")
        self._add(self._with_results(node.start, node.end, calls, self._unrolls(node)))

    def _unroll_before(self, node: Node) -> tuple[int, int] | None:
        """The range of the line `#pragma unroll` in front of a loop."""
        text = self._source.text
        end = len(text[: node.start].rstrip())
        start = text.rfind("\n", 0, end) + 1
        return (start, end) if _UNROLL.match(text[start:end]) else None

    def _unrolls(self, statement: Node) -> list[tuple[int, int, str]]:
        """Replacements of the unroll pragmas inside a statement.

        Innermost loops go without: written out they keep the compiler from making them vector
        code, and it unrolls short ones by itself.
        """
        found = []
        for node in walk(statement):
            if isinstance(node, Loop) and node is not statement:
                place = self._unroll_before(node)
                if place is not None:
                    found.append((*place, "#pragma GCC unroll 64"))
        return found

    def _with_results(
        self,
        start: int,
        end: int,
        calls: list[Collective],
        others: Sequence[tuple[int, int, str]] = (),
    ) -> str:
        replaced = [
            (
                call.start,
                call.end,
                f"{self._values[call.start]}.result<{self._type(call)}>(asc_emu_lane)",
            )
            for call in calls
        ]
        pieces = []
        at = start
        for first, last, text in sorted([*replaced, *others]):
            pieces += [self._text(at, first), text]
            at = last
        pieces.append(self._text(at, end))
        return "".join(pieces)


def _holds_loop(node: Node) -> bool:
    return any(isinstance(below, Loop) for below in walk(node) if below is not node)
