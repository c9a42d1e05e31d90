"""BF16 GEMM on `npu` tensors through stand-in tools and ACL (architecture.md section 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

import deep_gemm
from deep_gemm import _jit
from deep_gemm._shared.testing.npu_tensors import NpuStream, NpuTensor, register_npu_device
from deep_gemm._shared.testing.stand_ins import StandInToolkit
from deep_gemm._shared.testing.stand_ins.fixtures import journal, library_cache, make_toolkit
from deep_gemm._shared.testing.stand_ins.harness import AclJournal
from deep_gemm.apis.plans import clear_plans
from deep_gemm.testing import calc_diff

__all__ = ["journal", "library_cache", "make_toolkit"]


@pytest.fixture
def toolkit(
    make_toolkit: Callable[..., StandInToolkit],
    jit_cache_root: Path,
    empty_jit_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[StandInToolkit]:
    """A toolkit whose kernels run in the emulator; the package starts without any runtime."""
    toolkit = make_toolkit(emulate=True, cache_dir=str(jit_cache_root))
    monkeypatch.setenv("ASCEND_HOME_PATH", str(toolkit.home))
    monkeypatch.delenv("DG_JIT_CACHE_DIR", raising=False)
    monkeypatch.setenv("DJ_JIT_RUNTIME_DIR", str(jit_cache_root))  # one emulator for both targets
    monkeypatch.setenv("ASCEND_LAUNCH_BLOCKING", "1")  # a failed launch raises where it happens
    register_npu_device()
    clear_plans()
    _jit.clear_runtimes()
    yield toolkit
    clear_plans()
    _jit.clear_runtimes()


def operands(
    generator: torch.Generator, m: int, n: int, k: int, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A, B and an empty D on the host."""
    a = torch.randn(m, k, generator=generator).to(torch.bfloat16)
    b = torch.randn(n, k, generator=generator).to(torch.bfloat16)
    return a, b, torch.full((m, n), float("nan"), dtype=dtype)


@pytest.mark.parametrize(
    ("m", "n", "k", "dtype"), [(128, 192, 256, torch.bfloat16), (77, 130, 96, torch.float32)]
)
def test_same_bits_as_on_the_cpu(
    toolkit: StandInToolkit,
    journal: AclJournal,
    generator: torch.Generator,
    m: int,
    n: int,
    k: int,
    dtype: torch.dtype,
) -> None:
    a, b, d = operands(generator, m, n, k, dtype)
    expected = torch.empty_like(d)
    deep_gemm.bf16_gemm_nt(a, b, expected)
    result = NpuTensor(d)
    with register_npu_device().stream(NpuStream(0x99)):
        deep_gemm.bf16_gemm_nt(NpuTensor(a), NpuTensor(b), result)
    assert torch.equal(result.cpu(), expected), f"{m=}, {n=}, {k=}, {dtype=}"
    reference = a.double() @ b.double().T
    assert calc_diff(expected.double(), reference) < 1e-5
    (launch,) = journal.launches()
    assert launch["stream"] == 0x99
    assert "bf16_gemm_impl" in launch["kernel"]
    payload = bytes.fromhex(launch["payload"])
    assert payload[:8] == a.data_ptr().to_bytes(8, "little")
    (command,) = toolkit.commands(tool="bisheng")
    assert "--cce-disable-vf-stack-reserved-ubuf" in command["argv"]


def test_second_call_launches_only(
    toolkit: StandInToolkit, journal: AclJournal, generator: torch.Generator
) -> None:
    a, b, d = map(NpuTensor, operands(generator, 64, 64, 64, torch.bfloat16))
    for _ in range(2):
        deep_gemm.bf16_gemm_nt(a, b, d)
    assert len(journal.launches()) == 2
    assert len(journal.calls("aclrtBinaryLoadFromFile")) == 1
    assert len(toolkit.commands()) == 2


def test_the_emulators_checkers_do_not_concern_a_device(
    toolkit: StandInToolkit, journal: AclJournal, generator: torch.Generator
) -> None:
    a, b, d = map(NpuTensor, operands(generator, 64, 64, 64, torch.bfloat16))
    with deep_gemm.emulator(checks="all"):
        deep_gemm.bf16_gemm_nt(a, b, d)
    assert len(journal.launches()) == 1
    assert not torch.isnan(d.cpu()).any()


def test_operands_on_two_devices(
    toolkit: StandInToolkit, journal: AclJournal, generator: torch.Generator
) -> None:
    a, b, d = operands(generator, 32, 32, 32, torch.bfloat16)
    with pytest.raises(ValueError, match="device"):
        deep_gemm.bf16_gemm_nt(NpuTensor(a), b, d)
    assert journal.launches() == []
    assert torch.isnan(d).all(), "nothing was written"


def test_no_toolkit(
    toolkit: StandInToolkit, generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCEND_HOME_PATH", "/no/such/toolkit")
    a, b, d = operands(generator, 32, 32, 32, torch.bfloat16)
    with pytest.raises(RuntimeError, match="Ascend toolkit home was not found"):
        deep_gemm.bf16_gemm_nt(NpuTensor(a), NpuTensor(b), NpuTensor(d))
    assert torch.isnan(d).all(), "nothing was written"
