"""The closing line of a CI run: pytest's own result files, added up."""

import subprocess
import sys

import sum_tests

TEXT = """
import pytest

def test_good(): pass
def test_skip(): pytest.skip("not now")
"""


def report(folder, name, text):
    test = folder / f"test_{name}.py"
    test.write_text(text)
    options = ("-q", "-p", "no:cacheprovider", "--rootdir", str(folder), "-c", "/dev/null")
    command = [sys.executable, "-m", "pytest", *options, f"--junit-xml={folder}/{name}.xml", test]
    subprocess.run(command, capture_output=True, check=False)


def test_reports_are_added_up(tmp_path, monkeypatch, capsys):
    report(tmp_path, "one", TEXT)
    report(tmp_path, "two", TEXT)
    assert sum_tests.count(tmp_path) == (2, 0, 2)
    monkeypatch.setattr(sys, "argv", ["sum_tests.py", str(tmp_path)])
    assert sum_tests.main() == 0
    assert capsys.readouterr().out == "2 passed, 0 failed, 2 skipped\n"
    report(tmp_path, "bad", "def test_bad(): assert False\n")
    assert sum_tests.count(tmp_path) == (2, 1, 2)
    assert sum_tests.main() == 1


def test_no_test_at_all_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["sum_tests.py", str(tmp_path)])
    assert sum_tests.main() == 1
