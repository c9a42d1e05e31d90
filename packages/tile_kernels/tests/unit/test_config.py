"""Settings and integer helpers (tile_kernels.md section 2)."""

import pytest

import tile_kernels
from tile_kernels import config, errors, utils


@pytest.fixture(autouse=True)
def _defaults():
    config.reset_runtime_config()
    yield
    config.reset_runtime_config()


def test_core_counts_follow_the_emulated_device():
    with tile_kernels.emulator(num_cores=6):
        assert config.get_device_num_sms() == 6
        assert config.get_num_vec_cores() == 12
        config.set_num_sms(4)
        assert config.get_num_ai_cores() == config.get_num_cube_cores() == 4
        for wrong in (0, 7, -1):
            with pytest.raises(errors.TileKernelsValueError, match=f"got {wrong}, allowed are 1"):
                config.set_num_sms(wrong)
        assert config.get_num_vec_cores() == 8


def test_reset_restores_every_default():
    config.set_token_alignment(32)
    config.set_pdl(True)
    config.use_deterministic_algorithms(True)
    config.set_amax_clamp_for_quant("e2m1", False, 1.0)
    config.reset_runtime_config()
    assert config.get_token_alignment() == 128
    assert not config.get_pdl()
    assert not config.get_deterministic_algorithms()
    clamps = {
        ("e4m3", False): 1e-4,
        ("e4m3", True): 448 / 512,
        ("e2m1", False): 6 * 2.0**-126,
        ("e2m1", True): 6 / 512,
    }
    for key, value in clamps.items():
        assert config.get_amax_clamp_for_quant(*key) == value


def test_bad_settings_change_nothing():
    with pytest.raises(ValueError, match="'e5m6'; allowed: 'e4m3', 'e2m1'"):
        config.set_amax_clamp_for_quant("e5m6", False, 1.0)
    with pytest.raises(ValueError, match="positive and finite, got 0"):
        config.set_amax_clamp_for_quant("e4m3", False, 0)
    with pytest.raises(ValueError, match="positive int, got -8"):
        config.set_token_alignment(-8)
    assert config.get_token_alignment() == 128


def test_unified_buffer_leaves_room_for_simt():
    assert config.get_max_ub_per_vector_core() == 216 * 1024
    assert config.get_max_ub_per_vector_core(use_simt=False) == 248 * 1024


def test_integer_helpers():
    assert [utils.ceil_div(x, 4) for x in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert [utils.align(x, 32) for x in (0, 1, 32, 33)] == [0, 32, 32, 64]
    assert [x for x in range(-2, 20) if utils.is_power_of_two(x)] == [1, 2, 4, 8, 16]
    assert [utils.next_power_of_two(x) for x in (0, 1, 3, 4, 33)] == [1, 1, 4, 4, 64]


def test_format_names():
    import torch

    assert utils.str_to_dtype("e2m1") is torch.int8
    assert utils.str_to_dtype("e4m3") is torch.float8_e4m3fn
    with pytest.raises(errors.TileKernelsValueError, match="'int4'; allowed: 'fp32'"):
        utils.str_to_dtype("int4")
