"""Vector functions of launches that compute nothing (`data="skip"`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deep_jit._shared.emulator import emulator, last_profile
from deep_jit._shared.jit import LaunchError

_KERNELS = Path(__file__).parent / "kernels"


@pytest.mark.parametrize("schedule", ["immediate", "deferred"])
@pytest.mark.parametrize("mode", ["fast", "replay"])
@pytest.mark.parametrize(("num", "loads"), [(1, 0), (512, 0), (16, 100)])
def test_simd_functions_take_the_same_time(vector_function, num, loads, mode, schedule):
    computed = vector_function(num, loads, 3, mode, schedule=schedule)
    assert vector_function(num, loads, 3, mode, schedule=schedule, data="skip") == computed


def test_functions_with_other_arguments_take_their_own_time(vector_function):
    short, long = (vector_function(num, data="skip").cycles for num in (16, 512))
    assert long > short


def test_skipping_leaves_ub_alone(runtime):
    """What scalar code keeps in UB is there after the functions were timed."""
    text = """#include "c_api/asc_simd.h"
    __simd_vf__ inline void clear(__ubuf__ int32_t* place) {
        vector_int32_t zero;
        asc_duplicate_scalar(zero, 0, asc_create_mask_b32(PAT_ALL));
        asc_storealign(place, zero, asc_create_mask_b32(PAT_ALL));
    }
    __global__ __vector__ void kept(__gm__ int32_t* out) {
        auto* place = reinterpret_cast<__ubuf__ int32_t*>(0);
        place[3] = 7;
        asc_vf_call<clear>(place);
        asc_sync_pipe(PIPE_ALL);
        asc_store_dev(out, place[3]);
    }
    """
    out = np.zeros(1, np.int32)
    with emulator(timing="fast", data="skip"):
        runtime.compile("kept", text).launch({"num_blocks": 1}, out)
    assert out[0] == 7
    assert last_profile().vector_busy["V"] > 0


def test_a_function_that_depends_on_data_is_refused(runtime):
    kernel = runtime.compile("data_dependent", (_KERNELS / "data_dependent.hpp").read_text())
    data = np.zeros(256, np.uint8)
    with emulator(timing="fast"):
        kernel.launch({"num_blocks": 1}, data)
    with (
        emulator(timing="fast", data="skip"),
        pytest.raises(LaunchError, match="depends on data, which data=skip leaves out") as caught,
    ):
        kernel.launch({"num_blocks": 1}, data)
    assert "kernel.asc:17" in str(caught.value)
    with emulator(data="skip"):  # nobody asks for the time
        kernel.launch({"num_blocks": 1}, data)


def test_simt_functions_are_refused(simt_work):
    assert simt_work(64, 10, 0).cycles > 0
    with pytest.raises(LaunchError, match="SIMT function cannot be timed with data=skip"):
        simt_work(64, 10, 0, data="skip")
