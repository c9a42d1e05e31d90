"""The import rules, on this repository and on a small one that breaks each of them."""

import pytest

import check_imports


def test_this_repository_keeps_the_rules():
    assert check_imports.main() == 0


@pytest.fixture
def repository(tmp_path):
    """A function that writes a file of a repository with components `aa` and `bb`."""

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    for component, needs in (("aa", '["numpy>=1", "pyelftools"]'), ("bb", '["numpy", "torch>=2"]')):
        write(f"packages/{component}/pyproject.toml", f"[project]\ndependencies = {needs}\n")
    write.root = tmp_path
    return write


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("import os\nimport numpy as np\nfrom .jit import key\n", None),
        ("import aa\n", "imports aa; shared code imports itself relatively"),
        ("def f():\n    from bb.apis import g\n", "imports bb; shared code"),
        ("from shared.jit import key\n", "imports shared; shared code"),
        ("import torch\n", "imports torch; not a dependency of every component"),
        ("if True:\n    import torch\n", "imports torch"),
        ("def f():\n    import torch\n", None),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n", None),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None\n", None),
    ],
)
def test_rules_of_shared(repository, text, problem):
    repository("shared/jit/key.py", text)
    found = check_imports.check_shared(repository.root)
    assert len(found) == (problem is not None)
    assert problem is None or problem in found[0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("import elftools\nimport aa.x\n", None),
        ("import bb\n", "imports bb; another component is imported inside functions only"),
        ("def f():\n    import bb\n", None),
        ("import shared\n", "imports shared; write aa._shared"),
        ("import torch\n", "imports torch; not a dependency of aa"),
    ],
)
def test_rules_of_a_component(repository, text, problem):
    repository("packages/aa/src/aa/module.py", text)
    found = check_imports.check_component("aa", repository.root)
    assert len(found) == (problem is not None)
    assert problem is None or problem in found[0]


def test_help_for_tests_may_import_pytest(repository):
    repository("shared/testing/plugin.py", "import pytest\n")
    repository("packages/aa/src/aa/testing/cases.py", "import hypothesis\n")
    assert check_imports.check_shared(repository.root) == []
    assert check_imports.check_component("aa", repository.root) == []
