"""Which statements a mutation edits."""

from pathlib import Path

from mutation.mutants import find_mutants
from mutation.report import Outcome, score, write

TEXT = """\
__aicore__ void begin() { mad::notify_all<2>(empty); }
void run() {
    // mad::wait(empty, comment);
    mad::wait(empty, stage);
    if (last) mad::mad<asc_unit_flag_mode::ENABLE_UPDATE>(c, a, b);
    else asc_sync_pipe(PIPE_ALL);
    const uint32_t m = mad::min_of(left - f(a, b), BLOCK);
    if (m >= size) continue;
    mad::fill_k_tail(tile, k, padded);
}
__simd_vf__ void f() {
    asc_mem_bar(VST_VLD);
    // mem_bar(VST_VLD);
    for (;;) { simd_inst::mem_bar(VST_VST); }
    mem_bar(VV_ALL);
}
"""


def mutants(tmp_path):
    (tmp_path / "a.hpp").write_text(TEXT)
    return find_mutants(tmp_path, [Path("a.hpp")])


def test_every_kind_is_found(tmp_path):
    found = [(m.line, m.kind, m.text, m.new) for m in mutants(tmp_path)]
    assert found == [
        (1, "sync", "mad::notify_all<2>(empty)", "(void)0"),
        (4, "sync", "mad::wait(empty, stage)", "(void)0"),
        (4, "stage", ", stage", ", 0"),
        (5, "unit_flag", "ENABLE_UPDATE", "DISABLE"),
        (5, "unit_flag", "ENABLE_UPDATE", "ENABLE_KEEP"),
        (6, "sync", "asc_sync_pipe(PIPE_ALL)", "(void)0"),
        (7, "guard", "mad::min_of(left - f(a, b), BLOCK)", "(left - f(a, b))"),
        (8, "guard", "if (m >= size) continue;", ";"),
        (9, "fill", "mad::fill_k_tail(tile, k, padded)", "(void)0"),
        (12, "mem_bar", "asc_mem_bar(VST_VLD)", "(void)0"),
        (14, "mem_bar", "simd_inst::mem_bar(VST_VST)", "(void)0"),
        (15, "mem_bar", "mem_bar(VV_ALL)", "(void)0"),
    ]


def test_a_mutant_is_one_edit(tmp_path):
    edited = mutants(tmp_path)[1].apply(TEXT)
    assert edited == TEXT.replace("mad::wait(empty, stage)", "(void)0")


def test_keys_tell_equal_edits_apart_and_hold_no_line(tmp_path):
    (tmp_path / "a.hpp").write_text("void f() { asc_sync(); asc_sync(); }\n")
    first, second = find_mutants(tmp_path, [Path("a.hpp")])
    assert first.key == "a.hpp sync `asc_sync()` -> `(void)0` #1"
    assert second.key == "a.hpp sync `asc_sync()` -> `(void)0` #2"


def test_the_page_has_the_score_and_the_reasons(tmp_path):
    found = mutants(tmp_path)
    reasons = {found[1].key: "because"}
    rows = [
        Outcome("k", m, "" if i in (1, 2) else "racecheck", "", 0.0).row(reasons)
        for i, m in enumerate(found)
    ]
    assert score(rows) == (10, 11)
    write(tmp_path, rows)
    write(tmp_path, [Outcome("other", found[0], "synccheck", "", 0.0).row({})])
    page = (tmp_path / "mutation.md").read_text()
    assert "Score: 11 of 12, 91.7 %" in page
    assert "-> `(void)0`: because" in page
    assert page.index("Not noticed") < page.index("`, stage` -> `, 0`")
    assert "| other | sync | 1 | 1 | synccheck 1 |  |" in page
