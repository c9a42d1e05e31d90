"""The support table is generated, current, and complete for the priorities of the census."""

from __future__ import annotations

from pathlib import Path

import pytest

from deep_jit._shared._component import include_dirs
from deep_jit._shared.emulator import support_table
from deep_jit._shared.emulator.support_census import FAMILIES, NOTES

TABLE = Path(__file__).parents[3] / "packages" / "deep_jit" / "docs" / "support_table.md"


def test_the_table_is_current():
    assert support_table.main(["--check", str(TABLE)]) == 0, (
        f"run `python -m deep_jit._shared.emulator.support_table {TABLE}`"
    )


def test_an_old_table_is_noticed(tmp_path, capsys):
    old = tmp_path / "table.md"
    old.write_text(support_table.table().replace("asc_mmad", "asc_nmad"))
    assert support_table.main(["--check", str(old)]) == 1
    assert "out of date" in capsys.readouterr().err
    assert support_table.main([str(old)]) == 0
    assert old.read_text() == support_table.table()


@pytest.mark.parametrize("level", ["P0", "P1"])
def test_nothing_important_is_missing(level):
    assert support_table.missing(level) == []


def test_headers_are_parsed_through_their_macros():
    by_name = {f.name: f for f in support_table.functions()}
    assert by_name["asc_set_gm2l1_nz_para"].forms == 2
    assert by_name["asc_copy_gm2l1"].forms == 2
    assert by_name["asc_mmad"].forms == 2
    assert by_name["asc_mmad_sync"].family == "mmad"
    assert by_name["asc_set_atomic_min_bfloat"].family == "atomics"
    assert by_name["asc_atomic_xor"].family == "atomics"
    assert by_name["asc_sync_inter_wait"].family == "sync"
    assert by_name["asc_mul_scalar"].family == "vector_arith"
    assert by_name["asc_float2half_rn"].forms == 4
    assert by_name["asc_reduce_max"].forms == 2
    assert by_name["asc_e4m32float_v4"].family == "vector_convert"
    assert by_name["asc_transto5hd"].status == "missing"


def test_notes_name_functions_that_exist():
    names = {f.name for f in support_table.functions() if f.family}
    assert set(NOTES) <= names


def test_every_header_with_functions_is_a_family():
    headers = {path.stem for path in (include_dirs()[-1] / "asc_emu" / "api").glob("*.hpp")}
    raw = {"raw_sync", "vector_raw", "vector_raw_memory"}
    assert headers - set(FAMILIES) - raw == {"common", "vector_types"}, "add it to FAMILIES"
