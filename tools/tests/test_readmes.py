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
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)\)")
PATH = re.compile(r"`((?:packages|shared|tools|ci)/[\w./-]+)`")
SESSION = re.compile(r"nox -s \"?'?(\w+)(?:\((\w+)\))?")
EXAMPLES = [ROOT / "README.md", *(ROOT / "packages" / c / "README.md" for c in components())]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("readme", READMES, ids=name)
def test_links_and_paths_exist(readme):
    text = readme.read_text()
    targets = [
        readme.parent / link for link in LINK.findall(CODE.sub("", text)) if "://" not in link
    ]
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


@pytest.mark.parametrize("readme", EXAMPLES, ids=name)
def test_examples_run(readme, tmp_path):
    """All blocks in order, as one program: later ones may use names of earlier ones."""
    script = tmp_path / "example.py"
    script.write_text("\n".join(BLOCK.findall(readme.read_text())))
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_first_example_of_deep_jit_is_also_a_program():
    package = ROOT / "packages" / "deep_jit"
    program = (package / "examples" / "00_scale.py").read_text()
    assert program.endswith(BLOCK.findall((package / "README.md").read_text())[0])
