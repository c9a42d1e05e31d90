"""Settings, helpers, environment and locality no-ops (deep_gemm.md sections 0, 1.13, 1.15)."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest
import torch

import deep_gemm
from deep_gemm import DeepGemmTypeError, DeepGemmValueError, _environment, _jit


def test_num_sms_defaults_to_the_device(fake_runtime, fresh_settings) -> None:
    assert deep_gemm.get_num_sms() == 32
    fake_runtime.device.cores = 20
    assert deep_gemm.get_num_sms() == 20


@pytest.mark.parametrize("number", [0, -1, 33])
def test_num_sms_out_of_range(fake_runtime, fresh_settings, number: int) -> None:
    with pytest.raises(DeepGemmValueError, match=rf"num_sms is {number}; allowed: 1\.\.32"):
        deep_gemm.set_num_sms(number)
    assert deep_gemm.get_num_sms() == 32


@pytest.mark.parametrize("value", [1.5, "8", None, True])
def test_num_sms_of_a_wrong_type(fake_runtime, fresh_settings, value: object) -> None:
    with pytest.raises(DeepGemmTypeError, match="num_sms must be an int"):
        deep_gemm.set_num_sms(value)


def test_more_sms_than_the_tensors_device_has(fake_runtime, fresh_settings) -> None:
    deep_gemm.set_num_sms(32)
    fake_runtime.device.cores = 8
    a = torch.eye(4).bfloat16()
    with pytest.raises(DeepGemmValueError, match=r"set_num_sms\(32\).*8 AI cores"):
        deep_gemm.bf16_gemm_nt(a, a, torch.empty(4, 4))


def test_npu_arch(fake_runtime, fresh_settings) -> None:
    with pytest.raises(DeepGemmValueError, match="npu_arch is -1"):
        deep_gemm.set_npu_arch(-1)
    deep_gemm.set_npu_arch(3511)
    assert deep_gemm.get_npu_arch() == 3511
    deep_gemm.set_npu_arch(0)
    assert deep_gemm.get_npu_arch() == 3510


def test_alignment_helpers() -> None:
    assert deep_gemm.get_mk_alignment_for_contiguous_layout() == 256
    assert deep_gemm.get_theoretical_mk_alignment_for_contiguous_layout() == 256
    deep_gemm.set_mk_alignment_for_contiguous_layout(256)
    with pytest.raises(DeepGemmValueError, match="mk_alignment is fixed at 256 currently, got 128"):
        deep_gemm.set_mk_alignment_for_contiguous_layout(128)


def test_deterministic_switch(fresh_settings) -> None:
    assert deep_gemm.get_deterministic_algorithms() is False
    deep_gemm.use_deterministic_algorithms(True)
    assert deep_gemm.get_deterministic_algorithms() is True


def test_locality_helpers_are_no_ops() -> None:
    tensor = torch.ones(2, 2)
    assert deep_gemm.get_num_locality_domains() == 1
    assert deep_gemm.is_localization_available() is False
    assert deep_gemm.localize(tensor, dim=0) is tensor
    assert deep_gemm.is_localized(tensor) is False
    assert deep_gemm.destroy_localizer() is None
    assert deep_gemm.locality_domain.localize is deep_gemm.localize


def test_library_root_holds_the_device_sources() -> None:
    root = Path(deep_gemm.get_library_root_path())
    assert (root / "include" / "deep_gemm" / "impls" / "bf16_gemm.hpp").is_file()


def test_every_exported_name_exists() -> None:
    for name in deep_gemm.__all__:
        assert hasattr(deep_gemm, name), name
    assert len(set(deep_gemm.__all__)) == len(deep_gemm.__all__)


def test_cublaslt_names_are_the_reference_functions() -> None:
    for suffix in ("nt", "nn", "tn", "tt"):
        assert getattr(deep_gemm, f"cublaslt_gemm_{suffix}") is getattr(
            deep_gemm, f"aclnn_bf16_gemm_{suffix}"
        )


def test_toolkit_path_order() -> None:
    both = {"ASCEND_HOME_PATH": "/first", "ASCEND_TOOLKIT_HOME": "/second"}
    assert _environment.ascend_home(both) == "/first"
    assert _environment.ascend_home({"ASCEND_TOOLKIT_HOME": "/second"}) == "/second"
    assert _environment.ascend_home({"ASCEND_HOME_PATH": ""}).endswith("latest")


def test_persistent_envs_fill_only_unset_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("deep_gemm.envs")
    module.persistent_envs = {"DG_ONE": "1", "DG_TWO": "2"}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "deep_gemm.envs", module)
    environ = {"DG_ONE": "kept"}
    _environment.apply_persistent_envs(environ)
    assert environ == {"DG_ONE": "kept", "DG_TWO": "2"}


def test_no_persistent_envs_is_fine() -> None:
    environ: dict[str, str] = {}
    _environment.apply_persistent_envs(environ)
    assert environ == {}


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [({}, False), ({"DG_PRINT_CONFIGS": "1"}, True), ({"DG_PRINT_CONFIGS": "0"}, False),
     ({"DG_JIT_DEBUG": "true"}, True), ({"DJ_JIT_DEBUG": "1"}, True),
     ({"DJ_JIT_DEBUG": "1", "DG_JIT_DEBUG": "0"}, False)],
)  # fmt: skip
def test_print_switches(monkeypatch: pytest.MonkeyPatch, environ, wanted: bool) -> None:
    for name in ("DG_PRINT_CONFIGS", "DG_JIT_DEBUG", "DJ_JIT_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert _jit.print_configs_enabled() is wanted


def test_import_reads_no_jit_setting_and_builds_nothing(tmp_path: Path) -> None:
    """Bogus settings hurt at first use, not at import (deep_jit.md section 16)."""
    script = (
        "import deep_gemm, sys\n"
        "assert not deep_gemm._jit._runtimes\n"
        "try:\n"
        "    deep_gemm.get_num_sms()\n"
        "except deep_gemm.errors.Error as error:\n"
        "    print(type(error).__name__)\n"
    )
    environ = {**os.environ, "DG_JIT_LAUNCH_TIMEOUT": "soon", "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environ, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "ConfigError"
    assert list(tmp_path.iterdir()) == []
