"""Changelog fragments: names, length, and one for each wheel that changes (style.md section 8)."""

import pytest

import check_changelog

NAMES = ["deep_gemm", "deep_jit"]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("12.added.md", "Add the M-grouped kernels.\n", None),
        ("+scaffold.fixed.md", "Fix tails.\n", None),
        ("12.feature.md", "Add it.\n", "wanted <issue>.<type>.md"),
        ("12.added.txt", "Add it.\n", "wanted <issue>.<type>.md"),
        ("added.md", "Add it.\n", "wanted <issue>.<type>.md"),
        ("12.added.md", "", "0 lines"),
        ("12.added.md", "Add it.\nAnd that.\n", "2 lines"),
        ("12.added.md", "x" * 80 + "\n", "80 characters; wanted at most 79"),
    ],
)
def test_fragment(tmp_path, name, text, problem):
    path = tmp_path / name
    path.write_text(text)
    found = check_changelog.check_fragment(path)
    assert bool(found) == (problem is not None)
    assert problem is None or problem in found[0]


@pytest.mark.parametrize(
    ("files", "changed"),
    [
        (["README.md", "ci/run.sh"], []),
        (["shared/jit/key.py"], NAMES),
        (["shared/tests/jit/test_key.py"], []),
        (["packages/deep_jit/src/deep_jit/cli.py"], ["deep_jit"]),
        (["packages/deep_jit/tests/unit/test_cli.py"], []),
        (["packages/deep_gemm/README.md"], ["deep_gemm"]),
        (["packages/deep_gemm/changelog.d/3.added.md"], []),
    ],
)
def test_which_wheels_change(files, changed):
    assert check_changelog.changed_components(files, NAMES) == changed


def test_a_change_in_shared_wants_a_fragment_in_each_component():
    files = ["shared/jit/key.py", "packages/deep_jit/changelog.d/3.fixed.md"]
    (problem,) = check_changelog.check_changes(files, NAMES)
    assert problem.startswith("packages/deep_gemm changed without a fragment")
    files.append("packages/deep_gemm/changelog.d/3.fixed.md")
    assert check_changelog.check_changes(files, NAMES) == []
