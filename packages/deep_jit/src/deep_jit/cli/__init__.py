"""The program `deep-jit`: doctor, warm, cache and run.

Exit status: 0 = done, 1 = it failed or found something bad, 2 = wrong use of the command line.
`doctor` starts without click, so that it prints even where a dependency is broken.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Runs the program on the arguments of this process and exits."""
    if sys.argv[1:2] == ["doctor"]:
        from .doctor import run_doctor

        sys.exit(run_doctor(sys.argv[2:]))
    from .app import app

    app(prog_name="deep-jit")
