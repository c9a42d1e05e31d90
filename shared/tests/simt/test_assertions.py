"""assert() in device code ends the kernel with its condition and line (ascend_c_vector.md 19.3)."""

from __future__ import annotations

import numpy as np
import pytest

from deep_jit._shared.jit import LaunchError

_KERNELS = {
    "scalar": """
__global__ __vector__ void kernel(__gm__ int32_t* p) {
    assert(p[3] == 3);
    p[0] = 5;
}
""",
    "lanes": """
__simt_vf__ __launch_bounds__(64) inline void f(__gm__ int32_t* p) {
    assert(p[threadIdx.x] == threadIdx.x);
    p[threadIdx.x] = 5;
}
__global__ __vector__ void kernel(__gm__ int32_t* p) { asc_vf_call<f>(dim3(64), p); }
""",
    "threads": """
__simt_vf__ __launch_bounds__(64) inline void f(__gm__ int32_t* p) {
    while (false) { }
    assert(p[threadIdx.x] == threadIdx.x);
    p[threadIdx.x] = 5;
}
__global__ __vector__ void kernel(__gm__ int32_t* p) { asc_vf_call<f>(dim3(64), p); }
""",
}


@pytest.mark.parametrize("text", _KERNELS.values(), ids=_KERNELS)
def test_a_failed_assertion_is_the_error_of_the_launch(simt, text):
    launch = simt.compile(text)
    with pytest.raises(LaunchError, match=r"assertion `p\[.*\] == .*` failed at .*kernel\.asc:\d+"):
        launch(np.full(64, -1, np.int32))
    good = np.arange(64, dtype=np.int32)
    launch(good)  # the process goes on
    assert good[0] == 5
