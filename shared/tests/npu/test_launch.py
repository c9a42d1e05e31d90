"""Launches through ACL (deep_jit.md sections 3, 5.1, 6 and 7): payload, stream, faults."""

from __future__ import annotations

import os
import sys
import threading
import types
from pathlib import Path
from typing import Any

import pytest

from deep_jit._shared.jit.backends.ascend.kernel import AscendKernel
from deep_jit._shared.jit.errors import LaunchError, LaunchOptionError, LaunchTimeout
from deep_jit._shared.jit.options import AscendCompilerOptions, LaunchOptions
from deep_jit._shared.testing.npu_tensors import NpuStream, register_npu_device
from deep_jit._shared.testing.stand_ins.harness import AICPU_KERNEL, AclJournal, Builder

PAYLOAD = bytes(range(24))


@pytest.fixture
def kernel(builder: Builder) -> AscendKernel:
    return builder.load()


def options(**fields: Any) -> LaunchOptions:
    return LaunchOptions.defaults(timeout_s=0).override_with(LaunchOptions(**fields))


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview])
def test_payload_arrives_unchanged(
    kernel: AscendKernel, journal: AclJournal, form: type[bytes]
) -> None:
    kernel.launch(form(PAYLOAD), options(num_blocks=3))
    (launch,) = journal.launches()
    assert launch["payload"] == PAYLOAD.hex()
    assert (launch["kernel"], launch["num_blocks"], launch["placeholders"]) == ("add", 3, 0)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {"attributes": 0}),
        ({"num_ubuf_bytes": 8192}, {"attributes": 1, "dynamic_ubuf_bytes": 8192}),
        ({"num_launch_timeout_secs": 300}, {"attributes": 1, "timeout_seconds": 300}),
        (
            {"num_ubuf_bytes": 32, "num_launch_timeout_secs": 65535},
            {"attributes": 2, "dynamic_ubuf_bytes": 32, "timeout_seconds": 65535},
        ),
    ],
)
def test_configuration(
    kernel: AscendKernel, journal: AclJournal, fields: dict[str, int], expected: dict[str, int]
) -> None:
    for _ in range(2):
        kernel.launch(PAYLOAD, options(num_blocks=1, **fields))
    for launch in journal.launches():
        found = {name: launch[name] for name in launch if name in expected}
        assert found == expected
        assert not {"dynamic_ubuf_bytes", "timeout_seconds"} - set(expected) & set(launch)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Ascend block count must be positive"),
        ({"num_blocks": 0}, "Ascend block count must be positive"),
        ({"num_blocks": 1, "num_ubuf_bytes": -1}, "dynamic UB size must not be negative"),
        ({"num_blocks": 1, "num_launch_timeout_secs": 65536}, "launch timeout is out of range"),
        ({"num_blocks": 1, "num_launch_timeout_secs": -1}, "launch timeout is out of range"),
        ({"num_blocks": 1, "stream": "0"}, "stream must be a torch.npu.Stream"),
        ({"num_blocks": 1, "stream": True}, "stream must be a torch.npu.Stream"),
    ],
)
def test_bad_options_reach_no_device(
    kernel: AscendKernel, journal: AclJournal, fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(LaunchOptionError, match=message):
        kernel.launch(PAYLOAD, options(**fields))
    assert journal.launches() == []


def test_aicpu_kernels_have_no_dynamic_ub(builder: Builder, journal: AclJournal) -> None:
    kernel = builder.load(AICPU_KERNEL, AscendCompilerOptions(aicpu=True))
    with pytest.raises(LaunchOptionError, match="AICPU kernels do not support dynamic UB"):
        kernel.launch(PAYLOAD, options(num_blocks=1, num_ubuf_bytes=32))
    kernel.launch(PAYLOAD, options(num_blocks=1))
    assert [launch["kernel"] for launch in journal.launches()] == ["add"]


def test_streams(kernel: AscendKernel, journal: AclJournal) -> None:
    npu = register_npu_device()
    with npu.stream(NpuStream(0x1234)):
        kernel.launch(PAYLOAD, options(num_blocks=1))
        kernel.launch(PAYLOAD, options(num_blocks=1, stream=NpuStream(0x77)))
        kernel.launch(PAYLOAD, options(num_blocks=1, stream=0x88))
        explicit_null = LaunchOptions(None, 1, 0, 0)
        kernel.launch(PAYLOAD, explicit_null)
    kernel.launch(PAYLOAD, options(num_blocks=1))
    assert [launch["stream"] for launch in journal.launches()] == [0x1234, 0x77, 0x88, 0, 0]


def test_current_stream_of_torch_npu(
    kernel: AscendKernel, journal: AclJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    torch_npu = types.ModuleType("torch_npu")
    torch_npu._C = types.SimpleNamespace(  # type: ignore[attr-defined]
        _npu_getCurrentRawStream=lambda device: asked.append(device) or 0x55
    )
    monkeypatch.setitem(sys.modules, "torch_npu", torch_npu)
    kernel.launch(PAYLOAD, options(num_blocks=1))
    assert ([launch["stream"] for launch in journal.launches()], asked) == ([0x55], [0])


@pytest.mark.parametrize(
    ("value", "waits"), [(None, 0), ("0", 0), ("false", 0), ("1", 1), ("yes", 1)]
)
def test_launch_blocking_is_read_at_every_launch(
    kernel: AscendKernel,
    journal: AclJournal,
    monkeypatch: pytest.MonkeyPatch,
    value: str | None,
    waits: int,
) -> None:
    if value is not None:
        monkeypatch.setenv("ASCEND_LAUNCH_BLOCKING", value)
    kernel.launch(PAYLOAD, options(num_blocks=1))
    assert len(journal.calls("aclrtSynchronizeDevice")) == waits


def test_failed_launch(kernel: AscendKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASC_STAND_IN_FAIL", "aclrtLaunchKernelWithHostArgs=107003")
    monkeypatch.setenv("ASC_STAND_IN_MESSAGE", "stream not in current context")
    with pytest.raises(
        LaunchError,
        match="^aclrtLaunchKernelWithHostArgs failed with ACL error 107003: stream not in current",
    ):
        kernel.launch(PAYLOAD, options(num_blocks=1))
    monkeypatch.delenv("ASC_STAND_IN_FAIL")
    kernel.launch(PAYLOAD, options(num_blocks=1))


def test_device_timeout_shows_at_the_next_wait(
    kernel: AscendKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCEND_LAUNCH_BLOCKING", "1")
    monkeypatch.setenv("ASC_STAND_IN_FAIL", "aclrtSynchronizeDevice=507014")
    with pytest.raises(LaunchTimeout, match="ACL error 507014"):
        kernel.launch(PAYLOAD, options(num_blocks=1))


def test_unload_is_idempotent(kernel: AscendKernel, journal: AclJournal) -> None:
    kernel.unload()
    kernel.unload()
    assert len(journal.calls("aclrtBinaryUnLoad")) == 1
    with pytest.raises(LaunchError, match="kernel must be loaded before launch"):
        kernel.launch(PAYLOAD, options(num_blocks=1))
    assert journal.launches() == []


def test_unload_never_raises(kernel: AscendKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASC_STAND_IN_FAIL", "aclrtBinaryUnLoad=507000")
    kernel.unload()


def test_collected_kernel_unloads(builder: Builder, journal: AclJournal) -> None:
    kernel = builder.load()
    del kernel
    assert len(journal.calls("aclrtBinaryUnLoad")) == 1


@pytest.mark.faults
def test_child_process_must_make_its_own(
    kernel: AscendKernel, journal: AclJournal, tmp_path: Path
) -> None:
    answer = tmp_path / "child.txt"
    child = os.fork()
    if child == 0:
        try:
            kernel.launch(PAYLOAD, options(num_blocks=1))
        except LaunchError as error:
            answer.write_text(str(error))
        kernel.unload()
        os._exit(0)
    os.waitpid(child, 0)
    assert "was loaded before a fork" in answer.read_text()
    assert journal.calls("aclrtBinaryUnLoad") == []
    kernel.launch(PAYLOAD, options(num_blocks=1))


def test_launches_from_many_threads(kernel: AscendKernel, journal: AclJournal) -> None:
    def work(index: int) -> None:
        for _ in range(20):
            kernel.launch(index.to_bytes(8, "little"), options(num_blocks=index))

    threads = [threading.Thread(target=work, args=(index,)) for index in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen = sorted((launch["num_blocks"], launch["payload"]) for launch in journal.launches())
    expected = [(i, i.to_bytes(8, "little").hex()) for i in range(1, 5) for _ in range(20)]
    assert seen == expected
