"""Unaligned loads and stores, compaction into memory (ascend_c_vector.md section 7)."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import Emulator
from .vector_places import MASKS, WIDTH, A, B, Case, PlaceKernel, State, steps


def unaligned() -> list[Case]:
    cases = []
    for kind in ("uint8_t", "half", "float"):
        w = WIDTH[kind]
        shift = 7 * w

        def load_at(v, where):
            return v.register(where)

        def second(v, n):
            v.e, v.d = load_at(v, v.s), load_at(v, v.s + n * v.width)
            v.s += 2 * n * v.width

        cases += [
            Case(
                "asc_loadunalign_pre(load_state, s); asc_loadunalign(d, load_state, s)",
                kind,
                lambda v: setattr(v, "d", load_at(v, v.s)),
                source=shift,
            ),
            Case("asc_load(d, s)", kind, lambda v: setattr(v, "d", load_at(v, v.s)), source=shift),
            Case(
                "vldas(load_state, s); vldus(e, load_state, s, 9, POST_UPDATE); "
                "vldus(d, load_state, s, 9, POST_UPDATE)",
                kind,
                lambda v: second(v, 9),
                source=shift,
            ),
            Case(
                "addr_reg r{0}; asc_loadunalign_pre(load_state, s, r); "
                "asc_loadunalign_postupdate(e, load_state, s, r, 5); "
                "asc_loadunalign_postupdate(d, load_state, s, r)",
                kind,
                lambda v: steps(
                    setattr(v, "e", load_at(v, v.s)),
                    setattr(v, "d", load_at(v, v.s + 5 * v.width)),
                ),
                source=shift,
            ),
            Case(
                "asc_storeunalign(t, store_state, a, 5);"
                "asc_storeunalign(t + 5, store_state, b, 9);"
                "asc_storeunalign_post(t, store_state, 14)",
                kind,
                lambda v: steps(
                    v.put(v.t, v.register(A)[:5]),
                    v.put(v.t + 5 * v.width, v.register(B)[:9]),
                ),
                target=shift,
            ),
            Case(
                "asc_storeunalign_postupdate(t, store_state, a, 23);"
                "asc_storeunalign_postupdate(t, store_state, b, 40);"
                "asc_storeunalign_post_postupdate(t, store_state, 0)",
                kind,
                two_stores,
                target=shift,
            ),
            Case(
                "vstus(store_state, 23, a, t, POST_UPDATE);"
                "vstus(store_state, 40, b, t, POST_UPDATE);"
                "vstas(store_state, t, 0)",
                kind,
                two_stores,
                target=shift,
            ),
            Case("asc_store(t, a)", kind, lambda v: v.put(v.t, v.register(A)), target=shift),
            Case("asc_store(t, a, 3)", kind, lambda v: v.put(v.t, v.register(A)[:3]), target=shift),
            Case(
                "asc_clear_ar_spr(); asc_squeeze_with_status(d, a, m);"
                "asc_storeunalign_postupdate(t, store_state, d);"
                "asc_squeeze_with_status(e, b, m);"
                "asc_storeunalign_postupdate(t, store_state, e);"
                "asc_storeunalign_post(t, store_state);"
                "asc_storealign_squeeze_status((__ubuf__ uint32_t*)s)",
                kind,
                squeezed_twice,
                target=shift,
            ),
            Case(
                "asc_squeeze_and_storeunalign_init();"
                "asc_squeeze_and_storeunalign(t, d, store_state, a, m);"
                "asc_squeeze_and_storeunalign(t, e, store_state, b, m);"
                "asc_squeeze_and_storeunalign_finalize(t, store_state);"
                "sprsts(SPR_AR, (__ubuf__ uint32_t*)s, 0)",
                kind,
                squeezed_twice,
                target=shift,
            ),
        ]
        if w > 1:
            cases.append(
                Case(
                    "asc_storeunalign_postupdate(t, store_state, m);"
                    "pstu(store_state, m, t); asc_storeunalign_post(t, store_state)",
                    kind,
                    two_masks,
                    target=shift,
                )
            )
    # Two whole registers behind each other, the address register advancing.
    cases.append(
        Case(
            "addr_reg r{0}; asc_storeunalign_postupdate(t, store_state, a, r);"
            "asc_storeunalign_postupdate(t, store_state, b, r);"
            "asc_storeunalign_post(t, store_state, r)",
            "float",
            lambda v: steps(v.put(v.t, v.register(A)), v.put(v.t + 256, v.register(B))),
            target=12,
        )
    )
    cases.append(
        Case(
            "addr_reg r{0}; vstu(store_state, r, a, t, POST_UPDATE);"
            "vstu(store_state, r, b, t, POST_UPDATE); vsta(store_state, t, r)",
            "half",
            lambda v: steps(v.put(v.t, v.register(A)), v.put(v.t + 256, v.register(B))),
            target=6,
        )
    )
    return cases


def two_stores(v: State) -> None:
    lanes = v.lanes
    v.put(v.t, v.register(A)[:23])
    v.put(v.t + 23 * v.width, v.register(B)[: min(40, lanes)])
    v.t += 63 * v.width


def squeezed(v: State, at: int) -> np.ndarray:
    r = np.zeros(v.lanes, f"u{v.width}")
    kept = v.register(at)[v.active()]
    r[: len(kept)] = kept
    return r


def squeezed_twice(v: State) -> None:
    n = int(v.active().sum())
    v.d, v.e = squeezed(v, A), squeezed(v, B)
    v.put(v.t, v.d[:n])
    v.put(v.t + n * v.width, v.e[:n])
    v.put(v.s, np.array([2 * n * v.width], np.uint32))


def two_masks(v: State) -> None:
    stored = np.packbits(v.mask[:: v.width], bitorder="little")
    for _ in range(2):
        v.put(v.t, stored)
        v.t += len(stored)


CASES = unaligned()


@pytest.fixture(scope="module")
def kernel(emu: Emulator):
    return PlaceKernel(emu, "unalign", CASES)


@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda i: f"{i}-{CASES[i].type}")
@pytest.mark.parametrize("mask", MASKS)
def test_places_need_element_alignment_only(kernel, index, mask):
    kernel.check(index, MASKS[mask], seed=index)
