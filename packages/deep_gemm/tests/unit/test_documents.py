"""Snippets of the documents parse, name only what exists, and links lead somewhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import deep_gemm

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def snippets(path: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_snippets_use_names_that_exist(path: Path) -> None:
    for text in snippets(path):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert node.value.id != "deep_gemm" or hasattr(deep_gemm, node.attr), node.attr


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_relative_links_exist(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / target).exists(), target


def test_the_readme_starts_with_code() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert any("bf16_gemm_nt(" in line for line in lines[:40])


def test_the_readme_names_every_public_function() -> None:
    text = (ROOT / "README.md").read_text()
    for name in ("set_num_sms", "get_num_sms", "set_npu_arch", "get_library_root_path", "emulator"):
        assert name in text
