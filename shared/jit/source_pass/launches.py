"""Launches in host code (ascend_c_cube.md section 1, row "Launch").

    k<M, N><<<blocks, ub, stream>>>(a, b);
->  launch("k<M, N>", 1, 0, [&](auto... asc_emu_args) { k<M, N>(asc_emu_args...); },
           config(blocks, ub, stream), a, b);

With four values, `<<<grid, threads, ub, stream>>>`, the kernel is a SIMT function on vector cores.

Only text around the brackets is inserted, so line breaks stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .kernels import Roles, infer_roles, last_component
from .scan import Edits, Source, normalised, skip_blanks

__all__ = ["rewrite_launches"]

_OPEN = "<<<"
_CLOSE = re.compile(r">>>|[(\[{]")
_NAME_BEFORE = re.compile(r"(?:::\s*)?(?:[A-Za-z_]\w*\s*::\s*)*(?:template\s+)?[A-Za-z_]\w*\s*$")


def rewrite_launches(source: Source, roles: Mapping[str, Roles], edits: Edits) -> int:
    """Rewrites every `kernel<<<...>>>(...)`; returns how many there were."""
    code = source.code
    count = 0
    at = 0
    while (opening := code.find(_OPEN, at)) >= 0:
        start = _kernel_start(source, opening)
        config_end = _config_end(source, opening + len(_OPEN))
        arguments = skip_blanks(code, config_end + len(_OPEN)) if config_end >= 0 else -1
        closing = source.closing(arguments) if code[arguments : arguments + 1] == "(" else -1
        if start < 0 or closing < 0:
            raise source.error(
                opening,
                "cannot read this launch; "
                "allowed: kernel<<<numBlocks, ubBytes, stream>>>(arguments)",
            )
        simt = _check_config(source, opening + len(_OPEN), config_end) == 3
        expression = normalised(code[start:opening])
        num_aic, num_aiv = roles.get(last_component(expression)) or infer_roles(code)
        if simt:
            num_aic, num_aiv = 0, 1
        quoted = expression.replace("\\", "\\\\").replace('"', '\\"')
        edits.insert(
            start,
            f'::asc_emu::program::launch("{quoted}", {num_aic}, {num_aiv}, '
            "[=](auto... asc_emu_args) { ",
        )
        edits.replace(opening, opening + 3, "(asc_emu_args...); }, ::asc_emu::program::config(")
        edits.replace(config_end, config_end + 3, ")")
        has_arguments = skip_blanks(code, arguments + 1) < closing
        edits.replace(arguments, arguments + 1, ", " if has_arguments else " ")
        count += 1
        at = arguments
    return count


def _kernel_start(source: Source, opening: int) -> int:
    """Returns where the kernel's name starts, -1 if there is none."""
    code = source.code
    end = len(code[:opening].rstrip())
    if code[end - 1 : end] == ">":
        end = source.opening_angle(end - 1)
        if end < 0:
            return -1
    name = _NAME_BEFORE.search(code, max(0, end - 400), end)
    return name.start() if name else -1


def _config_end(source: Source, position: int) -> int:
    """Returns the position of the `>>>`, -1 if it is missing."""
    code = source.code
    at = position
    while found := _CLOSE.search(code, at):
        if found.group() == ">>>":
            return found.start()
        closing = source.closing(found.start())
        if closing < 0:
            return -1
        at = closing + 1
    return -1


def _check_config(source: Source, start: int, end: int) -> int:
    """Returns the number of commas of a launch's configuration."""
    commas = depth = 0
    config = source.code[start:end]
    for char in config:
        depth += (char in "([{") - (char in ")]}")
        commas += char == "," and depth == 0
    if commas not in (1, 2, 3) and "<" not in config:
        raise source.error(
            start,
            f"a launch with {commas + 1} values between <<< and >>>; allowed: "
            "<<<numBlocks, ubBytes>>>, <<<numBlocks, ubBytes, stream>>> and "
            "<<<grid, threads, ubBytes, stream>>>",
        )
    return commas
