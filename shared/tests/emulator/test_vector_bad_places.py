"""Bad places, masks and states of vector instructions are reported with kernel, core and line
(ascend_c_vector.md section 17)."""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.emulator import emulator
from deep_jit._shared.jit import LaunchError

from .conftest import Emulator
from .vector_places import Case, PlaceKernel

_ALIGN = "allowed are multiples of 32"
_END = "which leaves the 256 KiB of UB"
ERRORS = [
    Case("asc_loadalign(d, s)", "float", None, source=4, error="UB offset 4100, " + _ALIGN),
    Case("asc_loadalign(d, s, 1)", "half", None, error="UB offset 4098, " + _ALIGN),
    Case("asc_loadalign_unpack(d, s)", "uint8_t", None, source=16, error=_ALIGN),
    Case("asc_loadalign_brc_elem(d, s)", "float", None, source=2, error="multiples of 4"),
    Case("asc_loadalign_brc_elem2datablock(d, s)", "half", None, source=8, error="multiples of 16"),
    Case("asc_loadalign_upsample(p, s)", "uint32_t", None, source=8, error="multiples of 16"),
    Case("asc_storealign(t, a, m)", "float", None, target=16, error=_ALIGN),
    Case("asc_storealign_pack(t, a, m)", "float", None, target=16, error=_ALIGN),
    Case("asc_storealign_intlv(t, a, b)", "half", None, target=16, error=_ALIGN),
    Case("asc_storealign(t, m)", "uint32_t", None, target=16, error=_ALIGN),
    Case("asc_storealign_1st(t, a)", "float", None, target=2, error="multiples of 4"),
    Case("asc_load(d, s)", "float", None, source=2, error="multiples of 4"),
    Case("asc_loadalign(d, s)", "float", None, source=258000, error=r"\[262096, 262352\), " + _END),
    Case("asc_loadalign(d, s, -6400)", "float", None, error=r"bytes \[-21504, -21248\), " + _END),
    Case("asc_storealign(t, a, m)", "half", None, target=1 << 18, error=_END),
    Case("asc_loadalign(d, (__ubuf__ float*)&d)", "float", None, error="which is not in UB"),
    Case("asc_loadunalign(d, load_state, s)", "half", None, error="not primed for"),
    Case(
        "asc_loadunalign_pre(load_state, s); asc_loadunalign(d, load_state, s + 1)",
        "half",
        None,
        error="asc_loadunalign_pre with the same address",
    ),
    Case("asc_storeunalign(t, store_state, a, 3)", "half", None, error="never finished"),
    Case(
        "asc_storeunalign(t, store_state, a, 3); asc_storeunalign(t + 4, store_state, b, 3)",
        "half",
        None,
        error="does not continue the one before it",
    ),
    Case(
        "asc_storeunalign(t, store_state, a, 3); asc_storeunalign_post(t, store_state, 4)",
        "half",
        None,
        error="not the end of the stores",
    ),
    Case("asc_storeunalign(t, store_state, a, 129)", "half", None, error="more elements than"),
    Case("asc_store(t, a, 65)", "float", None, error="more elements than"),
    Case("asc_storeunalign_postupdate(t, store_state, a)", "half", None, error="none to store"),
    Case("asc_update_addr_reg_b32(0, 64)", "float", None, error="over several loops"),
    Case("asc_intlv(d, d, a, b)", "float", None, error="one register as both destinations"),
    Case("asc_copy(p, (vector_uint16_t&)a, 16)", "half", None, error="0 .. 15"),
    Case("p = asc_create_mask_b8((mask_pattern_t)14)", "half", None, error="unknown pattern"),
    Case(
        "vector_uint32_t i; asc_duplicate_scalar(i, 1 << 20); asc_gather(d, s, i, m)",
        "float",
        None,
        error="is not in UB|leaves the 256 KiB",
    ),
    Case(
        "vector_uint32_t i; asc_duplicate_scalar(i, 1 << 20); asc_scatter(t, a, i, m)",
        "float",
        None,
        error="is not in UB|leaves the 256 KiB",
    ),
    Case(
        "vector_uint32_t i; asc_duplicate_scalar(i, 16); asc_gather_datablock(d, s, i)",
        "float",
        None,
        error="not a multiple of 32",
    ),
]


@pytest.fixture(scope="module")
def kernel(emu: Emulator):
    return PlaceKernel(emu, "errors", ERRORS)


@pytest.mark.parametrize("index", range(len(ERRORS)), ids=lambda i: ERRORS[i].text)
def test_bad_places_are_reported_with_their_line(kernel, index):
    image = np.zeros(65536, np.uint8)
    image[512:544] = 255
    with (
        emulator(checks="none"),  # their reports have another form
        pytest.raises(LaunchError, match=ERRORS[index].error) as failure,
    ):
        kernel.launch(index, image)
    text = str(failure.value)
    assert "kernel places" in text
    assert "core AIV0" in text
    assert "kernel.asc:" in text


@pytest.mark.parametrize("index", [i for i, case in enumerate(ERRORS) if _END in case.error])
def test_checkers_do_not_look_at_places_out_of_ub(kernel, index):
    with emulator(checks="all"), pytest.raises(LaunchError, match=ERRORS[index].error):
        kernel.launch(index, np.zeros(65536, np.uint8))
