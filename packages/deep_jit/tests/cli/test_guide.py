"""The guide's commands print what the page says (docs/guide.md).

`pytest --update-golden` writes the real outputs, and the picture, into the page.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "guide.md"
_FILE = re.compile(r"```cpp\n(// (\w+\.asc):.*?)```", re.DOTALL)
_COMMAND = re.compile(r"```console\n\$ (.*?)\n(.*?)```", re.DOTALL)
_PROGRESS = re.compile(r"^\[deep_jit\] .*\n", re.MULTILINE)


def _outputs(folder: Path) -> list[tuple[str, str]]:
    """Runs every command of the page in a folder with its files."""
    text = PAGE.read_text()
    for content, name in _FILE.findall(text):
        (folder / name).write_text(content)
    environment = {**os.environ, "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    outputs = []
    for command, _ in _COMMAND.findall(text):
        if "--plot" in command:
            pytest.importorskip("matplotlib", reason="the guide draws a picture with matplotlib")
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        lines = _PROGRESS.sub("", done.stdout).splitlines()
        outputs.append((command, "\n".join(line.rstrip() for line in lines).strip()))
    return outputs


def _with_outputs(outputs: list[tuple[str, str]]) -> str:
    """The page with these outputs."""
    left = iter(outputs)

    def block(_: re.Match[str]) -> str:
        command, output = next(left)
        return "\n".join(filter(None, ["```console", f"$ {command}", output, "```"]))

    return _COMMAND.sub(block, PAGE.read_text())


def test_the_commands_print_what_the_page_says(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    outputs = _outputs(tmp_path)
    wanted = [(command, output.strip()) for command, output in _COMMAND.findall(PAGE.read_text())]
    if request.config.getoption("--update-golden") and outputs != wanted:
        PAGE.write_text(_with_outputs(outputs))
        (DOCS / "pictures").mkdir(exist_ok=True)
        shutil.copy(tmp_path / "tiles.png", DOCS / "pictures" / "tiles.png")
        pytest.fail("the page was rewritten; read the change and run again")
    assert outputs == wanted
    _check_trace_events(json.loads((tmp_path / "tiles.json").read_text()))


def _check_trace_events(document: dict) -> None:
    """The JSON object form of the trace-event format: complete events and metadata."""
    assert document["displayTimeUnit"] in ("ms", "ns")
    names = {"process_name", "thread_name", "process_sort_index", "thread_sort_index"}
    for event in document["traceEvents"]:
        assert event["ph"] in "XM"
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        if event["ph"] == "M":
            assert event["name"] in names
            continue
        assert isinstance(event["name"], str)
        assert event["ts"] >= 0
        assert event["dur"] >= 0
        assert isinstance(event["args"], dict)
    lanes = {(event["pid"], event["tid"]) for event in document["traceEvents"]}
    for lane in lanes:
        # Complete events of one thread must nest: these follow each other
        spans = sorted(
            (event["ts"], event["ts"] + event["dur"])
            for event in document["traceEvents"]
            if event["ph"] == "X" and (event["pid"], event["tid"]) == lane
        )
        assert all(end <= start + 2e-4 for (_, end), (start, _) in pairwise(spans))
