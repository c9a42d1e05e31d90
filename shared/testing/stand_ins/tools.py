"""The programs behind the stand-in `bisheng` and `ld.lld` (architecture.md section 7).

Called as `python -m <component>._shared.testing.stand_ins.tools <tool> <toolkit home> <argv...>`.
Comments of the source steer the compiler:

    // stand-in: exit 3 some text      print the text, fail with this status
    // stand-in: empty                 the linked binary is empty
    // stand-in: nothing               the linker writes no binary
    // stand-in: sleep 30              wait that many seconds first
"""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

from ...jit.errors import Error
from .objects import aicpu_object, emulated_object, named_object
from .toolkit import StandInToolkit

__all__ = ["main"]

_DIRECTIVE = re.compile(r"^// stand-in: (\w+) ?(\d*) ?(.*)$", re.MULTILINE)

_NOTHING = b"the linker writes nothing"
_LINK_RESULTS = {"empty": b"", "nothing": _NOTHING}


def main(arguments: list[str]) -> int:
    """Runs one tool; returns its exit status."""
    tool, home, *argv = arguments
    toolkit = StandInToolkit(Path(home))
    toolkit.record(tool, argv, os.getcwd())
    if argv == ["--version"]:
        # NOTE: the version is part of the key, and the two modes compile different things
        mode = ", emulating" if toolkit.config.emulate else ""
        print(f"{tool} stand-in {toolkit.config.version}{mode}")
        return 0
    return _compile(toolkit, argv) if tool == "bisheng" else _link(argv)


def _compile(toolkit: StandInToolkit, argv: list[str]) -> int:
    source = Path(next(word for word in argv if word.endswith(".asc")))
    output = Path(argv[argv.index("-o") + 1])
    text = source.read_text()
    for action, number, rest in _DIRECTIVE.findall(text):
        if action == "sleep":
            time.sleep(int(number))
        elif action == "exit":
            print(rest, file=sys.stderr)
            return int(number)
        elif action in _LINK_RESULTS:
            output.write_bytes(_LINK_RESULTS[action])
            return 0
    if "-S" in argv:
        output.write_text("// assembly of the AICPU kernel\n")
        return 0
    if "-save-temps" in argv:
        Path("kernel-aicore.asci").write_text("// assembly of the kernel\n")
    try:
        output.write_bytes(_object(toolkit, argv, text))
    except Error as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _object(toolkit: StandInToolkit, argv: list[str], text: str) -> bytes:
    if "--cce-aicpu-only" in argv:
        return aicpu_object(text)
    if toolkit.config.emulate:
        return emulated_object(text, argv, Path(toolkit.config.cache_dir))
    return named_object(text)


def _link(argv: list[str]) -> int:
    content = Path(next(word for word in argv if word.endswith(".rel.o"))).read_bytes()
    if content != _NOTHING:
        Path(argv[argv.index("-o") + 1]).write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
