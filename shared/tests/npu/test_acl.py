"""The ACL calls (deep_jit.md sections 8, 18 and 21): structures, error texts, libraries."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from deep_jit._shared.jit.backends.ascend import acl_types
from deep_jit._shared.jit.backends.ascend.acl import TIMEOUT_CODES, Acl, load_acl
from deep_jit._shared.jit.backends.ascend.device import read_device
from deep_jit._shared.jit.errors import ConfigError, LaunchError, LaunchTimeout, ToolchainError
from deep_jit._shared.testing.stand_ins import StandInToolkit
from deep_jit._shared.testing.stand_ins.harness import AclJournal


@pytest.fixture
def acl(toolkit: StandInToolkit, journal: AclJournal) -> Acl:
    return load_acl((toolkit.home / "lib64",))


def test_structures_are_laid_out_as_in_the_public_headers() -> None:
    assert ctypes.sizeof(acl_types.LaunchAttribute) == 20
    assert acl_types.LaunchAttribute.value.offset == 4
    assert ctypes.sizeof(acl_types.LaunchConfig) == 16
    assert ctypes.sizeof(acl_types.BinaryLoadOption) == 20
    assert ctypes.sizeof(acl_types.BinaryLoadOptions) == 16


@pytest.mark.parametrize(
    ("ubuf", "timeout", "expected"),
    [
        (0, 0, None),
        (1, 0, [(2, 1)]),
        (0, 65535, [(7, 65535)]),
        (65536, 300, [(2, 65536), (7, 300)]),
    ],
)
def test_only_attributes_that_are_not_zero(
    ubuf: int, timeout: int, expected: list[tuple[int, int]] | None
) -> None:
    config = acl_types.launch_config(ubuf, timeout)
    if config is None:
        assert expected is None
        return
    attributes = [config.attributes[i] for i in range(config.count)]
    assert [(a.id, a.value.reserved[0]) for a in attributes] == expected


def test_error_text_has_call_code_and_recent_message(
    acl: Acl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASC_STAND_IN_FAIL", "aclrtBinaryUnLoad=100,aclrtSynchronizeDevice=507899")
    monkeypatch.setenv("ASC_STAND_IN_MESSAGE", "driver says no")
    with pytest.raises(LaunchError) as caught:
        acl.synchronize_device()
    expected = "aclrtSynchronizeDevice failed with ACL error 507899: driver says no"
    assert str(caught.value) == expected
    assert not isinstance(caught.value, LaunchTimeout)


def test_unknown_message(acl: Acl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASC_STAND_IN_FAIL", "aclrtSynchronizeStream=100000")
    with pytest.raises(LaunchError, match="ACL error 100000: unknown$"):
        acl.synchronize_stream(0)


@pytest.mark.parametrize("code", sorted(TIMEOUT_CODES))
def test_timeout_codes(acl: Acl, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    monkeypatch.setenv("ASC_STAND_IN_FAIL", f"aclrtSynchronizeStream={code}")
    with pytest.raises(LaunchTimeout, match=f"ACL error {code}"):
        acl.synchronize_stream(0)


@pytest.mark.parametrize(
    ("call", "use"),
    [
        ("aclrtGetDevice", lambda acl: acl.current_device()),
        ("aclrtGetDeviceInfo", lambda acl: acl.device_info(0, acl_types.DeviceAttribute.NPU_ARCH)),
        ("aclrtBinaryLoadFromFile", lambda acl: acl.load_file(Path("kernel.o"))),
        (
            "aclrtBinaryLoadFromData",
            lambda acl: acl.load_data(b"x", acl_types.cpu_kernel_options()),
        ),
        ("aclrtBinaryGetFunction", lambda acl: acl.get_function(1, "k")),
        ("aclrtRegisterCpuFunc", lambda acl: acl.register_cpu_function(1, "k_interface", "k")),
        ("aclrtBinaryUnLoad", lambda acl: acl.unload(1)),
        ("aclrtLaunchKernelWithHostArgs", lambda acl: acl.launch(1, 1, 0, None, b"12345678")),
        ("aclrtSynchronizeStream", lambda acl: acl.synchronize_stream(0)),
        ("aclrtSynchronizeDevice", lambda acl: acl.synchronize_device()),
    ],
)
def test_every_call_is_checked(
    acl: Acl, monkeypatch: pytest.MonkeyPatch, call: str, use: Callable[[Acl], object]
) -> None:
    monkeypatch.setenv("ASC_STAND_IN_FAIL", f"{call}=107001")
    with pytest.raises(LaunchError, match=f"^{call} failed with ACL error 107001: unknown$"):
        use(acl)


def test_missing_library_names_every_place(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match=r"failed to load libascendcl\.so: ") as caught:
        load_acl((tmp_path / "a", tmp_path / "b"))
    assert str(tmp_path / "a") in str(caught.value)
    assert str(tmp_path / "b") in str(caught.value)


def test_missing_function(tmp_path: Path) -> None:
    library = tmp_path / "libascendcl.so"
    command = ["gcc", "-shared", "-x", "c", "/dev/null", "-o", str(library)]
    subprocess.run(command, check=True)
    with pytest.raises(
        ToolchainError, match=r"failed to load aclrtBinaryLoadFromFile from .*libascendcl\.so: "
    ):
        load_acl((tmp_path,))


def test_device_properties(acl: Acl, journal: AclJournal) -> None:
    device = read_device(acl, 3)
    assert device.index == 3
    assert device.get_prop().soc_name == "Ascend950PR_9599"
    assert device.get_npu_arch() == 3510
    assert device.get_num_aicore_cores() == device.get_num_sms() == 32
    assert device.get_num_cube_cores() == 32
    assert device.get_num_vec_cores() == 64
    assert device.get_num_vec_cores_per_ai_core() == 2
    assert device.get_num_l2_cache_bytes() == 128 << 20
    assert device.get_num_ubuf_bytes_per_vec_core() == 253952
    calls = journal.calls("aclrtGetDeviceInfo")
    assert {call["device"] for call in calls} == {3}
    assert len(calls) == len({call["attribute"] for call in calls}) == 10, "each is asked for once"


def test_vector_cores_must_be_divisible(acl: Acl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASC_STAND_IN_DEVICE_INFO", "101=24,201=50")
    with pytest.raises(
        ConfigError, match="Ascend vector core count must be divisible by AI core count"
    ):
        read_device(acl, 0).get_num_vec_cores_per_ai_core()


def test_no_chip_name(acl: Acl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASC_STAND_IN_SOC", "")
    with pytest.raises(LaunchError, match="aclrtGetSocName failed"):
        read_device(acl, 0)
