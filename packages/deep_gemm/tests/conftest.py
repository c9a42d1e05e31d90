"""Fixtures of deep_gemm's tests: a runtime that interprets payloads instead of compiling."""

from __future__ import annotations

import ctypes
import re
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from deep_gemm import _jit, _settings
from deep_gemm.apis import plans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# Written out here once more, independently of kernels/{bf16,fp8}_gemm.py
PAYLOAD = struct.Struct("<Qqq Qqq Qqq III 4x Q I 4x f 4x Q II".replace(" ", ""))
MX_PAYLOAD = struct.Struct("<Qqq Qqq Qqq Qqq Qqq III 4x Q I 4x f 4x Q II".replace(" ", ""))
UNITS = {"bf16_gemm": "bf16_gemm_impl", "fp8_gemm": "fp8_gemm_impl", "fp4_gemm": "fp8_gemm_impl"}


@dataclass
class FakeDevice:
    cores: int = 32

    def get_num_aicore_cores(self) -> int:
        return self.cores

    def get_npu_arch(self) -> int:
        return 3510


@dataclass
class FakeKernel:
    source: str
    launches: list[bytes] = field(default_factory=list)

    def constants(self) -> list[str]:
        inner = re.search(r"gemm_impl\w*<(.*)>\)", self.source, re.DOTALL)
        assert inner is not None
        return [item.strip() for item in inner[1].split(",")]

    def run(self, payload: bytes, ranges: Sequence[object] = ()) -> None:
        """What the device code must do, from the payload and the template constants alone."""
        self.launches.append(payload)
        if "::fp8_gemm_impl" in self.source:
            self._run_mx(payload)
            return
        (
            a, stride_a, _, b, stride_b, _, d, stride_d, _, m, n, k, layout, groups, alpha,
            sfd, sfd_stride, shape_n,
        ) = PAYLOAD.unpack(payload)  # fmt: skip
        assert (layout, groups, sfd, sfd_stride, shape_n) == (0, 1, 0, 0, n)
        items = self.constants()
        product = _read(a, m, k, stride_a, items[0]) @ _read(b, n, k, stride_b, items[1]).T
        if items[21].endswith("Alpha"):
            product = np.float32(alpha) * product
        _write(d, m, n, stride_d, items[20], product, accumulate=items[18] == "true")

    def _run_mx(self, payload: bytes) -> None:
        (
            a, stride_a, _, b, stride_b, _, sfa, stride_sfa, _, sfb, stride_sfb, _, d, stride_d, _,
            m, n, k, layout, groups, alpha, sfd, sfd_stride, shape_n,
        ) = MX_PAYLOAD.unpack(payload)  # fmt: skip
        assert (layout, groups, sfd, sfd_stride, shape_n) == (0, 1, 0, 0, n)
        items = self.constants()
        assert items[:2] == ["mad::Major::K", "mad::Major::K"]
        left = _read_mx(a, m, k, stride_a, items[22]) * _read_scales(sfa, m, k, stride_sfa)
        right = _read_mx(b, n, k, stride_b, items[22]) * _read_scales(sfb, n, k, stride_sfb)
        product = (left @ right.T).astype(np.float32)
        if items[24].endswith("Alpha"):
            product = np.float32(alpha) * product
        _write(d, m, n, stride_d, items[23], product, accumulate=items[20] == "true")


def _view(address: int, count: int, dtype: Any) -> np.ndarray:
    size = np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * (count * size)).from_address(address), dtype=dtype)


def _strided(address: int, rows: int, cols: int, pitch: int, dtype: Any) -> np.ndarray:
    flat = _view(address, (rows - 1) * pitch + cols, dtype)
    size = flat.itemsize
    return np.lib.stride_tricks.as_strided(flat, (rows, cols), (pitch * size, size))


def _widen(values: np.ndarray) -> np.ndarray:
    return (values.astype(np.uint32) << 16).view(np.float32)


def _read(address: int, rows: int, k: int, pitch: int, major: str) -> np.ndarray:
    if major == "mad::Major::K":
        return _widen(_strided(address, rows, k, pitch, np.uint16))
    assert major == "mad::Major::MN"
    return _widen(_strided(address, k, rows, pitch, np.uint16)).T


def _read_mx(address: int, rows: int, k: int, pitch: int, dtype: str) -> np.ndarray:
    import ml_dtypes

    if dtype == "fp8_e4m3fn_t":
        codes = _strided(address, rows, k, pitch, np.uint8)
        return np.ascontiguousarray(codes).view(ml_dtypes.float8_e4m3fn).astype(np.float64)
    assert dtype == "fp4x2_e2m1_t"
    packed = _strided(address, rows, k // 2, pitch // 2, np.uint8)
    codes = np.stack((packed & 15, packed >> 4), axis=-1).reshape(rows, k)
    return codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64)


def _read_scales(address: int, rows: int, k: int, pitch: int) -> np.ndarray:
    import ml_dtypes

    pairs = _strided(address, -(-k // 64), rows, pitch, np.uint16).T
    low_high = np.stack((pairs & 255, pairs >> 8), axis=-1).astype(np.uint8).reshape(rows, -1)
    factors = low_high.view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    return np.repeat(factors, 32, axis=1)[:, :k]


def _write(
    address: int, m: int, n: int, pitch: int, dtype: str, values: np.ndarray, *, accumulate: bool
) -> None:
    import ml_dtypes

    kind = {"bfloat16_t": ml_dtypes.bfloat16, "float": np.float32}[dtype]
    target = _strided(address, m, n, pitch, kind)
    rounded = values.astype(kind)
    if accumulate:
        rounded = (target.astype(np.float32) + rounded.astype(np.float32)).astype(kind)
    target[...] = rounded


@dataclass
class FakeRuntime:
    device: FakeDevice = field(default_factory=FakeDevice)
    kernels: dict[str, FakeKernel] = field(default_factory=dict)
    options: list[Any] = field(default_factory=list)
    built_without_load: list[str] = field(default_factory=list)
    fail: Exception | None = None

    def compile(self, name: str, source: str, options: Any = None) -> FakeKernel:
        assert UNITS[name] in source
        if self.fail is not None:
            raise self.fail
        self.options.append(options)
        return self.kernels.setdefault(source, FakeKernel(source))

    def compile_without_load(self, name: str, source: str, options: Any = None) -> Path | None:
        assert UNITS[name] in source
        self.built_without_load.append(source)
        return None


@pytest.fixture
def fake_runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeRuntime]:
    """Replaces every runtime of the package."""
    runtime = FakeRuntime()
    monkeypatch.setattr(_jit, "runtime_for", lambda device: runtime)
    monkeypatch.setattr(_jit, "default_runtime", lambda: runtime)
    monkeypatch.setattr(_jit, "bind", lambda runtime, kernel, num_blocks: kernel.run)
    plans.clear_plans()
    yield runtime
    plans.clear_plans()


@pytest.fixture
def fresh_settings() -> Iterator[None]:
    """Puts the process-wide settings back."""
    before = _settings.current()
    yield
    _settings.update(**before._asdict())
