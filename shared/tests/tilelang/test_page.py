"""The page "write a TileLang kernel and run it without an NPU" runs as a user would run it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "packages" / "deep_jit" / "docs" / "tilelang.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M)

pytestmark = [pytest.mark.needs_tilelang, pytest.mark.timeout(300)]


def test_the_page_has_a_program():
    assert any("deep_jit.tilelang" in block for block in BLOCKS)


@pytest.mark.parametrize("checks", ["none", "all"])
@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_programs_of_the_page_run_outside_the_repository(tmp_path, block, checks):
    program = tmp_path / "add.py"
    program.write_text(block)
    done = subprocess.run(
        [sys.executable, program],
        cwd=tmp_path,
        env={**os.environ, "DJ_EMU_CHECKS": checks},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Warning" not in done.stderr, done.stderr
