"""Compiles each public C++ header alone, so that none leans on what another one included.

Usage: check_headers.py [HEADER...]; without arguments: `mad`, the emulated API and the headers of
the components (architecture.md section 3). The compiler is that of DJ_JIT_HOST_COMPILER, or g++.
"""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from _repository import PACKAGES, ROOT, SHARED

FLAGS = ("-std=c++20", "-fsyntax-only", "-fno-strict-aliasing", "-Wall", "-Wextra", "-x", "c++")
EMULATED = SHARED / "include" / "ascend_emu"


def headers() -> list[Path]:
    """Returns the headers that users and kernels include."""
    folders = [SHARED / "include" / "mad", *EMULATED.iterdir()]
    folders += PACKAGES.glob("*/src/*/include")
    found = [EMULATED / "kernel_operator.h"] if (EMULATED / "kernel_operator.h").exists() else []
    for folder in folders:
        if folder.is_dir() and folder.name != "asc_emu":
            found += sorted(path for path in folder.rglob("*.h*") if "detail" not in path.parts)
    return found


def include_flags() -> list[str]:
    """Returns the include flags of a kernel for target cpu."""
    folders = [EMULATED, SHARED / "include", *sorted(PACKAGES.glob("*/src/*/include"))]
    return [f"-I{folder}" for folder in folders]


def compile_alone(header: Path) -> str:
    """Compiles a file that includes only `header`; returns the compiler's complaints."""
    compiler = os.environ.get("DJ_JIT_HOST_COMPILER") or "g++"
    command = [compiler, *FLAGS, *include_flags(), "-"]
    text = f'#include "{header}"\n'
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.stderr


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True))
def main(files: tuple[Path, ...]) -> None:
    """Compile FILES, or all public headers, each on its own."""
    chosen = [path.resolve() for path in files] or headers()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(zip(chosen, pool.map(compile_alone, chosen), strict=True))
    failed = [f"{path.relative_to(ROOT)}:\n{output}" for path, output in results if output]
    if failed:
        raise click.ClickException("\n".join(failed))
    print(f"headers: {len(chosen)} compile alone without a warning")


if __name__ == "__main__":
    main()
