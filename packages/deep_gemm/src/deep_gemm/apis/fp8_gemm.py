"""Dense GEMM of scaled FP8 and FP4: `fp8_fp4_gemm_{nt,nn,tn,tt}` (deep_gemm.md 1.2 and 1.3).

`fp8_gemm_*` are the same objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, SupportsFloat, TypeAlias

from deep_gemm._checks import Scales, call_options
from deep_gemm._mx_checks import check_pair, check_recipe
from deep_gemm.apis.plans import Call, run

if TYPE_CHECKING:
    import torch

    from deep_gemm.epilogue import Epilogue

__all__ = [
    "fp8_fp4_gemm_nn",
    "fp8_fp4_gemm_nt",
    "fp8_fp4_gemm_tn",
    "fp8_fp4_gemm_tt",
    "fp8_gemm_nn",
    "fp8_gemm_nt",
    "fp8_gemm_tn",
    "fp8_gemm_tt",
]

Pair: TypeAlias = "tuple[torch.Tensor, torch.Tensor]"
Recipe: TypeAlias = "Sequence[int] | None"


def _gemm(
    suffix: str,
    a: Pair,
    b: Pair,
    d: torch.Tensor,
    c: torch.Tensor | None,
    recipes: tuple[Recipe, Recipe, Recipe],
    compiled_dims: str,
    disable_ue8m0_cast: bool,
    alpha: SupportsFloat | None,
    epilogue: Epilogue | None,
) -> None:
    dims, kind, factor = call_options(compiled_dims, alpha, epilogue)
    if recipes != (None, None, None):
        check_recipe(*recipes)
    a_data, sfa = check_pair("a", a)
    b_data, sfb = check_pair("b", b)
    scales = Scales(sfa, sfb, not disable_ue8m0_cast)
    run(Call(suffix, a_data, b_data, d, c, dims, kind, factor, scales))


def fp8_fp4_gemm_nt(
    a: Pair,
    b: Pair,
    d: torch.Tensor,
    c: torch.Tensor | None = None,
    recipe: Recipe = None,
    recipe_a: Recipe = None,
    recipe_b: Recipe = None,
    compiled_dims: str = "nk",
    disable_ue8m0_cast: bool = False,
    alpha: SupportsFloat | None = None,
    epilogue: Epilogue | None = None,
) -> None:
    """Computes ``d = alpha * (A @ B.T) + c`` for scaled operands, with fp32 accumulation.

    ``A[m, k] = a_data[m, k] * 2**(e[m, k // 32] - 127)``, and B likewise.

    Args:
        a: ``(data, scales)``. Data ``[m, k]`` float8_e4m3fn, or ``[m, k/2]`` int8 with two fp4
            (E2M1) values a byte, the low nibble first. Stride 1 along k, free row stride. Scales
            ``[m, ceil(k/64)]`` int16: exponent bytes of two groups of 32 k, the low byte first;
            stride 1 along m. Exponent 255 is NaN, also in the unused high byte of an odd group.
        b: ``(data, scales)`` with n instead of m, and the dtype of `a`.
        d: ``[m, n]`` bf16 or fp32, written; ``stride(-1) == 1``, free row stride; it shares no
            element with an input.
        c: ``[m, n]`` of `d`'s dtype, added. `d` itself accumulates in place; another tensor is
            copied into `d` first. For bf16 the product is rounded to bf16, then the sum again.
        recipe: ``(gran_m, gran_n, gran_k)``, elements behind one scale; now only (1, 1, 32).
        recipe_a: ``(gran_m, gran_k)`` instead, and `recipe_b`; default (1, 32).
        recipe_b: see `recipe_a`.
        compiled_dims: which of m, n, k become constants of the kernel, a subset of ``"mnk"``.
        disable_ue8m0_cast: refuses fp32 scales; there is no kernel that converts them yet.
        alpha: factor of the product, applied in fp32.
        epilogue: `epilogue.Identity()` or `epilogue.Alpha(alpha)`; excludes `alpha`.

    Not there yet, and an error that says so: fp8 x fp4, operands with stride 1 along m or n, fp32
    scales, scales with stride 1 along k, and more than one row per scale.

    Raises:
        DeepGemmTypeError: wrong type or dtype.
        DeepGemmValueError: wrong shape, stride, size, recipe or device, or overlapping memory.
        errors.CompileError: the kernel's compiler failed.
        In each case `d` is untouched.

    Example:
        >>> codes = torch.randint(0, 126, (2, 64, 256), dtype=torch.uint8)
        >>> a, b = codes.view(torch.float8_e4m3fn)
        >>> ones = torch.full((64, 8), 127, dtype=torch.uint8)  # 2**0 for each 32 k
        >>> sf = deep_gemm.testing.pack_scales(ones)
        >>> d = torch.empty(64, 64, dtype=torch.bfloat16)
        >>> deep_gemm.fp8_gemm_nt((a, sf), (b, sf), d)
    """
    _gemm(
        "nt", a, b, d, c, (recipe, recipe_a, recipe_b),
        compiled_dims, disable_ue8m0_cast, alpha, epilogue,
    )  # fmt: skip


def fp8_fp4_gemm_nn(
    a: Pair,
    b: Pair,
    d: torch.Tensor,
    c: torch.Tensor | None = None,
    recipe: Recipe = None,
    recipe_a: Recipe = None,
    recipe_b: Recipe = None,
    compiled_dims: str = "nk",
    disable_ue8m0_cast: bool = False,
    alpha: SupportsFloat | None = None,
    epilogue: Epilogue | None = None,
) -> None:
    """Computes ``d = alpha * (A @ B) + c``: `a` is ``[m, k]``, `b` is ``[k, n]``.

    The suffix names the logical shapes of data and scales; memory order is the same as in
    `fp8_fp4_gemm_nt`, stride 1 along k, so pass views (``b.t(), sfb.t()``).
    """
    _gemm(
        "nn", a, b, d, c, (recipe, recipe_a, recipe_b),
        compiled_dims, disable_ue8m0_cast, alpha, epilogue,
    )  # fmt: skip


def fp8_fp4_gemm_tn(
    a: Pair,
    b: Pair,
    d: torch.Tensor,
    c: torch.Tensor | None = None,
    recipe: Recipe = None,
    recipe_a: Recipe = None,
    recipe_b: Recipe = None,
    compiled_dims: str = "mn",
    disable_ue8m0_cast: bool = False,
    alpha: SupportsFloat | None = None,
    epilogue: Epilogue | None = None,
) -> None:
    """Computes ``d = alpha * (A.T @ B) + c``: `a` is ``[k, m]``, `b` is ``[k, n]``.

    The suffix names the logical shapes of data and scales; memory order is the same as in
    `fp8_fp4_gemm_nt`, stride 1 along k, so pass views (``b.t(), sfb.t()``).
    """
    _gemm(
        "tn", a, b, d, c, (recipe, recipe_a, recipe_b),
        compiled_dims, disable_ue8m0_cast, alpha, epilogue,
    )  # fmt: skip


def fp8_fp4_gemm_tt(
    a: Pair,
    b: Pair,
    d: torch.Tensor,
    c: torch.Tensor | None = None,
    recipe: Recipe = None,
    recipe_a: Recipe = None,
    recipe_b: Recipe = None,
    compiled_dims: str = "mn",
    disable_ue8m0_cast: bool = False,
    alpha: SupportsFloat | None = None,
    epilogue: Epilogue | None = None,
) -> None:
    """Computes ``d = alpha * (A.T @ B.T) + c``: `a` is ``[k, m]``, `b` is ``[n, k]``.

    The suffix names the logical shapes of data and scales; memory order is the same as in
    `fp8_fp4_gemm_nt`, stride 1 along k, so pass views (``b.t(), sfb.t()``).
    """
    _gemm(
        "tt", a, b, d, c, (recipe, recipe_a, recipe_b),
        compiled_dims, disable_ue8m0_cast, alpha, epilogue,
    )  # fmt: skip


fp8_gemm_nt = fp8_fp4_gemm_nt
fp8_gemm_nn = fp8_fp4_gemm_nn
fp8_gemm_tn = fp8_fp4_gemm_tn
fp8_gemm_tt = fp8_fp4_gemm_tt
