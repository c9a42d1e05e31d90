"""Verdicts of mutants: kept from run to run, and made in processes that survive what they judge."""

import json
import os
from pathlib import Path

import pytest

from mutation import worker
from mutation.verdicts import Verdicts


@pytest.fixture
def verdicts(tmp_path):
    return Verdicts(tmp_path / "kept", "emulator 1")


def test_a_verdict_is_found_again(verdicts, tmp_path):
    source = tmp_path / "a.py"
    source.write_text("x = 1")
    key = verdicts.key_of([("k.asc", "text")], [source])
    assert verdicts.find(key) is None
    verdicts.keep(key, "racecheck", "race on UB")
    assert verdicts.find(key) == ("racecheck", "race on UB")
    assert Verdicts(None, "emulator 1").find(key) is None


def test_a_timeout_is_not_kept(verdicts):
    verdicts.keep("ab", "timeout", "longer than 1 s")
    assert verdicts.find("ab") is None


def test_the_key_follows_everything_that_decides(verdicts, tmp_path):
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("x = 1")
    other.write_text("x = 2")
    texts = [("k.asc", "text")]
    keys = {
        verdicts.key_of(texts, [one]),
        verdicts.key_of(texts, [other]),
        verdicts.key_of([("k.asc", "text ")], [one]),
        verdicts.key_of([("j.asc", "text")], [one]),
        Verdicts(None, "emulator 2").key_of(texts, [one]),
    }
    assert len(keys) == 5
    assert verdicts.key_of(texts, [one]) in keys


class Judged:
    """A subject that does what the name of the edited file says."""

    def prepare(self, folder, checked):
        (folder / "a.hpp").write_text("checked" if checked else "plain")
        return ["a.hpp"]

    def judge(self, folder, file):
        if file == "dies":
            os.write(2, b"last words")
            os._exit(3)
        if file == "fails":
            raise FileNotFoundError("a.hpp")
        while file == "hangs":
            pass
        return ("racecheck", "because") if file == "noticed" else None


@pytest.mark.parametrize(
    ("file", "by", "detail"),
    [
        ("noticed", "racecheck", "because"),
        ("silent", "", ""),
        ("dies", "ended", "last words"),
        ("hangs", "timeout", "longer than 1 s"),
    ],
)
def test_a_worker_survives_its_mutants(tmp_path, file, by, detail):
    request = {"do": "judge", "folder": str(tmp_path), "file": file, "timeout": 1.0}
    answer = worker.answer(Judged(), json.loads(json.dumps(request)))
    assert answer["by"] == by
    assert detail in answer["detail"]


def test_a_failing_judge_is_no_verdict(tmp_path):
    request = {"do": "judge", "folder": str(tmp_path), "file": "fails", "timeout": 5.0}
    answer = worker.answer(Judged(), request)
    assert "FileNotFoundError: a.hpp" in answer.pop("error")
    assert not answer


@pytest.mark.parametrize("checked", [True, False])
def test_a_worker_prepares(tmp_path, checked):
    request = {"do": "prepare", "folder": str(tmp_path), "checked": checked, "timeout": 5.0}
    assert worker.answer(Judged(), request) == {"files": ["a.hpp"]}
    assert Path(tmp_path / "a.hpp").read_text() == ("checked" if checked else "plain")
