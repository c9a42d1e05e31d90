"""Tests of tools/gen_texts.py: which files are stale, and which calls there are."""

from __future__ import annotations

import gen_texts


def test_files_that_differ_or_lack_are_written_and_others_removed(tmp_path):
    (tmp_path / "README.md").write_text("stays")
    (tmp_path / "same-1.asc").write_text("a")
    (tmp_path / "other-2.asc").write_text("b")
    (tmp_path / "old-3.asc").write_text("c")
    wanted = {"same-1.asc": "a", "other-2.asc": "changed", "new-4.asc": "d"}
    assert gen_texts.compare(tmp_path, wanted) == (["new-4.asc", "other-2.asc"], ["old-3.asc"])


def test_calls_have_names_of_their_own():
    routing, quant = gen_texts.routing_cases(), gen_texts.quant_cases()
    assert len(gen_texts.calls()) == len(routing) + len(quant)
    assert all(map(callable, gen_texts.calls().values()))
