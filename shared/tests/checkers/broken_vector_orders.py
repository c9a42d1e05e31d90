"""Vector functions whose accesses to UB depend on each other, and the edit that leaves their order open.

A table of kernel texts: some lines are longer than the rest of the code allows.
"""

# ruff: noqa: E501

from __future__ import annotations

from .conftest import HEADER, Case

_BEFORE = """
extern "C" __global__ __vector__ void checked(__gm__ uint8_t* src, __gm__ uint8_t* dst, uint32_t bytes) {
    auto* ub = reinterpret_cast<__ubuf__ float*>(0);
    asc_copy_gm2ub_align(reinterpret_cast<__ubuf__ uint8_t*>(ub), src, bytes);
    asc_copy_gm2ub_align(reinterpret_cast<__ubuf__ uint8_t*>(ub) + 1024, src, bytes);
    asc_sync_notify(PIPE_MTE2, PIPE_V, EVENT_ID0);
    asc_sync_wait(PIPE_MTE2, PIPE_V, EVENT_ID0);
"""
_AFTER = """    asc_sync_notify(PIPE_V, PIPE_MTE3, EVENT_ID0);
    asc_sync_wait(PIPE_V, PIPE_MTE3, EVENT_ID0);
    asc_copy_ub2gm_align(dst, reinterpret_cast<__ubuf__ uint8_t*>(ub), bytes);
}
"""


def _kernel(function: str, call: str = "    asc_vf_call<run>(ub);\n") -> str:
    """A kernel around a vector function `run`, whose body this is: it starts with registers and masks."""
    return (
        f"""{HEADER}__simd_vf__ inline void run(__ubuf__ float* a) {{
    const vector_bool all = asc_create_mask_b32(PAT_ALL);
    vector_float x, y;
{function}}}
"""
        + _BEFORE
        + call
        + _AFTER
    )


BAR = "    asc_mem_bar(VST_VLD);\n"

_STORE_LOAD = _kernel(
    """    asc_loadalign(x, a + 64);
    asc_storealign(a, x, all);
    asc_mem_bar(VST_VLD);
    asc_loadalign(y, a);
    asc_storealign(a + 128, y, all);
"""
)
_STORE_STORE = _kernel(
    """    asc_loadalign(x, a + 64);
    asc_storealign(a, x, all);
    asc_mem_bar(VST_VST);
    asc_storealign_1st(a + 63, x);
"""
)
_BRANCHES = _kernel(
    """    asc_loadalign(x, a + 64);
    asc_storealign(a, x, all);
    if (a != nullptr) {
        asc_mem_bar(VV_ALL);
    } else {
        asc_add(x, x, x, all);
    }
    asc_loadalign(y, a);
    asc_storealign(a + 128, y, all);
"""
)
# Each turn reads what the last one stored.
_LOOP = _kernel(
    """    for (uint16_t i = 0; i < 3; ++i) {
        asc_loadalign(x, a + i * 32);
        asc_add(x, x, x, all);
        asc_storealign(a + i * 32 + 32, x, all);
        asc_mem_bar(VV_ALL);
    }
"""
)
# Each turn stores onto the second half of what the last one stored; the last store of the function, too.
_OVERLAPS = _kernel(
    """    for (uint16_t i = 0; i < 3; ++i) {
        asc_loadalign(x, a + 256 + i * 16);
        asc_storealign(a + i * 32, x, all);
        asc_mem_bar(VST_VST);
    }
"""
)
_STREAMS = _kernel(
    """    __ubuf__ float* from = a;
    __ubuf__ float* to = a + 64;
    for (uint16_t i = 0; i < 2; ++i) {
        asc_loadalign_postupdate(x, from, 64);
        asc_storealign_postupdate(to, x, 64, all);
        asc_mem_bar(VST_VLD);
    }
"""
)
_GATHER = _kernel(
    """    vector_int32_t index;
    asc_arange(index, 64);
    asc_loadalign(x, a);
    asc_storealign_1st(a + 100, x);
    asc_mem_bar(VST_VLD);
    asc_gather(y, a, (vector_uint32_t&)index, all);
    asc_storealign(a, y, all);
"""
)
_SCATTER = _kernel(
    """    vector_int32_t index;
    asc_arange(index, 0);
    asc_loadalign(x, a + 64);
    asc_scatter(a, x, (vector_uint32_t&)index, all);
    asc_mem_bar(VST_VLD);
    asc_loadalign_brc_elem(y, a + 37);
    asc_storealign(a + 64, y, all);
"""
)
_UNALIGNED = _kernel(
    """    vector_store_unalign state;
    asc_loadalign(x, a + 64);
    asc_storeunalign(a + 1, state, x, 20);
    asc_storeunalign_post(a + 1, state, 20);
    asc_mem_bar(VST_VLD);
    vector_load_unalign primed;
    asc_loadunalign_pre(primed, a + 20);
    asc_loadunalign(y, primed, a + 20);
    asc_storealign(a + 128, y, all);
"""
)
_BLOCKS = _kernel(
    """    asc_loadalign(x, a);
    asc_storealign(a, x, 2, 1, all);
    asc_mem_bar(VST_VST);
    asc_storealign(a + 24, x, asc_create_mask_b32(PAT_VL1));
    asc_mem_bar(VST_VLD);
    asc_loadalign(y, a, 2, 1, all);
    asc_storealign(a, y, asc_create_mask_b32(PAT_VL8));
"""
)
_PACKED = _kernel(
    """    asc_loadalign(x, a + 64);
    asc_storealign_pack((__ubuf__ uint32_t*)a, (vector_uint32_t&)x, all);
    asc_mem_bar(VST_VLD);
    vector_bool mask;
    asc_loadalign(mask, (__ubuf__ uint32_t*)a + 24);
    asc_storealign(a + 128, x, mask);
"""
)

# Stores of single lanes into one block, and accesses of the same block next to them.
_LANES = _kernel(
    """    asc_loadalign(x, a);
    asc_storealign_1st(a, x);
    asc_storealign_1st(a + 1, x);
    asc_storealign(a + 2 - 2, x, mask_of_two());
    vector_int32_t index;
    asc_arange(index, 8);
    asc_scatter(a, x, (vector_uint32_t&)index, asc_create_mask_b32(PAT_VL8));
    asc_loadalign_brc_elem(y, a + 5);
    asc_storealign(a + 16, x, 1, 0, asc_create_mask_b32(PAT_VL4));
    asc_storealign_1st(a + 20, y);
"""
).replace(
    "__simd_vf__",
    """__simd_callee__ inline vector_bool mask_of_two() {
    vector_bool four = asc_create_mask_b32(PAT_VL4), two = asc_create_mask_b32(PAT_VL2), result;
    asc_xor(result, four, two, four);
    return result;
}
__simd_vf__""",
    1,
)
# One instruction that meets itself: which lane wins is open, and no barrier would settle it.
_ITSELF = _kernel(
    """    vector_uint32_t index;
    asc_duplicate_scalar(index, 3u);
    asc_loadalign(x, a);
    asc_scatter(a, x, index, all);
    asc_mem_bar(VV_ALL);
    asc_scatter(a, x, index, all);
    asc_storealign(a + 64, x, 0, 0, all);
"""
)
_UNALIGNED_NEIGHBOUR = _kernel(
    """    asc_loadalign(x, a + 64);
    asc_storealign_1st(a + 1, x);
    vector_load_unalign primed;
    asc_loadunalign_pre(primed, a + 2);
    asc_loadunalign(y, primed, a + 2);
    asc_storealign(a + 128, y, all);
"""
)
_STORE_ONLY = """    asc_loadalign(x, a + 64);
    asc_storealign(a, x, all);
"""
_TWO_FUNCTIONS = _kernel(_STORE_ONLY, "    asc_vf_call<run>(ub);\n    asc_vf_call<run>(ub);\n")
_TWO_CORES = (
    _kernel(_STORE_ONLY.replace("    asc_loadalign", "    asc_loadalign(x, a);\n    asc_loadalign"))
    .replace("__vector__", "__mix__(1, 2)")
    .replace("    auto* ub", "    if ASC_IS_AIC return;\n    auto* ub")
    .replace(
        "asc_copy_ub2gm_align(dst", "if (asc_get_sub_block_id() == 0) asc_copy_ub2gm_align(dst"
    )
)
# Each type where it is enough.
_TYPES = _kernel(
    """    asc_loadalign(x, a + 64);
    asc_storealign(a, x, all);
    asc_mem_bar(VV_ALL);
    asc_loadalign(y, a);
    asc_storealign(a, y, all);
    asc_mem_bar(VST_VST);
    asc_storealign(a, y, all);
    mem_bar(VST_VLD);
    asc_loadalign(y, a);
    asc_storealign(a + 64, y, all);
"""
)

# The page's own example: the next store waits for a load that waits for the store before.
_THROUGH_A_LOAD = _kernel(
    """    for (uint16_t i = 1; i < 4; ++i) {
        asc_mem_bar(VST_VLD);
        asc_loadalign(x, a);
        asc_loadalign(y, a + i * 64);
        asc_add(x, x, y, all);
        asc_storealign(a, x, all);
    }
"""
)
# The last turns do the same again.
_EQUAL_STORES = _kernel(
    """    for (uint16_t i = 0; i < 4; ++i) {
        const uint32_t turn = i < 2 ? i : 2;
        asc_loadalign(x, a + 256 + turn * 16);
        asc_storealign(a + turn * 64, x, all);
    }
"""
)

# Plain loads and stores in the function.
_VECTOR_STORE = "asc_storealign(a + 64, x, all);"
_FIRST = f"    asc_loadalign(x, a);\n    {_VECTOR_STORE}\n"
_VECTOR_THEN_LOAD = _kernel(_FIRST + "    asc_mem_bar(VST_LD);\n    a[300] = a[70] + 1.0f;\n")
_VECTOR_THEN_STORE = _kernel(
    _FIRST + "    asc_loadalign(y, a);\n    asc_mem_bar(VST_ST);\n    a[70] = 1.0f;\n"
)
_STORE_THEN_VECTOR = _kernel(
    "    asc_loadalign(x, a);\n    a[70] = 1.0f;\n    asc_mem_bar(ST_VST);\n    "
    + _VECTOR_STORE
    + "\n"
)
_STORE_THEN_LOAD = _kernel(
    """    a[70] = 1.0f;
    asc_mem_bar(ST_VLD);
    asc_loadalign(y, a + 64);
    asc_storealign(a + 128, y, all);
"""
)
_SCALARS = _kernel(
    """    auto* const word = reinterpret_cast<volatile __ubuf__ float*>(a + 70);
    *word = 1.0f;
    asc_mem_bar(SS_ALL);
    a[300] = *word;
"""
)
# What instructions do themselves is no scalar access: single elements, and lanes of a mask.
_INSTRUCTIONS = _kernel(
    """    vector_uint32_t index;
    asc_duplicate_scalar(index, 3u);
    asc_loadalign(x, a);
    asc_storealign(a + 64, x, asc_create_mask_b32(PAT_VL3));
    asc_storealign_1st(a + 70, x);
    asc_storealign_pack((__ubuf__ uint32_t*)(a + 128), (vector_uint32_t&)x, asc_create_mask_b32(PAT_VL3));
    asc_scatter(a + 192, x, index, all);
    asc_mem_bar(VST_VLD);
    asc_gather(y, a + 192, index, all);
    asc_loadalign_brc_elem(y, a + 70);
    asc_storealign(a, y, 1, 0, asc_create_mask_b32(PAT_M3));
    a[300] = a[301];
"""
)

SILENT = {
    "lanes_of_one_block": _LANES,
    "an_instruction_and_itself": _ITSELF,
    "an_unaligned_stream_begins_behind": _UNALIGNED_NEIGHBOUR,
    "two_functions": _TWO_FUNCTIONS,
    "two_cores": _TWO_CORES,
    "stores_behind_a_load": _THROUGH_A_LOAD,
    "stores_of_equal_bytes": _EQUAL_STORES,
    "instructions_among_scalars": _INSTRUCTIONS,
    "barriers_of_each_type": _TYPES,
}

_STORE, _LOAD = "asc_storealign(a, x, all);", "asc_loadalign(y, a);"
_SAYS = "no asc_mem_bar(VST_VLD) comes between the two"


def _case(
    name: str, text: str, lines: tuple[str, str], old: str = BAR, new: str = "", says: str = _SAYS
) -> Case:
    return Case(name, text, old, new, "racecheck", lines, says)


CASES = [
    _case("store_then_load", _STORE_LOAD, (_STORE, _LOAD)),
    _case("barrier_of_another_type", _STORE_LOAD, (_STORE, _LOAD), "VST_VLD", "VST_VST"),
    _case("barrier_for_scalars", _STORE_LOAD, (_STORE, _LOAD), "VST_VLD", "VS_ALL"),
    _case(
        "barrier_behind_the_load",
        _STORE_LOAD,
        (_STORE, _LOAD),
        f"{BAR}    {_LOAD}\n",
        f"    {_LOAD}\n{BAR}",
    ),
    _case(
        "store_then_store",
        _STORE_STORE,
        (_STORE, "asc_storealign_1st(a + 63, x);"),
        "    asc_mem_bar(VST_VST);\n",
        says="no asc_mem_bar(VST_VST) comes between the two",
    ),
    _case(
        "barrier_in_the_other_branch", _BRANCHES, (_STORE, _LOAD), "a != nullptr", "a == nullptr"
    ),
    _case(
        "next_turn_of_a_loop",
        _LOOP,
        ("asc_storealign(a + i * 32 + 32, x, all);", "asc_loadalign(x, a + i * 32);"),
        "        asc_mem_bar(VV_ALL);\n",
    ),
    _case(
        "stores_of_two_turns",
        _OVERLAPS,
        ("asc_storealign(a + i * 32, x, all);",) * 2,
        "        asc_mem_bar(VST_VST);\n",
        says="no asc_mem_bar(VST_VST)",
    ),
    _case(
        "post_update_streams",
        _STREAMS,
        ("asc_storealign_postupdate(to, x, 64, all);", "asc_loadalign_postupdate(x, from, 64);"),
        f"    {BAR}",
    ),
    _case("gather", _GATHER, ("asc_storealign_1st(a + 100", "asc_gather(y")),
    _case("scatter", _SCATTER, ("asc_scatter(a", "asc_loadalign_brc_elem(y, a + 37);")),
    _case("unaligned", _UNALIGNED, ("asc_storeunalign", "asc_loadunalign")),
    _case("block_strides_load", _BLOCKS, ("asc_storealign(a", "asc_loadalign(y, a, 2, 1, all);")),
    _case(
        "block_strides_store",
        _BLOCKS,
        ("asc_storealign(a, x, 2, 1, all);", "asc_storealign(a + 24, x"),
        "    asc_mem_bar(VST_VST);\n",
        says="no asc_mem_bar(VST_VST)",
    ),
    _case("packed_store_and_mask", _PACKED, ("asc_storealign_pack", "asc_loadalign(mask")),
    _case(
        "scalar_load_of_a_vector_store",
        _VECTOR_THEN_LOAD,
        (_VECTOR_STORE, "a[300] = a[70] + 1.0f;"),
        "VST_LD",
        "VST_VLD",
        "a scalar load in a vector function",
    ),
    _case(
        "scalar_store_onto_a_vector_store",
        _VECTOR_THEN_STORE,
        (_VECTOR_STORE, "a[70] = 1.0f;"),
        "    asc_mem_bar(VST_ST);\n",
        says="no asc_mem_bar(VST_ST)",
    ),
    _case(
        "vector_store_onto_a_scalar_store",
        _STORE_THEN_VECTOR,
        ("a[70] = 1.0f;", _VECTOR_STORE),
        "    asc_mem_bar(ST_VST);\n",
        says="no asc_mem_bar(ST_VST)",
    ),
    _case(
        "vector_load_of_a_scalar_store",
        _STORE_THEN_LOAD,
        ("a[70] = 1.0f;", "asc_loadalign(y, a + 64);"),
        "    asc_mem_bar(ST_VLD);\n",
        says="no asc_mem_bar(ST_VLD)",
    ),
    _case(
        "scalar_load_of_a_scalar_store",
        _SCALARS,
        ("*word = 1.0f;", "a[300] = *word;"),
        "    asc_mem_bar(SS_ALL);\n",
        says="no asc_mem_bar(ST_LD)",
    ),
]
