"""Loads and stores of registers against the index formulas (ascend_c_vector.md sections 5 to 7)."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import Emulator
from .vector_places import MASKS, WIDTH, A, B, Case, PlaceKernel, State, bits, steps


# Aligned loads ----------------------------------------------------------------------------------
def norm(v: State, at: int) -> np.ndarray:
    return v.register(at)


def broadcast(v: State, at: int) -> np.ndarray:
    return np.repeat(v.elements(at, 1), v.lanes)


def upsample(v: State, at: int) -> np.ndarray:
    return v.elements(at, v.lanes // 2)[np.arange(v.lanes) >> 1]


def downsample(v: State, at: int) -> np.ndarray:
    return v.elements(at, 2 * v.lanes)[2 * np.arange(v.lanes)]


def unpack(v: State, at: int) -> np.ndarray:
    return v.elements(at, v.lanes // 2).astype(f"u{2 * v.width}")


def unpack4(v: State, at: int) -> np.ndarray:
    return v.elements(at, 64).astype(np.uint32)


def block(v: State, at: int) -> np.ndarray:
    return np.tile(v.elements(at, 32 // v.width), 8)


def element_to_block(v: State, at: int) -> np.ndarray:
    return v.elements(at, 8)[np.arange(v.lanes) * v.width // 32]


LOADS = [
    ("", norm, ("uint8_t", "half", "float", "int64_t"), "NORM"),
    ("_brc_elem", broadcast, ("int8_t", "bfloat16_t", "uint32_t"), "BRC_B{bits}"),
    ("_upsample", upsample, ("uint8_t", "half"), "US_B{bits}"),
    ("_downsample", downsample, ("uint8_t", "uint16_t"), "DS_B{bits}"),
    ("_unpack", unpack, ("int8_t", "uint16_t", "float"), "UNPK_B{bits}"),
    ("_unpack4", unpack4, ("uint8_t",), "UNPK4_B8"),
    ("_brc_datablock", block, ("uint8_t", "half", "float"), "BLK"),
    ("_brc_elem2datablock", element_to_block, ("half", "float"), "E2B_B{bits}"),
]
OLD = {
    "_brc_elem": ("_brc", "_brc_postupdate"),
    "_brc_datablock": ("_brc_v2", "_brc_postupdate_v2"),
    "_brc_elem2datablock": ("_brc_v3", "_brc_postupdate_v3"),
    "_unpack4": ("_unpack_v2", "_unpack_postupdate_v2"),
}


def loads() -> list[Case]:
    cases = []
    for suffix, rule, types, dist in LOADS:
        name = f"asc_loadalign{suffix}"
        for i, kind in enumerate(types):
            w = WIDTH[kind]
            step = 32 // w * (i + 1)

            def at(shift, r=rule):
                return lambda v: setattr(v, "d", r(v, v.s + shift * v.width))

            def post(shift, r=rule):
                def model(v):
                    v.d = r(v, v.s)
                    v.s += shift * v.width

                return model

            cases += [
                Case(f"{name}(d, s)", kind, at(0)),
                Case(f"{name}(d, s, {step})", kind, at(step)),
                Case(f"d = {name}(s, -{step})", kind, at(-step)),
                Case(f"{name}_postupdate(d, s, {step})", kind, post(step)),
                Case(f"d = {name}_postupdate(s, -{step})", kind, post(-step)),
            ]
            if kind != "int64_t":
                literal = dist.format(bits=8 * w)
                cases += [
                    Case(f"vlds(d, s, {step}, {literal})", kind, at(step)),
                    Case(f"vlds(d, s, {step}, {literal}, POST_UPDATE)", kind, post(step)),
                ]
            if suffix in OLD:
                plain, old_post = OLD[suffix]
                cases += [
                    Case(f"asc_loadalign{plain}(d, s, {step})", kind, at(step)),
                    Case(f"asc_loadalign{old_post}(d, s, {step})", kind, post(step)),
                ]
            if suffix in ("", "_unpack") and w < 8:
                # Three turns of a loop: the register's offset is the turn times the stride.
                width_name = {1: "b8", 2: "b16", 4: "b32"}[w]
                for f in ("asc_update_addr_reg", "asc_create_iter_reg"):
                    loop = "for (uint16_t i = 0; i < 3; ++i)"
                    text = f"{loop} {name}(d, s, {f}_{width_name}({step}))"
                    cases.append(Case(text, kind, at(2 * step)))
    for kind in ("uint8_t", "half", "float"):
        cases += deinterleaving(kind)
    return cases


def deinterleaving(kind: str) -> list[Case]:
    step = 64 // WIDTH[kind]

    def model(shift, move):
        def run(v):
            z = v.elements(v.s + shift * v.width, 2 * v.lanes)
            v.d, v.e = z[0::2].copy(), z[1::2].copy()
            v.s += move * v.width

        return run

    dist = f"DINTLV_B{8 * WIDTH[kind]}"
    return [
        Case("asc_loadalign_deintlv(d, e, s)", kind, model(0, 0)),
        Case(f"asc_loadalign_deintlv(d, e, s, {step})", kind, model(step, 0)),
        Case(f"asc_loadalign_deintlv_postupdate(d, e, s, {step})", kind, model(0, step)),
        Case(f"vlds(d, e, s, {step}, {dist})", kind, model(step, 0)),
        Case(f"vlds(d, e, s, {step}, {dist}, POST_UPDATE)", kind, model(0, step)),
    ]


def block_loads() -> list[Case]:
    """Blocks of 32 bytes, each whole or zero."""

    def model(block_stride, repeat_stride, post):
        def run(v):
            base = v.s if post else v.s + 32 * repeat_stride
            d = np.zeros(256, np.uint8)
            for k in range(8):
                if v.active()[k * 32 // v.width : (k + 1) * 32 // v.width].any():
                    start = base + 32 * block_stride * k
                    d[32 * k : 32 * k + 32] = v.image[start : start + 32]
            v.d = d
            if post:
                v.s += 32 * repeat_stride

        return run

    return [
        case
        for kind in ("uint8_t", "half", "float")
        for bs, rs in ((1, 0), (3, 2), (0, 1), (16, 5))
        for case in (
            Case(f"asc_loadalign(d, s, {bs}, {rs}, m)", kind, model(bs, rs, False)),
            Case(f"asc_loadalign_postupdate(d, s, {bs}, {rs}, m)", kind, model(bs, rs, True)),
            Case(f"vsldb(d, s, {bs} << 16 | {rs}, m, POST_UPDATE)", kind, model(bs, rs, True)),
        )
    ]


def mask_loads() -> list[Case]:
    def plain(v, at):
        return bits(v.image[at : at + 32])

    def up(v, at):
        return bits(v.image[at : at + 16])[np.arange(256) >> 1]

    def down(v, at):
        return bits(v.image[at : at + 64])[2 * np.arange(256)]

    cases = []
    forms = (("", plain, "NORM"), ("_upsample", up, "US"), ("_downsample", down, "DS"))
    for suffix, rule, dist in forms:
        for kind, step in (("uint32_t", 64), ("uint8_t", -32), ("uint16_t", 96)):

            def at(shift, r=rule):
                return lambda v: setattr(v, "p", r(v, v.s + shift))

            def post(shift, r=rule):
                def model(v):
                    v.p = r(v, v.s)
                    v.s += shift

                return model

            name = f"asc_loadalign{suffix}"
            cases += [
                Case(f"{name}(p, s)", kind, at(0)),
                Case(f"{name}(p, s, {step})", kind, at(step)),
                Case(f"{name}_postupdate(p, s, {step})", kind, post(step)),
                Case(f"plds(p, s, {step}, {dist})", kind, at(step)),
                Case(f"plds(p, s, {step}, {dist}, POST_UPDATE)", kind, post(step)),
            ]
    return cases


# Aligned stores ---------------------------------------------------------------------------------
def stores() -> list[Case]:
    def model(shrink, shift, move):
        def run(v):
            narrow = f"u{v.width // shrink}"
            v.put_lanes(v.t + shift * v.width, v.register(A).astype(narrow), v.active())
            v.t += move * v.width

        return run

    cases = []
    rows = [
        ("", 1, ("uint8_t", "half", "float", "int64_t"), "NORM_B{bits}"),
        ("_pack", 2, ("uint16_t", "float", "int64_t"), "PK_B{bits}"),
        ("_pack_quarter", 4, ("uint32_t", "float"), "PK4_B32"),
    ]
    for suffix, shrink, types, dist in rows:
        name = f"asc_storealign{suffix}"
        for i, kind in enumerate(types):
            step = 32 // WIDTH[kind] * (i + 1)
            cases += [
                Case(f"{name}(t, a, m)", kind, model(shrink, 0, 0)),
                Case(f"{name}(t, a, {step}, m)", kind, model(shrink, step, 0)),
                Case(f"{name}_postupdate(t, a, -{step}, m)", kind, model(shrink, 0, -step)),
            ]
            if kind != "int64_t" or suffix == "_pack":
                literal = dist.format(bits=8 * WIDTH[kind])
                raw = f"vsts(a, t, {step}, {literal}, m"
                cases += [
                    Case(f"{raw})", kind, model(shrink, step, 0)),
                    Case(f"{raw}, POST_UPDATE)", kind, model(shrink, 0, step)),
                ]
    cases += [
        Case("asc_storealign_pack_v2(t, a, m)", "uint32_t", model(4, 0, 0)),
        Case("asc_storealign_pack_postupdate_v2(t, a, 8, m)", "float", model(4, 0, 8)),
        Case(
            "for (uint16_t i = 0; i < 3; ++i) asc_storealign(t, a, asc_update_addr_reg_b32(64), m)",
            "float",
            lambda v: steps(*(model(1, 64 * i, 0)(v) for i in range(3))),
        ),
    ]
    return cases


def other_stores() -> list[Case]:
    def first(shift, move):
        def run(v):
            v.put(v.t + shift * v.width, v.register(A)[:1])
            v.t += move * v.width

        return run

    def interleaved(shift):
        def run(v):
            z = np.stack([v.register(A), v.register(B)], 1)
            v.put(v.t + shift * v.width, z)

        return run

    cases = []
    for kind in ("uint8_t", "half", "float"):
        n = 8 * WIDTH[kind]
        cases += [
            Case("asc_storealign_1st(t, a)", kind, first(0, 0), target=WIDTH[kind] * 3),
            Case("asc_storealign_1st(t, a, 5)", kind, first(5, 0)),
            Case("asc_storealign_1st_postupdate(t, a, 1)", kind, first(0, 1)),
            Case(f"vsts(a, t, 7, ONEPT_B{n}, m)", kind, first(7, 0)),
            Case("asc_storealign_intlv(t, a, b)", kind, interleaved(0)),
            Case("asc_storealign_intlv(t, a, b, 64)", kind, interleaved(64)),
            Case(f"vsts(a, b, t, 64, INTLV_B{n})", kind, interleaved(64)),
        ]
        for bs, rs in ((1, 0), (16, 1), (2, 40)):
            for post in (False, True):
                call = f"asc_storealign{'_postupdate' if post else ''}(t, a, {bs}, {rs}, m)"
                cases.append(Case(call, kind, store_blocks(bs, rs, post)))
            raw = f"vsstb(a, t, {bs} << 16 | {rs}, m, POST_UPDATE)"
            cases.append(Case(raw, kind, store_blocks(bs, rs, True)))
    for kind, step in (("uint32_t", 32), ("uint16_t", -32), ("uint8_t", 64)):
        for suffix, dist, pack in (("", "NORM", False), ("_pack", "PK", True)):
            name = f"asc_storealign{suffix}"
            cases += [
                Case(f"{name}(t, m)", kind, store_mask(pack, 0, 0)),
                Case(f"{name}(t, m, {step})", kind, store_mask(pack, step, 0)),
                Case(f"{name}_postupdate(t, m, {step})", kind, store_mask(pack, 0, step)),
                Case(f"psts(m, t, {step}, {dist})", kind, store_mask(pack, step, 0)),
                Case(f"psts(m, t, {step}, {dist}, POST_UPDATE)", kind, store_mask(pack, 0, step)),
            ]
    return cases


def store_blocks(block_stride, repeat_stride, post):
    def run(v):
        base = v.t if post else v.t + 32 * repeat_stride
        n = 32 // v.width
        for k in range(8):
            part = slice(k * n, (k + 1) * n)
            v.put_lanes(base + 32 * block_stride * k, v.register(A)[part], v.active()[part])
        if post:
            v.t += 32 * repeat_stride

    return run


def store_mask(pack, shift, move):
    def run(v):
        stored = v.mask[0::2] if pack else v.mask
        v.put(v.t + shift, np.packbits(stored, bitorder="little"))
        v.t += move

    return run


GROUPS = {
    "loads": loads() + block_loads() + mask_loads(),
    "stores": stores() + other_stores(),
}

CASES = [(g, i) for g in ("loads", "stores") for i in range(len(GROUPS[g]))]


@pytest.fixture(scope="module")
def kernels(emu: Emulator):
    return {name: PlaceKernel(emu, name, cases) for name, cases in GROUPS.items()}


@pytest.mark.parametrize(("group", "index"), CASES, ids=lambda v: str(v))
def test_places_follow_the_formulas(kernels, group, index):
    masked = "m" in GROUPS[group][index].text.replace("asc_", "").replace("mask", "m")
    for name in MASKS if masked else ["random"]:
        kernels[group].check(index, MASKS[name], seed=index)
