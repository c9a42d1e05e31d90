"""Case lists, names and plug-ins of `tile_kernels.testing` (tile_kernels.md section 11)."""

import importlib

import pytest
import torch

import tile_kernels
from tile_kernels.testing import bench, generator
from tile_kernels.testing.pytest.ids import pytest_make_parametrize_id
from tile_kernels.torch import get_mapping_from_psum

NAMES = {
    "numeric": "assert_equal calc_diff check_bias count_bytes",
    "quant": "clear_unused_sf clear_unused_sf_col_pack quant_level_rank",
    "bench": (
        "print_average_perf dtype_to_str make_param_key make_param_id suppress_stdout_stderr "
        "empty_suppress get_cast_params format_param_id"
    ),
    "generator": (
        "generate_num_tokens generate_hidden_sizes generate_num_sms generate_moe_params "
        "generate_topk_idx generate_e5m6_inputs generate_rand_float get_test_level "
        "generate_samples generate_cast_config generate_psum_layout"
    ),
    "moe": "construct_logits",
    "pytest.device": "few_cores fresh_settings",
    "pytest.ids": "pytest_make_parametrize_id",
}


@pytest.mark.parametrize("module", NAMES)
def test_names(module):
    package = importlib.import_module(f"tile_kernels.testing.{module}")
    assert set(NAMES[module].split()) <= set(package.__all__)
    assert all(hasattr(package, name) for name in package.__all__)


def test_psum_layout_is_the_mapping_of_its_ends():
    params = generator.MoeParams(50, 12, 3, alignment=16)
    mask, psum = generator.generate_psum_layout(params)
    assert len(mask) % 16 == 0
    assert torch.equal(mask, get_mapping_from_psum(psum, len(mask), 16))
    assert 0 < int(mask.sum()) <= 150


def test_cast_configs_are_allowed_and_grow_with_the_level():
    from tile_kernels.quant.common import get_cast_output_config

    sizes = [len(generator.generate_cast_config(level, "e4m3")) for level in (0, 1, 2)]
    assert sizes == sorted(set(sizes))
    for params in bench.get_cast_params(2):
        config = get_cast_output_config(params.pop("fmt"), (1, 32), **params)
        assert config.round_sf or not config.use_packed_ue8m0
    with pytest.raises(ValueError, match="fmt got 'fp4'"):
        generator.generate_cast_config(0, "fp4")


def test_numbers_of_cores_and_tokens(monkeypatch):
    most = tile_kernels.get_device_num_sms()
    for level in (0, 1, 2):
        assert generator.generate_num_sms(level)[-1] == most
        assert all(0 < count <= most for count in generator.generate_num_sms(level))
    monkeypatch.setenv("TK_PRECOMPILE", "1")
    assert generator.generate_num_tokens(2) == [128]


def test_random_floats_and_borders():
    x = generator.generate_rand_float(1000, low=-3, high=3)
    assert set(torch.frexp(x)[1].tolist()) == set(range(-2, 5))
    assert generator.generate_e5m6_inputs(4, 64).abs().amax(1).tolist() == [65024.0] * 4


def test_names_of_cases():
    assert pytest_make_parametrize_id(None, torch.bfloat16, "dtype") == "bf16"
    assert pytest_make_parametrize_id(None, (32, 128), "block") == "32x128"
    assert pytest_make_parametrize_id(None, {"fmt": "e4m3", "n": 32}, "case") == "fmt=e4m3-n=32"
    assert pytest_make_parametrize_id(None, 5, "n") is None
    assert bench.make_param_key({"b": 1, "a": 2}) == bench.make_param_key({"a": 2, "b": 1})


def test_quiet_runs(capfd):
    with bench.suppress_stdout_stderr():
        print("nothing", flush=True)
    with bench.empty_suppress():
        bench.print_average_perf("copy", [2.0, 4.0], 3000)
    assert capfd.readouterr().out == "copy: 3.0 us, 1 GB/s, 2 runs\n"
