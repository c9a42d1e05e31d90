"""One kernel of a file on arrays in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deep_jit._shared.jit.errors import ArgumentError, ConfigError
from deep_jit.run import run_kernel

KERNELS = """\
#pragma once
#include "c_api/asc_simd.h"

__global__ __vector__ void scale(__gm__ float* out, __gm__ const float* in, float factor,
                                 uint32_t n) {
    for (uint32_t i = block_idx; i < n; i += block_num) out[i] = in[i] * factor + OFFSET;
}
namespace ns {
template <class T, int kFactor>
__global__ __vector__ void accumulate(__gm__ T* sums, __gm__ T* values, __gm__ T* absent) {
    for (int i = 0; i < 4; ++i) sums[i] = T(float(sums[i]) + kFactor * float(values[i]));
    if (absent != nullptr) sums[0] = T(0.0f);
}
}  // namespace ns
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the kernels; the current one."""
    (tmp_path / "kernels.hpp").write_text(KERNELS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(kernel: str, *words: str, **options: Any) -> list[Path]:
    return run_kernel("kernels.hpp", kernel, words, defines=["OFFSET=1"], **options)


def test_inputs_outputs_and_scalars(folder: Path) -> None:
    values = np.arange(10, dtype=np.float32)
    np.save(folder / "in.npy", values)
    words = ("out:out.npy:float32:2x5", "in.npy", "f32:2.5", "u32:0xA")
    assert run("scale", *words, num_blocks=3) == [Path("out.npy")]
    out = np.load(folder / "out.npy")
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, (values * np.float32(2.5) + 1).reshape(2, 5))


def test_template_kernel_with_arrays_changed_in_place(folder: Path) -> None:
    np.save(folder / "sums.npy", np.arange(4, dtype=np.float32))
    np.save(folder / "values.npy", np.full(4, 10, dtype=np.float32))
    run("ns::accumulate<float, 3>", "inout:sums.npy", "values.npy", "null")
    np.testing.assert_array_equal(np.load(folder / "sums.npy"), [30, 31, 32, 33])
    np.testing.assert_array_equal(np.load(folder / "values.npy"), np.full(4, 10))


def test_reinterpreted_dtype(folder: Path) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    raw = np.array([1, 2, 3, 4], dtype=ml_dtypes.bfloat16)
    np.save(folder / "values.npy", raw.view(np.uint16))
    run("ns::accumulate<bfloat16_t, 2>", "out:sums.npy:bfloat16:4", "values.npy:bfloat16", "null")
    sums = np.load(folder / "sums.npy").view(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(sums.astype(np.float32), [2, 4, 6, 8])


def test_torch_files(folder: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.save(torch.arange(4, dtype=torch.float32), folder / "in.pt")
    assert run("scale", "out:out.pt:float32:4", "in.pt", "f32:-1", "u32:4") == [Path("out.pt")]
    out = torch.load(folder / "out.pt", weights_only=True)
    assert out.tolist() == [1, 0, -1, -2]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("in.txt", "has no known form; allowed: FILE.npy"),
        ("out:x.npy:float32", "has no known form"),
        ("out:x.npy:float32:2,3", "has no known form"),
        ("out:x.npy:float31:2", "'float31' is no dtype"),
        ("out:x.pt:float31:2", "torch has no dtype 'float31'"),
        ("gone.npy", "cannot read the array file gone.npy"),
        ("i8:300", "300"),
        ("i32:1.5", "holds no i32 value"),
        ("f32:abc", "holds no f32 value"),
        ("bool:2", "holds no bool value"),
    ],
)
def test_bad_words(folder: Path, word: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=".*") as caught:
        run("scale", word)
    assert message in str(caught.value)
    assert not (folder / "x.npy").exists()


@pytest.mark.parametrize("kernel", ["", "a-b", "f()", "1f"])
def test_bad_kernel_name(folder: Path, kernel: str) -> None:
    del folder
    with pytest.raises(ConfigError, match="is no function name"):
        run(kernel)


def test_wrong_number_of_arguments_writes_nothing(folder: Path) -> None:
    with pytest.raises(ArgumentError):
        run("scale", "out:out.npy:float32:4")
    assert not (folder / "out.npy").exists()


def test_scalar_of_another_type_writes_nothing(folder: Path) -> None:
    np.save(folder / "in.npy", np.zeros(4, dtype=np.float32))
    with pytest.raises(ArgumentError, match="argument 3"):
        run("scale", "out:out.npy:float32:4", "in.npy", "f32:2", "i32:4")
    assert not (folder / "out.npy").exists()


def test_missing_file(folder: Path) -> None:
    del folder
    with pytest.raises(ConfigError, match=r"cannot read gone\.hpp"):
        run_kernel("gone.hpp", "scale", [])
