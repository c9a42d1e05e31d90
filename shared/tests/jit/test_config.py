"""Configuration rules and device model (deep_jit.md sections 2 and 21)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deep_jit._shared.jit.config import Config
from deep_jit._shared.jit.device import Device, cpu_device
from deep_jit._shared.jit.errors import ConfigError


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", "FK"), "Python library root must not be empty"),
        (("lib", "FK"), "Python library root must be absolute: lib"),
        (("/lib", ""), "environment variable prefix must not be empty"),
        (("/lib", "DJ"), "DJ is reserved for global environment variables"),
        (("/lib", "FK", "", [""]), "JIT include directory must not be empty"),
        (("/lib", "FK", "", ["inc"]), "JIT include directory must be absolute: inc"),
        (("/lib", "FK", "", "/inc"), "include_dirs must be a list"),
        (("/lib", "FK", "", [], "lib/"), "include_prefixes must be a list"),
    ],
)
def test_errors(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Config(*arguments)


def test_paths_are_normalised() -> None:
    config = Config("/a/./b/../c", "FK", include_dirs=[Path("/x//y/"), "/ö b"])
    assert config.root == Path("/a/c")
    assert config.include_paths == (Path("/x/y"), Path("/ö b"))
    assert config.get_python_path("hooks/../run.py") == Path("/a/c/run.py")


def test_json_order_and_additions() -> None:
    config = Config("/a", "FK", b"\x00\xff", ["/i"], ["lib/"])
    assert list(config.to_json()) == [
        "python_library_root",
        "extra_signature",
        "include_dirs",
        "include_prefixes",
        "env_prefix",
        "schema",
    ]
    assert config.signature_bytes == b"\x00\xff"


def test_global_prefix_is_for_deep_jit_itself() -> None:
    assert Config.with_global_prefix("/a", include_dirs=["/i"]).env_prefix == "DJ"


def test_cpu_device_model() -> None:
    device = cpu_device()
    assert device.get_npu_arch() == 3510
    assert device.get_num_aicore_cores() == device.get_num_sms() == 32
    assert device.get_num_cube_cores() == 32
    assert device.get_num_vec_cores_per_ai_core() == 2
    assert device.get_num_ubuf_bytes_per_vec_core() == 256 * 1024
    assert device.get_num_l2_cache_bytes() == 128 << 20
    assert device.to_json()["num_vec_cores"] == 64


def test_device_model_is_overridable() -> None:
    device = cpu_device(overrides={"num_aicore_cores": 24, "num_vec_cores": 50})
    with pytest.raises(ConfigError, match="must be divisible by AI core count, got 50 and 24"):
        device.get_num_vec_cores_per_ai_core()
    with pytest.raises(ConfigError, match="device_model"):
        cpu_device(overrides={"cores": 1})
    assert isinstance(device, Device)


def test_unknown_architecture() -> None:
    with pytest.raises(ConfigError, match="no device model for NPU architecture 1; known: 3510"):
        cpu_device(1)
