"""Payload packing: the rule and examples of deep_jit.md section 7.1, types and errors of 7.3."""

from __future__ import annotations

import array
import ctypes
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deep_jit._shared.jit import args as jit_args
from deep_jit._shared.jit.args import ByValue, PayloadLayout, pack_arguments
from deep_jit._shared.jit.backends.base import ParamInfo
from deep_jit._shared.jit.errors import ArgumentError

POINTER = ParamInfo("pointer", 8, 8, "float *")
I8 = ParamInfo("int", 1, 1, "signed char")
I32 = ParamInfo("int", 4, 4, "int")
I64 = ParamInfo("int", 8, 8, "long")
U8 = ParamInfo("uint", 1, 1, "unsigned char")
F32 = ParamInfo("float", 4, 4, "float")
F64 = ParamInfo("float", 8, 8, "double")
BOOL = ParamInfo("bool", 1, 1, "bool")
BYTES3 = ParamInfo("struct", 3, 1, "Rgb")
NAMED = {
    "i8": (jit_args.i8, "b", -(2**7), 2**7 - 1),
    "i16": (jit_args.i16, "h", -(2**15), 2**15 - 1),
    "i32": (jit_args.i32, "i", -(2**31), 2**31 - 1),
    "i64": (jit_args.i64, "q", -(2**63), 2**63 - 1),
    "u8": (jit_args.u8, "B", 0, 2**8 - 1),
    "u16": (jit_args.u16, "H", 0, 2**16 - 1),
    "u32": (jit_args.u32, "I", 0, 2**32 - 1),
    "u64": (jit_args.u64, "Q", 0, 2**64 - 1),
}


@pytest.mark.parametrize(
    ("params", "offsets", "size"),
    [
        (
            (POINTER, I8, POINTER, F32, POINTER, I64, POINTER, F64),
            (0, 8, 16, 24, 32, 40, 48, 56),
            64,
        ),
        ((I8, I8, I64), (0, 4, 8), 16),
        ((I32, I64), (0, 8), 16),
        ((I8, BYTES3), (0, 4), 8),
        ((F32, POINTER, BOOL), (0, 8, 16), 24),
        ((), (), 8),
    ],
    ids=["eight", "i8-i8-i64", "i32-i64", "i8-struct3", "f32-ptr-bool", "none"],
)
def test_layout_examples_of_the_specification(params, offsets, size):
    layout = PayloadLayout(params)
    assert layout.offsets == offsets
    assert layout.size == size
    assert layout.struct.size == size


@given(
    st.lists(
        st.tuples(st.integers(1, 40), st.sampled_from([1, 2, 4, 8, 16, 32])), min_size=0, max_size=8
    )
)
def test_layout_follows_the_rule_for_any_sizes(shapes):
    params = [ParamInfo("struct", size, align, "S") for size, align in shapes]
    values = [bytes([index + 1]) * size for index, (size, _) in enumerate(shapes)]
    payload = PayloadLayout(params).pack(values)
    expected = bytearray()
    for (_, align), value in zip(shapes, values, strict=True):
        while len(expected) % max(4, align):
            expected.append(0)
        expected += value
    while len(expected) % 8 or not expected:
        expected.append(0)
    assert payload == bytes(expected)


def test_padding_is_zero_and_values_are_little_endian():
    payload = pack_arguments([jit_args.i8(-1), jit_args.i64(0x0102030405060708)], None)
    assert payload == b"\xff" + bytes(7) + bytes.fromhex("0807060504030201")


@pytest.mark.parametrize("name", NAMED)
def test_typed_integers_take_their_whole_range_and_no_more(name):
    cls, code, low, high = NAMED[name]
    for value in (low, high):
        payload = pack_arguments([cls(value)], None)
        assert struct.unpack_from(f"<{code}", payload) == (value,)
    for value in (low - 1, high + 1):
        with pytest.raises(
            ArgumentError, match=rf"got {value}; wanted {name}, allowed: {low} \.\. {high}"
        ):
            cls(value)


def test_typed_floats_and_bool():
    payload = pack_arguments([jit_args.f32(1.5), jit_args.f64(-2.25), jit_args.bool_(True)], None)
    assert struct.unpack("<f4xd?7x", payload) == (1.5, -2.25, True)
    infinite = pack_arguments([jit_args.f32(float("-inf"))], None)
    assert struct.unpack_from("<f", infinite) == (float("-inf"),)
    with pytest.raises(ArgumentError, match="too large for f32"):
        jit_args.f32(1e39)
    with pytest.raises(ArgumentError, match="pass True or False"):
        jit_args.bool_(1)
    with pytest.raises(ArgumentError, match="pass an int"):
        jit_args.i32(1.0)


class DataPtr:
    def data_ptr(self) -> int:
        return 0x1234


class OnlyDlpack:
    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __dlpack__(self) -> object:
        return self.values.__dlpack__()


def _address(payload: bytes) -> int:
    return struct.unpack("<Q", payload)[0]


@pytest.mark.parametrize("params", [None, (POINTER,)], ids=["unknown", "known"])
def test_pointer_likes_give_their_address(params):
    values = np.arange(10, dtype=np.float32)
    data = values.ctypes.data
    raw = bytearray(16)
    raw_address = ctypes.addressof(ctypes.c_char.from_buffer(raw))
    numbers = array.array("i", [1, 2, 3])
    c_array = (ctypes.c_int * 4)()
    cases = [
        (None, 0),
        (values, data),
        (values[2:], data + 8),
        (OnlyDlpack(values[3:]), data + 12),
        (DataPtr(), 0x1234),
        (raw, raw_address),
        (memoryview(raw)[4:], raw_address + 4),
        (memoryview(bytes(raw)), None),
        (numbers, numbers.buffer_info()[0]),
        (c_array, ctypes.addressof(c_array)),
        (ctypes.pointer(c_array), ctypes.addressof(c_array)),
        (ctypes.c_void_p(0xABCD), 0xABCD),
        (ctypes.c_void_p(None), 0),
        (bytearray(), 0),
    ]
    for value, expected in cases:
        address = _address(pack_arguments([value], params))
        if expected is None:
            assert address != 0
        else:
            assert address == expected, value


def test_torch_tensor_is_a_pointer():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(6).reshape(2, 3)
    assert _address(pack_arguments([tensor[1]], None)) == tensor.data_ptr() + 24


def test_numpy_and_ctypes_scalars_say_their_own_type():
    payload = pack_arguments(
        [np.int16(-2), np.float32(0.5), ctypes.c_uint64(2**63), ctypes.c_bool(True), np.float64(3)],
        None,
    )
    assert struct.unpack("<h2xfQ?7xd", payload) == (-2, 0.5, 2**63, True, 3.0)


class Pair(ctypes.Structure):
    _fields_ = [("stride", ctypes.c_int64), ("flag", ctypes.c_int8)]


def test_structures_go_by_value_with_their_alignment():
    payload = pack_arguments([jit_args.i8(1), Pair(7, 2)], None)
    assert struct.unpack("<b7xqb7x", payload) == (1, 7, 2)
    known = (I8, ParamInfo("struct", 16, 8, "Pair"))
    as_bytes = bytes(Pair(7, 2))
    for value in (Pair(7, 2), as_bytes, ByValue(as_bytes, align=8), ByValue(as_bytes, align=1)):
        assert pack_arguments([1, value], known) == payload


def test_own_two_byte_types_go_by_value():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    half = ParamInfo("struct", 2, 2, "bfloat16_t")
    assert pack_arguments([ml_dtypes.bfloat16(1.0)], (half,)) == b"\x80\x3f" + bytes(6)


def test_bare_numbers_need_a_signature():
    for value in (1, 1.5, True, b"abcd"):
        with pytest.raises(ArgumentError, match="argument 0: got .*not known without the kernel's"):
            pack_arguments([value], None)
    payload = pack_arguments([1, 2, 3.5, True, 4], (I8, I64, F32, BOOL, F64))
    assert struct.unpack("<b7xqf?3xd", payload) == (1, 2, 3.5, True, 4.0)


@pytest.mark.parametrize(
    ("param", "value", "text"),
    [
        (I8, 128, r"argument 1: got 128; wanted signed char, allowed: -128 \.\. 127"),
        (U8, -1, r"argument 1: got -1; wanted unsigned char, allowed: 0 \.\. 255"),
        (I32, 2.0, r"argument 1: got float 2\.0; wanted int: pass an int"),
        (I32, True, r"argument 1: got bool True; wanted int"),
        (BOOL, 1, r"argument 1: got int 1; wanted bool: pass True or False"),
        (F32, 1e300, r"argument 1: got 1e\+300; it is too large for float \(4 bytes\)"),
        (F32, "x", r"argument 1: got str 'x'; wanted float"),
        (I32, jit_args.i64(1), r"argument 1: got i64 i64\(1\); wanted int \(int, 4 bytes\)"),
        (I32, np.uint32(1), r"argument 1: got uint32 .*; wanted int \(int, 4 bytes\)"),
        (I32, np.arange(3), r"argument 1: got ndarray .*; wanted int"),
        (POINTER, 4096, r"argument 1: got int 4096; wanted a pointer \(float \*\).*c_void_p"),
        (POINTER, jit_args.u64(1), r"argument 1: got u64 u64\(1\); wanted a pointer"),
        (POINTER, np.float32(1), r"argument 1: got float32 .*; wanted a pointer"),
        (BYTES3, b"abcd", r"argument 1: got 4 bytes aligned to 1; wanted Rgb of 3 bytes"),
        (BYTES3, ByValue(b"abc", 8), r"argument 1: got 3 bytes aligned to 8; wanted Rgb"),
        (BYTES3, 5, r"argument 1: got int 5; wanted Rgb by value \(3 bytes\)"),
    ],
)
def test_wrong_arguments_name_index_got_and_wanted(param, value, text):
    with pytest.raises(ArgumentError, match=text) as caught:
        pack_arguments([None, value], (POINTER, param))
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_wrong_count_lists_the_parameters(count):
    with pytest.raises(
        ArgumentError, match=rf"got {count} arguments; .* takes 2: \(float \*, int\)"
    ):
        pack_arguments([None] * count, (POINTER, I32))


def test_by_value_checks_its_alignment():
    for align in (0, 3, -4):
        with pytest.raises(ArgumentError, match=f"got align={align}; allowed: a power of two"):
            ByValue(b"abc", align)


def test_precomputed_struct_matches_the_checked_path():
    values = np.zeros(4, np.float32)
    layout = PayloadLayout((POINTER, I32, F32))
    assert layout.struct.pack(values.ctypes.data, 5, 0.5) == layout.pack([values, 5, 0.5])
