"""READMEs tell the truth: links and paths exist, sessions exist, Python examples run (style.md)."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from _repository import ROOT, components

READMES = sorted(
    path
    for folder in (ROOT, ROOT / "shared", ROOT / "packages", ROOT / "tools", ROOT / "ci")
    for path in (folder.glob("*.md") if folder == ROOT else folder.rglob("*.md"))
    if "_shared" not in path.parts
)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)\)")
PATH = re.compile(r"`((?:packages|shared|tools|ci)/[\w./-]+)`")
SESSION = re.compile(r"nox -s \"?'?(\w+)(?:\((\w+)\))?")
EXAMPLES = [
    pytest.param(block, id=f"{path.relative_to(ROOT)}-{number}")
    for path in [ROOT / "README.md", *(ROOT / "packages" / c / "README.md" for c in components())]
    for number, block in enumerate(BLOCK.findall(path.read_text()))
]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("readme", READMES, ids=name)
def test_links_and_paths_exist(readme):
    text = readme.read_text()
    targets = [readme.parent / link for link in LINK.findall(text) if "://" not in link]
    targets += [ROOT / path for path in PATH.findall(text)]
    assert [str(target) for target in targets if not target.exists()] == []


def test_sessions_exist():
    command = [sys.executable, "-m", "nox", "--list", "-f", str(ROOT / "noxfile.py")]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    known = set(re.findall(r"^[-*] (\w+)", listed, re.MULTILINE))
    for readme in READMES:
        for session, component in SESSION.findall(readme.read_text()):
            assert session in known, readme
            assert component in ("", "shared", *components()), readme


@pytest.mark.parametrize("block", EXAMPLES)
def test_examples_run(block, tmp_path):
    script = tmp_path / "example.py"
    script.write_text(block)
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
