"""What every GEMM demands of its arguments, and all of BF16 (deep_gemm.md sections 1.2 and 1.3).

All checks run before anything is compiled, copied or written: a call that raises leaves D alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from deep_gemm import epilogue as _epilogue
from deep_gemm._shapes import (
    Matrix,
    NamedTensor,
    check_no_self_overlap,
    operand_matrix,
    output_matrix,
    solve_dims,
    span_bytes,
)
from deep_gemm.errors import DeepGemmTypeError, DeepGemmValueError
from deep_gemm.heuristics.records import DType, EpilogueType

if TYPE_CHECKING:
    from collections.abc import Mapping

# Axes of the arguments as passed, by suffix
AXES_A = {"nt": "mk", "nn": "mk", "tn": "km", "tt": "km"}
AXES_B = {"nt": "nk", "nn": "kn", "tn": "kn", "tt": "nk"}
NPU_DEVICE_TYPES = ("npu", "privateuseone")


class GemmProblem(NamedTuple):
    """A checked call: what the search and the launch need, without pointers."""

    m: int
    n: int
    k: int
    a: Matrix
    b: Matrix
    d: Matrix
    dtype: DType = DType.BF16  # of A and B
    stride_sfa: int = 0  # int16 elements between two scale pairs along K
    stride_sfb: int = 0


class Scales(NamedTuple):
    """Scale factors of A and B, and whether fp32 ones may be converted."""

    sfa: torch.Tensor
    sfb: torch.Tensor
    ue8m0_cast: bool


def check_tensors(tensors: Mapping[str, object], c: object) -> None:
    """All (C when given) must be dense torch tensors."""
    for name, value in (*tensors.items(), *([("c", c)] if c is not None else [])):
        if not isinstance(value, torch.Tensor):
            raise DeepGemmTypeError(
                f"{name} must be a torch.Tensor, got {type(value).__name__}; "
                + _tensor_hint(name, value)
            )
        if value.layout is not torch.strided:
            raise DeepGemmTypeError(
                f"{name} has layout {value.layout}; allowed: torch.strided; pass {name}.to_dense()"
            )


def _tensor_hint(name: str, value: object) -> str:
    if not isinstance(value, tuple):
        return "convert it, for example with torch.as_tensor(...)"
    if name == "d":
        return "a result as a (data, scale factors) pair is not there yet"
    return "(data, scale factors) pairs belong to the fp8 functions"


def check_dtypes(a: torch.Tensor, b: torch.Tensor, d: torch.Tensor, c: torch.Tensor | None) -> None:
    """A and B bf16, D and C as `check_output_dtypes` says."""
    if a.dtype is not torch.bfloat16 or b.dtype is not torch.bfloat16:
        raise DeepGemmTypeError(
            f"Unsupported operand dtypes: a is {short_dtype(a.dtype)}, "
            f"b is {short_dtype(b.dtype)}; allowed: bfloat16 for both; "
            "cast with .to(torch.bfloat16)"
        )
    check_output_dtypes(d, c)


def check_output_dtypes(d: torch.Tensor, c: torch.Tensor | None) -> None:
    """D bf16 or fp32, C like D."""
    if d.dtype not in (torch.bfloat16, torch.float32):
        raise DeepGemmTypeError(
            f"d is {short_dtype(d.dtype)}; allowed: bfloat16 or float32; "
            "allocate d with dtype=torch.bfloat16 or torch.float32"
        )
    if c is not None and c.dtype is not d.dtype:
        raise DeepGemmTypeError(
            f"c is {short_dtype(c.dtype)} but d is {short_dtype(d.dtype)}; allowed: equal dtypes; "
            f"pass c.to({d.dtype})"
        )


def check_devices(
    tensors: Mapping[str, torch.Tensor], c: torch.Tensor | None, *, dry_run: bool
) -> None:
    """One device for all: cpu, npu, or meta inside a dry run."""
    named = [*tensors.items(), *([("c", c)] if c is not None else [])]
    if len({tensor.device for _, tensor in named}) > 1:
        where = ", ".join(f"{name} on {tensor.device}" for name, tensor in named)
        raise DeepGemmValueError(
            f"tensors on several devices: {where}; allowed: one device for all; "
            f"move them with .to({str(tensors['d'].device)!r})"
        )
    device = named[0][1].device
    kind = device.type
    allowed = ("cpu", *NPU_DEVICE_TYPES, *(("meta",) if dry_run else ()))
    if kind not in allowed:
        extra = "; meta tensors are for set_dry_run(True) only" if kind == "meta" else ""
        raise DeepGemmValueError(
            f"tensors on device {device}; allowed: cpu (emulated Ascend 950) or npu{extra}; "
            "move them with .to('cpu') or .to('npu')"
        )


def check_gemm(
    suffix: str,
    a: torch.Tensor,
    b: torch.Tensor,
    d: torch.Tensor,
    c: torch.Tensor | None,
    *,
    dry_run: bool,
) -> GemmProblem:
    """Checks a call by everything but its data pointers.

    Raises:
        DeepGemmTypeError: not a dense tensor, or a dtype that is not allowed.
        DeepGemmValueError: shape, stride, size or device is not allowed.
    """
    tensors = {"a": a, "b": b, "d": d}
    check_tensors(tensors, c)
    check_dtypes(a, b, d, c)
    check_devices(tensors, c, dry_run=dry_run)
    arguments = [
        NamedTensor("a", a, AXES_A[suffix]),
        NamedTensor("b", b, AXES_B[suffix]),
        NamedTensor("d", d, "mn"),
    ]
    if c is not None:
        arguments.append(NamedTensor("c", c, "mn"))
    dims = solve_dims(arguments)
    problem = GemmProblem(
        m=dims["m"],
        n=dims["n"],
        k=dims["k"],
        a=operand_matrix(arguments[0], "m"),
        b=operand_matrix(arguments[1], "n"),
        d=output_matrix("d", d),
    )
    check_no_self_overlap("d", problem.d)
    if c is not None:
        output_matrix("c", c)
    return problem


def extent_of(tensor: torch.Tensor) -> int:
    """Bytes from the first to the end of the last element of a 2-D tensor."""
    rows, cols = tensor.shape
    strides = (tensor.stride(0), tensor.stride(1))
    return span_bytes((rows, cols), strides, tensor.element_size())


def check_alias(d: torch.Tensor, other: torch.Tensor, name: str) -> None:
    """Raises when an element of D has an address that `other` uses too; exact, not by ranges."""
    if not np.shares_memory(_address_view(d), _address_view(other)):
        return
    advice = (
        "pass c=d itself, or a c elsewhere" if name == "c" else f"pass a d outside {name}'s memory"
    )
    raise DeepGemmValueError(
        f"d overlaps {name} in memory (d at {d.data_ptr():#x}, {name} at {other.data_ptr():#x}); "
        f"allowed: no common element; {advice}, for example torch.empty_like(d)"
    )


def check_same_view(d: torch.Tensor, c: torch.Tensor) -> None:
    """C at D's address must be D: same sizes, same strides where they matter."""
    differs = [axis for axis in (0, 1) if d.shape[axis] > 1 and d.stride(axis) != c.stride(axis)]
    if differs:
        raise DeepGemmValueError(
            f"c starts at d's address but has strides {tuple(c.stride())}, d has "
            f"{tuple(d.stride())}; allowed: equal strides; pass c=d itself"
        )


class _AddressView:
    """Array interface over an address range; numpy computes with it but never reads it."""

    def __init__(self, tensor: torch.Tensor) -> None:
        size = tensor.element_size()
        self.__array_interface__ = {
            "version": 3,
            "typestr": f"|V{size}",
            "shape": tuple(tensor.shape),
            "strides": tuple(stride * size for stride in tensor.stride()),
            "data": (tensor.data_ptr(), True),
        }


def _address_view(tensor: torch.Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.void]]:
    return np.asarray(_AddressView(tensor))


def call_options(
    compiled_dims: object, alpha: object, epilogue: object
) -> tuple[str, EpilogueType, float]:
    """(compiled dims, epilogue, factor) of a call, checked; cheap when they are the usual ones."""
    if alpha is None and epilogue is None:
        kind, factor = EpilogueType.IDENTITY, 1.0
    else:
        kind, factor = check_epilogue(alpha, epilogue)
    if type(compiled_dims) is str:
        return _known_dims(compiled_dims), kind, factor
    return check_compiled_dims(compiled_dims), kind, factor


def check_compiled_dims(compiled_dims: object) -> str:
    """A subset of "mnk" in any order; returned in that order."""
    if not isinstance(compiled_dims, str):
        raise DeepGemmTypeError(
            f"compiled_dims must be a str, got {type(compiled_dims).__name__}; "
            "allowed: a subset of 'mnk', for example 'nk' or ''"
        )
    if set(compiled_dims) - set("mnk") or len(set(compiled_dims)) != len(compiled_dims):
        raise DeepGemmValueError(
            f"compiled_dims is {compiled_dims!r}; allowed: each of 'm', 'n', 'k' at most once, "
            "for example 'nk' or ''"
        )
    return "".join(axis for axis in "mnk" if axis in compiled_dims)


_known_dims = lru_cache(maxsize=64, typed=True)(check_compiled_dims)


def check_epilogue(alpha: object, epilogue: object) -> tuple[EpilogueType, float]:
    """(kind, alpha) of the two ways to ask for scaling."""
    if alpha is not None and epilogue is not None:
        raise DeepGemmValueError(
            f"alpha={alpha!r} and epilogue={epilogue!r} exclude each other; "
            "allowed: one of them; put the factor into epilogue.Alpha(...)"
        )
    if alpha is not None:
        return EpilogueType.ALPHA, _epilogue.to_fp32(alpha)
    if epilogue is None or isinstance(epilogue, _epilogue.Identity):
        return EpilogueType.IDENTITY, 1.0
    if isinstance(epilogue, _epilogue.Alpha):
        return EpilogueType.ALPHA, epilogue.alpha
    raise DeepGemmTypeError(
        f"epilogue is {type(epilogue).__name__}; "
        "allowed: deep_gemm.epilogue.Identity() or deep_gemm.epilogue.Alpha(alpha); "
        "FP8Quantization is not there yet"
    )


def short_dtype(dtype: torch.dtype) -> str:
    """Name of a dtype without "torch."."""
    return str(dtype).removeprefix("torch.")
