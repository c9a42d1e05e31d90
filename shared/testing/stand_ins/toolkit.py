"""Builds a folder that looks like an installed Ascend toolkit (architecture.md section 7)."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..._component import component_name

__all__ = ["CONFIG_NAME", "StandInConfig", "StandInToolkit", "build_toolkit"]

CONFIG_NAME = "stand_in.json"
_JOURNAL_NAME = "commands.jsonl"


@dataclass(frozen=True)
class StandInConfig:
    """What the stand-in tools read from their toolkit folder.

    Attributes:
        emulate: compile kernels for the emulator; otherwise only their names are found, which is
            fast and enough for everything but results.
        version: text of the compiler's `--version`.
        cache_dir: JIT cache root of the emulator builds.
    """

    emulate: bool = False
    version: str = "1.0"
    cache_dir: str = ""


@dataclass(frozen=True)
class StandInToolkit:
    """One built toolkit folder."""

    home: Path

    @property
    def config(self) -> StandInConfig:
        """The settings of the tools."""
        return StandInConfig(**json.loads((self.home / CONFIG_NAME).read_text()))

    def commands(self, *, tool: str | None = None, versions: bool = False) -> list[dict[str, Any]]:
        """Returns the recorded commands in order: `tool`, `argv` (without the program), `cwd`.

        Args:
            tool: only those of this tool.
            versions: also those that only ask for the version.
        """
        journal = self.home / _JOURNAL_NAME
        lines = journal.read_text().splitlines() if journal.exists() else []
        records = [json.loads(line) for line in lines]
        return [
            record
            for record in records
            if tool in (None, record["tool"]) and (versions or record["argv"] != ["--version"])
        ]

    def forget_commands(self) -> None:
        """Empties the journal."""
        (self.home / _JOURNAL_NAME).unlink(missing_ok=True)

    def record(self, tool: str, argv: list[str], cwd: str) -> None:
        """Adds one command to the journal (the tools call it)."""
        line = json.dumps({"tool": tool, "argv": argv, "cwd": cwd}) + "\n"
        with (self.home / _JOURNAL_NAME).open("a") as journal:
            journal.write(line)


def build_toolkit(
    home: Path, config: StandInConfig, *, library_cache: Path | None = None, arch: str = "aarch64"
) -> StandInToolkit:
    """Writes a toolkit folder.

    Args:
        home: the folder to create.
        config: settings of the tools.
        library_cache: where the compiled ACL stand-in is kept; None = a toolkit without ACL.
        arch: machine in the name of the header folder.
    """
    (home / f"{arch}-linux" / "asc" / "include" / "adv_api").mkdir(parents=True)
    (home / "bin").mkdir()
    (home / CONFIG_NAME).write_text(json.dumps(asdict(config)))
    for tool in ("bisheng", "ld.lld"):
        _write_tool(home, tool)
    if library_cache is not None:
        from .acl_library import build_acl_library  # keeps the tools' start short

        (home / "lib64").mkdir()
        shutil.copy2(build_acl_library(library_cache), home / "lib64" / "libascendcl.so")
    return StandInToolkit(home)


def _write_tool(home: Path, tool: str) -> None:
    module = f"{component_name()}._shared.testing.stand_ins.tools"
    words = [sys.executable, "-m", module, tool, str(home)]
    script = home / "bin" / tool
    script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    script.chmod(0o755)
