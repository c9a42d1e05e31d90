"""Misuse of SIMT functions is reported with kernel, core and line (ascend_c_vector.md 17)."""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.jit import CompileError, LaunchError, LaunchOptionError

_BOUNDED = """
__simt_vf__ __launch_bounds__(128) inline void f(__gm__ int32_t* p) {{ {body} p[threadIdx.x] = 1; }}
__global__ __vector__ void kernel(__gm__ int32_t* p, int32_t n) {{
    asc_vf_call<f>(dim3(n), p);
}}
"""
_BODIES = {"lanes": "", "threads": "while (false) { }"}


def _reported(failure: pytest.ExceptionInfo[LaunchError]) -> None:
    text = str(failure.value)
    assert "kernel kernel" in text
    assert "AIV0" in text
    assert "kernel.asc:" in text


@pytest.mark.parametrize("body", _BODIES.values(), ids=_BODIES)
def test_more_threads_than_the_launch_bound(simt, body):
    launch = simt.compile(_BOUNDED.format(body=body))
    out = np.zeros(128, np.int32)
    launch(out, 128)
    assert out.sum() == 128
    with pytest.raises(LaunchError, match="129 threads; its __launch_bounds__ allows 128") as error:
        launch(np.zeros(129, np.int32), 129)
    _reported(error)


def test_a_bound_may_be_a_name_and_functions_may_lie_in_a_namespace(simt):
    text = """
    constexpr int kThreads = 64;
    __simt_vf__ __launch_bounds__(kThreads) inline void f(__gm__ int32_t* p) { p[threadIdx.x] = 1; }
    namespace inner {
    __simt_vf__ __launch_bounds__(64) inline void g(__gm__ int32_t* p) { p[threadIdx.x] += 2; }
    }
    __global__ __vector__ void kernel(__gm__ int32_t* p, int32_t n) {
        asc_vf_call<f>(dim3(n), p);
        asc_vf_call<inner::g>(dim3(n), p);
    }
    """
    launch = simt.compile(text)
    out = np.zeros(64, np.int32)
    launch(out, 64)
    assert (out == 3).all()
    with pytest.raises(LaunchError, match="__launch_bounds__ allows 64"):
        launch(np.zeros(65, np.int32), 65)


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (
            "__simt_vf__ inline void f(__gm__ int32_t* p) { p[0] = 1; }",
            "asc_vf_call<f>(dim3(1), p)",
        ),
        ("__simd_vf__ inline void f(__gm__ int32_t* p) { p[0] = 1; }", "asc_vf_call<f>(p)"),
        ("__simd_vf__ inline void f(__gm__ int32_t* p) { p[0] = 1; }", "f(p)"),
    ],
    ids=["SIMT", "SIMD", "direct"],
)
def test_a_vector_function_on_the_cube_core(simt, function, call):
    text = f"""
    {function}
    __global__ __cube__ void kernel(__gm__ int32_t* p) {{
        {call};
    }}
    """
    out = np.zeros(32, np.int32)
    launch = simt.compile(text)
    launch(out)
    assert not out.any(), "the call does nothing there, as on the device"
    with pytest.warns(match="does nothing on a cube core") as caught:
        launch(out, checks="synccheck")
    text = "".join(str(warning.message) for warning in caught)
    assert "kernel kernel" in text
    assert "AIC" in text
    assert "kernel.asc:" in text


def test_more_arrays_than_there_is_ub(simt):
    text = """
    __global__ __vector__ void kernel(__gm__ float* p) {
        __ubuf__ float first[32768];
        __ubuf__ float second[32769];
        asc_copy_ub2gm_align(p, first, 32);
        asc_copy_ub2gm_align(p, second, 32);
    }
    """
    with pytest.raises(LaunchError, match="arrays in UB need 262148 bytes") as error:
        simt.compile(text)(np.zeros(8, np.float32))
    _reported(error)


def test_arrays_that_leave_no_room_for_the_data_cache(simt):
    text = """
    __simt_vf__ inline void f(__ubuf__ float* a) { a[threadIdx.x] = 1; }
    __global__ __vector__ void kernel(__gm__ float* p) {
        __ubuf__ float array[56 * 1024];
        asc_vf_call<f>(dim3(32), array);
    }
    """
    with pytest.raises(LaunchError, match="there is room for 221184") as error:
        simt.compile(text)(np.zeros(8, np.float32))
    _reported(error)


def test_more_dynamic_ub_than_there_is(simt):
    text = "__global__ __vector__ void kernel(__gm__ float* p) { }"
    kernel = simt.runtime.compile("simt", text)
    with pytest.raises((LaunchError, LaunchOptionError), match="262144"):
        kernel.launch({"num_blocks": 1, "num_ubuf_bytes": 300000}, np.zeros(8, np.float32))


@pytest.mark.parametrize("width", [0, 33, -1])
def test_a_width_that_no_warp_has(simt, mode, width):
    body = "p0[threadIdx.x] = asc_shfl(p0[threadIdx.x], 1, p1[0]);"
    args = np.ones(64, np.int32), np.array([width], np.int32)
    with pytest.raises(LaunchError, match="the width must be 1 to 32 lanes") as error:
        simt.run(body, 64, *args, mode=mode)
    _reported(error)
    assert (args[0] == 1).all()


_STRAY = {
    "ended": ("if (threadIdx.x == 9) return; p0[threadIdx.x] = asc_shfl(1, 9);", 32, 0xFFFFFDFF),
    "branch": ("if (threadIdx.x < 16) { p0[threadIdx.x] = asc_shfl_xor(1, 16); }", 32, 0xFFFF),
    "short warp": ("p0[threadIdx.x] = asc_shfl_down(1, 4);", 40, 0xF0),
}


@pytest.mark.parametrize(("body", "threads", "lanes"), _STRAY.values(), ids=_STRAY)
def test_a_shuffle_that_reads_lanes_which_take_no_part(simt, mode, body, threads, lanes):
    with pytest.warns(match="reads lanes that take no part") as caught:
        simt.run(body, threads, np.zeros(64, np.int32), mode=mode, checks="synccheck")
    text = "".join(str(warning.message) for warning in caught)
    assert f"0x{lanes:08x} read" in text
    assert "kernel kernel" in text
    assert "AIV0" in text
    assert "kernel.asc:" in text


def test_a_shuffle_within_the_lanes_that_take_part(simt, mode, recwarn):
    body = """
    if (threadIdx.x < 16) { p0[threadIdx.x] = asc_shfl_xor(1, 8) + asc_shfl_down(1, 4, 8); }
    p0[threadIdx.x] += asc_shfl_up(1, 3);
    """
    simt.run(body, 40, np.zeros(64, np.int32), mode=mode, checks="synccheck")
    assert not recwarn.list


@pytest.mark.parametrize("index", ["(int64_t)1 << 40", "-((int64_t)1 << 40)"])
def test_an_index_far_out_of_range(simt, mode, index):
    body = f"p0[{index}] = 1;"
    with pytest.raises(LaunchError, match="SIGSEGV|outside every tensor") as error:
        simt.run(body, 64, np.zeros(1, np.int32), mode=mode)
    _reported(error)


_MISALIGNED = """
__simt_vf__ __launch_bounds__(64) inline void f({space} uint8_t* bytes) {{
    {loop}
    {statement}
}}
__global__ __vector__ void kernel(__gm__ uint8_t* p) {{
    __ubuf__ uint8_t array[1024];
    asc_vf_call<f>(dim3(64), {argument});
}}
"""
_PLACES = {"UB": ("__ubuf__", "array"), "GM": ("__gm__", "p")}


def _misaligned(simt, memory, mode, statement):
    space, argument = _PLACES[memory]
    words = {"space": space, "argument": argument, "loop": _BODIES[mode], "statement": statement}
    text = _MISALIGNED.format(**words)
    return simt.compile(text.replace("SPACE", space), checks="memcheck")


@pytest.mark.parametrize("memory", _PLACES)
@pytest.mark.parametrize(
    ("statement", "does", "align"),
    [
        ("*(SPACE uint32_t*)(bytes + 8 * threadIdx.x + (threadIdx.x == 5) * 2) = 7;", "writes", 4),
        (
            "bytes[0] = *(SPACE uint16_t*)(bytes + 2 * threadIdx.x + (threadIdx.x == 5));",
            "reads",
            2,
        ),
        ("*(SPACE float2*)(bytes + 8 * threadIdx.x + (threadIdx.x == 5) * 4) = {};", "writes", 8),
        (
            "asc_atomic_add((SPACE int32_t*)(bytes + 8 * threadIdx.x + (threadIdx.x == 5)), 1);",
            "",
            4,
        ),
        ("*(volatile SPACE int*)(bytes + 8 * threadIdx.x + (threadIdx.x == 5)) = 1;", "writes", 4),
    ],
    ids=["store", "load", "pair", "atomic", "volatile"],
)
def test_an_address_that_is_no_multiple_of_the_width(simt, memory, mode, statement, does, align):
    launch = _misaligned(simt, memory, mode, statement)
    message = rf"thread \(5, 0, 0\) .* {does}.* at {memory} address .*multiples of {align}"
    with pytest.raises(LaunchError, match=message) as error:
        launch(np.zeros(1024, np.uint8), checks="memcheck")
    _reported(error)


def test_misaligned_accesses_are_made_when_only_reported(simt, mode):
    statement = "*(SPACE uint32_t*)(bytes + 8 * threadIdx.x + 2) = threadIdx.x;"
    out = np.zeros(1024, np.uint8)
    with pytest.raises(LaunchError, match="multiples of 4"):
        _misaligned(simt, "GM", mode, statement)(out, checks="memcheck", out_of_bounds="report")
    assert (out[2:514].reshape(64, 8)[:, 0] == np.arange(64)).all()


def test_values_moved_by_bytes_may_lie_anywhere(simt, mode):
    body = """
    struct __attribute__((packed)) Loose { uint8_t first; uint32_t second; };
    __gm__ Loose* at = (__gm__ Loose*)p0 + threadIdx.x;
    at->second = threadIdx.x;
    p1[threadIdx.x] = at->second;
    """
    out = np.zeros(64, np.uint32)
    simt.run(body, 64, np.zeros(320, np.uint8), out, mode=mode, checks="memcheck")
    assert (out == np.arange(64)).all()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("vector_int8_t a; asc_div(a, a, a, m);", "asc_div"),
        ("vector_uint16_t a; asc_exp(a, a, m);", "asc_exp"),
        ("vector_int32_t a; vector_half b; asc_select(b, a, b, m);", "asc_select"),
        ("vector_float a; asc_add(a, a, a, a);", "asc_add"),
        ("vector_bfloat16_t a; vector_uint8_t i; asc_gather(a, a, i);", "asc_gather"),
    ],
)
def test_types_and_masks_an_instruction_does_not_take(simt, call, name):
    text = f"""
__simd_vf__ inline void f() {{
    vector_bool m = asc_create_mask_b32(PAT_ALL);
    {call}
}}
__global__ __vector__ void kernel(__gm__ float* p) {{ asc_vf_call<f>(); }}
"""
    with pytest.raises(CompileError, match=name) as error:
        simt.compile(text)
    assert "kernel.asc:" in str(error.value)
