"""The examples run on CPU tensors and match torch, also under all checkers, without a report."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import deep_jit

FOLDER = Path(__file__).parents[3] / "packages" / "deep_jit" / "examples" / "tilelang"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))

pytestmark = [pytest.mark.needs_tilelang, pytest.mark.timeout(300)]


def test_there_is_one_for_each_feature():
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize("checks", ["none", "all"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, checks):
    main = runpy.run_path(str(FOLDER / f"{name}.py"))["main"]
    with deep_jit.emulator(checks=checks):
        main()
