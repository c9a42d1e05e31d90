"""Expressions, stored kernels and binding, without TileLang."""

from __future__ import annotations

import pytest

from deep_jit._shared.jit import ArgumentError
from deep_jit._shared.jit.tilelang.binding import bind
from deep_jit._shared.jit.tilelang.expression import evaluate, symbols_of, text
from deep_jit._shared.jit.tilelang.lowered import Lowered, Parameter

torch = pytest.importorskip("torch")

GRID = ["FloorDiv", ["Add", "n", 3], 4]


def _lowered(**fields: object) -> Lowered:
    values: dict[str, object] = {
        "name": "f",
        "kernel": "f_kernel",
        "source": "text",
        "grid": GRID,
        "parameters": (
            Parameter("x", "float32", ("n", 8), ("s", 1)),
            Parameter("k", "int32"),
            Parameter("y", "float4_e2m1fn", ("n", ["Mul", "n", 2]), ()),
        ),
        "outputs": (2,),
        "kernel_parameters": ("y", "k", "x", "n"),
    }
    return Lowered(**{**values, **fields})


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (7, 7),
        ("n", -7),
        (["FloorDiv", "n", 2], -4),
        (["Div", "n", 2], -3),
        (["FloorMod", "n", 4], 1),
        (["Mod", "n", 4], -3),
        (["Select", ["LT", "n", 0], ["Min", "n", -9], 5], -9),
        (["Max", ["Not", 0], ["And", 1, 0]], 1),
    ],
)
def test_expressions(expression, value):
    assert evaluate(expression, {"n": -7}) == value


def test_symbols_and_texts():
    assert symbols_of(GRID) == {"n"}
    assert text(GRID) == "((n + 3) // 4)"
    assert text(["Min", "a", 2]) == "min(a, 2)"
    with pytest.raises(ArgumentError, match="symbol n has no value"):
        evaluate(GRID, {})


def test_a_stored_kernel_is_the_same():
    lowered = _lowered()
    assert Lowered.from_json(lowered.to_json()) == lowered
    with pytest.raises(ValueError, match="another schema"):
        Lowered.from_json(lowered.to_json().replace(b'"schema": 1', b'"schema": 0'))


def test_arguments_are_bound_by_name_in_the_kernels_order():
    x = torch.zeros(6, 16)[:, :8]
    bound = bind(_lowered(), (x, 3), {})
    y, k, same, n = bound.arguments
    assert (k, n, bound.blocks) == (3, 6, 2)
    assert same is x
    assert y is bound.outputs[0]
    assert y.dtype == torch.int8
    assert tuple(y.shape) == (6, 6)


def test_a_symbol_has_one_value():
    lowered = _lowered(
        parameters=(Parameter("a", "int8", ("n",)), Parameter("b", "int8", ("n",))),
        outputs=(),
        kernel_parameters=("a", "b"),
    )
    with pytest.raises(ArgumentError, match=r"b has shape \(4,\), wanted \(3,\) = \(n,\)"):
        bind(lowered, (torch.zeros(3).char(), torch.zeros(4).char()), {})
