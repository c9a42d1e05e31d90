"""Everything an FP8 or FP4 GEMM demands of its arguments (deep_gemm.md sections 1.2, 1.3 and 2).

As in `_checks.py`, all checks run before anything is compiled, copied or written. Forms of the
published function that have no kernel here yet are told apart from wrong arguments: their message
starts with "not there yet".
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from deep_gemm._checks import (
    AXES_A,
    AXES_B,
    GemmProblem,
    Scales,
    check_devices,
    check_output_dtypes,
    check_tensors,
    short_dtype,
)
from deep_gemm._shapes import (
    Matrix,
    NamedTensor,
    check_no_self_overlap,
    check_pitch,
    check_ranks,
    operand_matrix,
    output_matrix,
    solve_dims,
)
from deep_gemm.errors import DeepGemmTypeError, DeepGemmValueError
from deep_gemm.heuristics.candidates import K_PER_SF_PAIR
from deep_gemm.heuristics.records import DType, Major, ceil_div

FP8, FP4 = torch.float8_e4m3fn, torch.int8
DTYPES = {FP8: DType.FP8, FP4: DType.FP4}
GRAN_K = 32
MAX_GRAN_MN = 128


class Granularity(NamedTuple):
    """Elements that share one scale factor."""

    m: int  # rows of A
    n: int  # rows of B
    k: int


def check_pair(name: str, pair: object) -> tuple[torch.Tensor, torch.Tensor]:
    """An operand is (data, scale factors); what the two are is checked with everything else."""
    if isinstance(pair, (tuple, list)) and len(pair) == 2:
        return pair[0], pair[1]
    got = f"{len(pair)} items" if isinstance(pair, (tuple, list)) else type(pair).__name__
    raise DeepGemmTypeError(
        f"{name} must be a pair (data, scale factors), got {got}; "
        f"pass {name}=({name}_data, {name}_scales)"
    )


# Recipes --------------------------------------------------------------------------------------


def check_recipe(recipe: object, recipe_a: object, recipe_b: object) -> Granularity:
    """The scale granularity of a call; only 1 x 32 has a kernel.

    Raises:
        DeepGemmTypeError: not tuples of ints.
        DeepGemmValueError: contradictions, sizes that no recipe may have, or no kernel yet.
    """
    if recipe is not None:
        if recipe_a is not None or recipe_b is not None:
            raise DeepGemmValueError(
                f"recipe={recipe!r} and recipe_a={recipe_a!r}, recipe_b={recipe_b!r} exclude each "
                "other; allowed: one form; pass recipe=(gran_m, gran_n, gran_k) alone"
            )
        m, n, k = _ints("recipe", recipe, ("gran_m", "gran_n", "gran_k"))
        gran = Granularity(m, n, k)
    else:
        m, k_a = _ints("recipe_a", (1, GRAN_K) if recipe_a is None else recipe_a, _GRAN_NAMES)
        n, k_b = _ints("recipe_b", (1, GRAN_K) if recipe_b is None else recipe_b, _GRAN_NAMES)
        if k_a != k_b:
            raise DeepGemmValueError(
                f"gran_k of recipe_a is {k_a}, of recipe_b {k_b}; allowed: equal, and {GRAN_K}"
            )
        gran = Granularity(m, n, k_a)
    if gran.k != GRAN_K:
        raise DeepGemmValueError(
            f"gran_k is {gran.k}; allowed: {GRAN_K}, the K elements behind one UE8M0 scale"
        )
    _check_gran_mn("gran_m", gran.m)
    _check_gran_mn("gran_n", gran.n)
    return gran


_GRAN_NAMES = ("gran_mn", "gran_k")


def _ints(name: str, value: object, fields: tuple[str, ...]) -> tuple[int, ...]:
    good = (
        isinstance(value, (tuple, list))
        and len(value) == len(fields)
        and all(type(item) is int for item in value)
    )
    if not good:
        raise DeepGemmTypeError(
            f"{name} is {value!r}; allowed: {len(fields)} ints ({', '.join(fields)}), "
            f"for example {(1,) * (len(fields) - 1) + (GRAN_K,)}"
        )
    assert isinstance(value, (tuple, list))
    return tuple(value)


def _check_gran_mn(name: str, gran: int) -> None:
    if not 1 <= gran <= MAX_GRAN_MN or gran & (gran - 1):
        raise DeepGemmValueError(
            f"{name} is {gran}; allowed: a power of two in 1..{MAX_GRAN_MN}; 1 = a scale per row"
        )
    if gran != 1:
        raise DeepGemmValueError(
            f"not there yet: {name}={gran} needs the scale transform kernel; allowed now: 1; "
            f"repeat each row of scales {gran} times (sf.repeat_interleave({gran}, dim=0))"
        )


# Operands -------------------------------------------------------------------------------------


def check_mx_dtypes(a: torch.Tensor, b: torch.Tensor) -> DType:
    """Two fp8 or two packed fp4 operands."""
    if a.dtype is b.dtype and a.dtype in DTYPES:
        return DTYPES[a.dtype]
    got = f"a is {short_dtype(a.dtype)}, b is {short_dtype(b.dtype)}"
    if a.dtype is FP8 and b.dtype is FP4:
        raise DeepGemmTypeError(
            f"not there yet: fp8 x fp4 ({got}) needs a kernel that decodes fp4; "
            "allowed now: two float8_e4m3fn or two int8 (packed fp4) operands; "
            "decode b to float8_e4m3fn, which is exact"
        )
    raise DeepGemmTypeError(
        f"Unsupported operand dtypes: {got}; "
        "allowed: float8_e4m3fn for both, or int8 (two fp4 values a byte) for both"
    )


def check_k_major(argument: NamedTensor, row_axis: str) -> Matrix:
    """A or B as [MN, K] with K contiguous; sizes and stride in elements."""
    matrix = operand_matrix(argument, row_axis)
    name, tensor, axes = argument[:3]
    if matrix.major is not Major.K:
        dense = f"{name}.contiguous()" if axes[1] == "k" else f"{name}.t().contiguous().t()"
        raise DeepGemmValueError(
            f"not there yet: {name} [{', '.join(axes)}] with strides {tuple(tensor.stride())} is "
            f"{row_axis.upper()}-major; allowed now: K-major, stride 1 along k; "
            + (f"pass {dense}" if not argument.packed else "pack the fp4 values along k")
        )
    if not argument.packed:
        return matrix
    return matrix._replace(cols=2 * matrix.cols, stride=2 * matrix.stride)


# Scale factors --------------------------------------------------------------------------------


def check_scales(
    name: str, sf: torch.Tensor, axes: str, row_axis: str, rows: int, k: int, ue8m0_cast: bool
) -> int:
    """Packed int16 scales of an operand; returns the distance of two pairs along K.

    `axes` are those of the operand: scales are passed in its orientation.
    """
    pairs = ceil_div(k, K_PER_SF_PAIR)
    along_k = axes.index("k")
    if sf.dtype is not torch.int16:
        raise _wrong_scale_dtype(name, sf, ue8m0_cast)
    wanted = (rows, pairs) if along_k == 1 else (pairs, rows)
    if tuple(sf.shape) != wanted:
        layout = f"[{row_axis}, ceil(k/64)]" if along_k == 1 else f"[ceil(k/64), {row_axis}]"
        raise DeepGemmValueError(
            f"{name} has shape {tuple(sf.shape)}; allowed: {wanted} = {layout}: in the orientation "
            f"of its operand, one int16 holds the two scales of {K_PER_SF_PAIR} k; "
            "deep_gemm.testing.pack_scales packs exponents"
        )
    row_stride, pair_stride = sf.stride(1 - along_k), sf.stride(along_k)
    if rows > 1 and pairs > 0 and row_stride != 1:
        dense = f"{name}.t().contiguous().t()" if along_k == 1 else f"{name}.contiguous()"
        raise DeepGemmValueError(
            f"not there yet: {name} has strides {tuple(sf.stride())}, and bringing it into the "
            f"kernel's layout takes the scale transform kernel; allowed now: stride 1 along "
            f"{row_axis}; pass {dense}"
        )
    stride = pair_stride if pairs > 1 else rows
    check_pitch(name, stride, sf.element_size())
    return stride


def _wrong_scale_dtype(name: str, sf: torch.Tensor, ue8m0_cast: bool) -> DeepGemmTypeError:
    if sf.dtype is not torch.float32:
        return DeepGemmTypeError(
            f"{name} is {short_dtype(sf.dtype)}; allowed: int16, two UE8M0 scales each "
            "(low byte: the lower 32 k); view bytes with .view(torch.int16)"
        )
    if not ue8m0_cast:
        return DeepGemmTypeError(
            f"{name} is float32 and disable_ue8m0_cast is True; allowed: int16, because the kernel "
            "multiplies by UE8M0 scales only"
        )
    return DeepGemmTypeError(
        f"not there yet: {name} is float32, which takes the scale transform kernel; allowed now: "
        "int16; pack the exponents with deep_gemm.testing.pack_scales"
    )


# All together ---------------------------------------------------------------------------------


def check_mx_gemm(
    suffix: str,
    a: torch.Tensor,
    b: torch.Tensor,
    d: torch.Tensor,
    c: torch.Tensor | None,
    scales: Scales,
    *,
    dry_run: bool,
) -> GemmProblem:
    """Checks a call by everything but its data pointers.

    Raises:
        DeepGemmTypeError: not a dense tensor, or a dtype that is not allowed.
        DeepGemmValueError: shape, stride, size or device is not allowed.
    """
    sfa, sfb, ue8m0_cast = scales
    check_tensors({"a": a, "sfa": sfa, "b": b, "sfb": sfb, "d": d}, c)
    dtype = check_mx_dtypes(a, b)
    check_output_dtypes(d, c)
    check_devices({"a": a, "sfa": sfa, "b": b, "sfb": sfb, "d": d}, c, dry_run=dry_run)
    packed = "k" if dtype is DType.FP4 else ""
    axes_a, axes_b = AXES_A[suffix], AXES_B[suffix]
    arguments = [
        NamedTensor("a", a, axes_a, packed),
        NamedTensor("b", b, axes_b, packed),
        NamedTensor("d", d, "mn"),
        *([NamedTensor("c", c, "mn")] if c is not None else []),
    ]
    check_ranks([*arguments, NamedTensor("sfa", sfa, axes_a), NamedTensor("sfb", sfb, axes_b)])
    matrix_a, matrix_b = check_k_major(arguments[0], "m"), check_k_major(arguments[1], "n")
    dims = solve_dims(arguments)
    problem = GemmProblem(
        m=dims["m"],
        n=dims["n"],
        k=dims["k"],
        a=matrix_a,
        b=matrix_b,
        d=output_matrix("d", d),
        dtype=dtype,
        stride_sfa=check_scales("sfa", sfa, axes_a, "m", dims["m"], dims["k"], ue8m0_cast),
        stride_sfb=check_scales("sfb", sfb, axes_b, "n", dims["n"], dims["k"], ue8m0_cast),
    )
    check_no_self_overlap("d", problem.d)
    if c is not None:
        output_matrix("c", c)
    return problem
