"""`TK_PRINT_KERNEL_SOURCE` prints the text of the kernel that runs, at each call."""

import pytest
import torch

from tile_kernels import moe
from tile_kernels._shared.jit.errors import ConfigError


def test_each_call_prints_the_text_of_its_kernel(monkeypatch, capsys):
    weights = torch.rand(3, 4)
    moe.normalize_weight(weights)
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("TK_PRINT_KERNEL_SOURCE", "1")
    for _ in range(2):
        moe.normalize_weight(weights)
        text = capsys.readouterr().out
        assert text.count("__global__") == 1
        assert "normalize_weight" in text
    monkeypatch.setenv("TK_PRINT_KERNEL_SOURCE", "0")
    moe.normalize_weight(weights)
    assert capsys.readouterr().out == ""


def test_another_value_is_refused(monkeypatch):
    monkeypatch.setenv("TK_PRINT_KERNEL_SOURCE", "loud")
    with pytest.raises(ConfigError, match="TK_PRINT_KERNEL_SOURCE"):
        moe.normalize_weight(torch.rand(3, 4))
