"""Signatures as type names (deep_jit.md section 7.3)."""

from __future__ import annotations

import pytest

from deep_jit._shared.jit.backends.base import ParamInfo
from deep_jit._shared.jit.errors import ArgumentError
from deep_jit._shared.jit.signature import parse_signature


def test_names() -> None:
    text = "(__gm__ float* x, const int32_t, std::uint8_t, bool, double, struct[24, align=8])"
    params = parse_signature(text.replace("* x", "*"))
    assert params is not None
    assert [(p.kind, p.size, p.align) for p in params] == [
        ("pointer", 8, 8),
        ("int", 4, 4),
        ("uint", 1, 1),
        ("bool", 1, 1),
        ("float", 8, 8),
        ("struct", 24, 8),
    ]


def test_other_forms() -> None:
    param = ParamInfo("int", 8, 8)
    assert parse_signature(None) is None
    assert parse_signature("") == parse_signature("()") == ()
    assert parse_signature([param, "float"]) == (param, ParamInfo("float", 4, 4, "float"))


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(
        ArgumentError, match=r"unknown type 'Foo' in the signature; known: T\*"
    ) as e:
        parse_signature("Foo")
    assert isinstance(e.value, TypeError)
