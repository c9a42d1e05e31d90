"""Dense BF16 GEMM: `bf16_gemm_{nt,nn,tn,tt}` (deep_gemm.md sections 1.2 and 1.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsFloat

from deep_gemm._checks import call_options
from deep_gemm.apis.plans import Call, run

if TYPE_CHECKING:
    import torch

    from deep_gemm.epilogue import Epilogue

__all__ = ["bf16_gemm_nn", "bf16_gemm_nt", "bf16_gemm_tn", "bf16_gemm_tt"]


def _gemm(
    suffix: str,
    a: torch.Tensor,
    b: torch.Tensor,
    d: torch.Tensor,
    c: torch.Tensor | None,
    compiled_dims: str,
    alpha: SupportsFloat | None,
    epilogue: Epilogue | None,
) -> None:
    dims, kind, factor = call_options(compiled_dims, alpha, epilogue)
    run(Call(suffix, a, b, d, c, dims, kind, factor))


def bf16_gemm_nt(
    a: torch.Tensor,
    b: torch.Tensor,
    d: torch.Tensor,
    c: torch.Tensor | None = None,
    compiled_dims: str = "nk",
    alpha: SupportsFloat | None = None,
    epilogue: Epilogue | None = None,
) -> None:
    """Computes ``d = alpha * (a @ b.T) + c`` in place of `d`, with fp32 accumulation.

    Args:
        a: ``[m, k]`` bf16. One of the two strides is 1, the other is free (slices are fine).
        b: ``[n, k]`` bf16, strides like `a`.
        d: ``[m, n]`` bf16 or fp32, written; ``stride(-1) == 1``, free row stride; it shares no
            element with `a` or `b`.
        c: ``[m, n]`` of `d`'s dtype, ``stride(-1) == 1``, added. `d` itself accumulates in place;
            another tensor is copied into `d` first. For bf16 the product is rounded to bf16, then
            the sum is rounded again.
        compiled_dims: which of m, n, k become constants of the kernel, a subset of ``"mnk"``. Fewer
            means fewer compilations, more means faster kernels on the device.
        alpha: factor of the product, applied in fp32.
        epilogue: `epilogue.Identity()` or `epilogue.Alpha(alpha)`; excludes `alpha`.

    Tensors on ``cpu`` run in the emulator, synchronously; tensors on ``npu`` are queued on the
    current stream. ``m == 0`` or ``n == 0`` does nothing; ``k == 0`` gives ``d = c`` or 0. NaN and
    infinity propagate as IEEE says. Results do not depend on the number of host threads.

    Raises:
        DeepGemmTypeError: wrong type or dtype.
        DeepGemmValueError: wrong shape, stride, size or device, or overlapping memory; `d` is
            untouched.
        errors.CompileError: the kernel's compiler failed; `d` is untouched.

    Example:
        >>> a = torch.randn(128, 2048, dtype=torch.bfloat16)
        >>> b = torch.randn(7168, 2048, dtype=torch.bfloat16)
        >>> d = torch.empty(128, 7168, dtype=torch.bfloat16)
        >>> deep_gemm.bf16_gemm_nt(a, b, d)
    """
    _gemm("nt", a, b, d, c, compiled_dims, alpha, epilogue)


def bf16_gemm_nn(
    a: torch.Tensor,
    b: torch.Tensor,
    d: torch.Tensor,
    c: torch.Tensor | None = None,
    compiled_dims: str = "nk",
    alpha: SupportsFloat | None = None,
    epilogue: Epilogue | None = None,
) -> None:
    """Computes ``d = alpha * (a @ b) + c``: `a` is ``[m, k]``, `b` is ``[k, n]``.

    The suffix names the logical shapes; memory order is free. Everything else: `bf16_gemm_nt`.
    """
    _gemm("nn", a, b, d, c, compiled_dims, alpha, epilogue)


def bf16_gemm_tn(
    a: torch.Tensor,
    b: torch.Tensor,
    d: torch.Tensor,
    c: torch.Tensor | None = None,
    compiled_dims: str = "mn",
    alpha: SupportsFloat | None = None,
    epilogue: Epilogue | None = None,
) -> None:
    """Computes ``d = alpha * (a.T @ b) + c``: `a` is ``[k, m]``, `b` is ``[k, n]``.

    The suffix names the logical shapes; memory order is free. Everything else: `bf16_gemm_nt`.
    """
    _gemm("tn", a, b, d, c, compiled_dims, alpha, epilogue)


def bf16_gemm_tt(
    a: torch.Tensor,
    b: torch.Tensor,
    d: torch.Tensor,
    c: torch.Tensor | None = None,
    compiled_dims: str = "mn",
    alpha: SupportsFloat | None = None,
    epilogue: Epilogue | None = None,
) -> None:
    """Computes ``d = alpha * (a.T @ b.T) + c``: `a` is ``[k, m]``, `b` is ``[n, k]``.

    The suffix names the logical shapes; memory order is free. Everything else: `bf16_gemm_nt`.
    """
    _gemm("tt", a, b, d, c, compiled_dims, alpha, epilogue)
