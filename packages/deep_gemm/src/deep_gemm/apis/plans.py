"""From a checked call to a loaded kernel, once per key (architecture.md section 4, hot path)."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

import torch

from deep_gemm import _jit, _settings
from deep_gemm._checks import (
    GemmProblem,
    Scales,
    check_alias,
    check_gemm,
    check_same_view,
    extent_of,
)
from deep_gemm._mx_checks import check_mx_gemm
from deep_gemm._shared.jit.dry_run import is_dry_run
from deep_gemm.errors import DeepGemmValueError
from deep_gemm.heuristics import choose_config
from deep_gemm.heuristics.records import (
    DType,
    EpilogueType,
    GemmConfig,
    GemmDesc,
)
from deep_gemm.kernels import bf16_gemm, fp8_gemm

if TYPE_CHECKING:
    from collections.abc import Hashable

    from deep_gemm._shared.jit.runtime import Runtime

MAX_PLANS = 16384
STORE_ALIGNMENT = 32

_plans: dict[Hashable, Plan] = {}
_printed: set[str] = set()


class Call(NamedTuple):
    """Arguments of one GEMM call; `compiled_dims` and the epilogue are checked already."""

    suffix: str
    a: torch.Tensor
    b: torch.Tensor
    d: torch.Tensor
    c: torch.Tensor | None
    compiled_dims: str
    epilogue: EpilogueType
    alpha: float
    scales: Scales | None = None  # of FP8 and FP4 operands

    def tensors(self) -> tuple[torch.Tensor, ...]:
        """In the order of the kernel's pointers; the result is the last."""
        if self.scales is None:
            return (self.a, self.b, self.d)
        return (self.a, self.b, self.scales.sfa, self.scales.sfb, self.d)

    def names(self) -> tuple[str, ...]:
        """Names of `tensors()`."""
        return ("a", "b", "d") if self.scales is None else ("a", "b", "sfa", "sfb", "d")


class Plan:
    """Everything about a call that does not depend on addresses and values."""

    __slots__ = (
        "args",
        "copy_c",
        "desc",
        "launch",
        "names",
        "problem",
        "span_c",
        "spans",
    )

    def __init__(self, call: Call, problem: GemmProblem, copy_c: bool) -> None:
        self.problem = problem
        self.copy_c = copy_c
        self.names = call.names()
        self.spans = tuple(extent_of(tensor) for tensor in call.tensors())
        self.span_c = extent_of(call.c) if call.c is not None else 0
        self.desc: GemmDesc | None = None
        self.args: bf16_gemm.LaunchArgs | fp8_gemm.LaunchArgs | None = None
        self.launch: _jit.Launch | None = None


def clear_plans() -> None:
    """Forgets every plan; the next call checks, searches and looks up again."""
    _plans.clear()


def run(call: Call) -> None:
    """Computes D, from a plan when the same kind of call was made before."""
    settings = _settings.current()
    try:
        key = _key(call, settings)
    except (AttributeError, RuntimeError, TypeError):
        # Not a dense tensor: let the checks say so
        check(call, dry_run=is_dry_run())
        raise
    plan = _plans.get(key)
    if is_dry_run():
        if plan is None:
            _build(call, settings, dry_run=True)
        return
    if plan is None:
        plan = _build(call, settings, dry_run=False)
        if len(_plans) >= MAX_PLANS:
            _plans.clear()
        _plans[key] = plan
    _execute(plan, call)


def _key(call: Call, settings: _settings.Settings) -> Hashable:
    suffix, a, b, d, c, compiled_dims, epilogue, _, scales = call
    like_c = like_scales = None
    if c is not None:
        like_c = (_is_in_place(c, d), c.shape, c.stride(), c.dtype, c.device)
    if scales is not None:
        sfa, sfb, cast = scales
        like_scales = (
            cast, sfa.shape, sfa.stride(), sfa.dtype, sfa.device,
            sfb.shape, sfb.stride(), sfb.dtype, sfb.device,
        )  # fmt: skip
    return (
        suffix, compiled_dims, epilogue is EpilogueType.ALPHA, settings, _jit.build_token(),
        a.shape, a.stride(), a.dtype, a.device,
        b.shape, b.stride(), b.dtype, b.device,
        d.shape, d.stride(), d.dtype, d.device,
        d.data_ptr() % STORE_ALIGNMENT == 0, like_c, like_scales,
    )  # fmt: skip


def check(call: Call, *, dry_run: bool) -> GemmProblem:
    """Checks a call by everything but its data pointers."""
    suffix, a, b, d, c = call[:5]
    if call.scales is None:
        return check_gemm(suffix, a, b, d, c, dry_run=dry_run)
    return check_mx_gemm(suffix, a, b, d, c, call.scales, dry_run=dry_run)


def _build(call: Call, settings: _settings.Settings, *, dry_run: bool) -> Plan:
    """Checks, describes, configures, compiles and loads."""
    a, d, c = call.a, call.d, call.c
    problem = check(call, dry_run=dry_run)
    in_place = c is not None and _is_in_place(c, d)
    if in_place and c is not None:
        check_same_view(d, c)
    plan = Plan(call, problem, copy_c=c is not None and not in_place)
    if a.device.type != "meta":
        _check_aliases(plan, call, _pointers(call))
    if problem.m == 0 or problem.n == 0 or problem.k == 0:
        return plan
    runtime = _jit.runtime_for(a.device)
    plan.desc = describe(call, problem, _num_cores(runtime, settings))
    config = choose_config(plan.desc)
    _print_config(plan.desc, config)
    unit, source = _kernel_text(plan.desc, config)
    options = {"arch": settings.npu_arch} if settings.npu_arch else None
    if dry_run:
        runtime.compile_without_load(unit, source, options)
        return plan
    kernel = runtime.compile(unit, source, options)
    plan.launch = _jit.bind(runtime, kernel, config.launch)
    plan.args = _launch_args(plan.desc, problem)
    return plan


def _kernel_text(desc: GemmDesc, config: GemmConfig) -> tuple[str, str]:
    """(name, text) of the unit to compile."""
    if desc.has_sf:
        return fp8_gemm.unit_name(desc), fp8_gemm.kernel_source(desc, config)
    return bf16_gemm.UNIT_NAME, bf16_gemm.kernel_source(desc, config)


def _launch_args(
    desc: GemmDesc, problem: GemmProblem
) -> bf16_gemm.LaunchArgs | fp8_gemm.LaunchArgs:
    if desc.has_sf:
        return fp8_gemm.LaunchArgs(desc, problem.stride_sfa, problem.stride_sfb)
    return bf16_gemm.LaunchArgs(desc)


def _is_in_place(c: torch.Tensor, d: torch.Tensor) -> bool:
    """Whether C is D; a tensor without memory (meta, empty) has address 0."""
    return c is d or (c.data_ptr() == d.data_ptr() != 0)


def describe(call: Call, problem: GemmProblem, num_cores: int) -> GemmDesc:
    """The search's view of a checked call."""
    aligned = call.d.data_ptr() % STORE_ALIGNMENT == 0
    return GemmDesc(
        m=problem.m,
        n=problem.n,
        k=problem.k,
        dtype=problem.dtype,
        cd_dtype=DType.BF16 if call.d.dtype is torch.bfloat16 else DType.FP32,
        major_a=problem.a.major,
        major_b=problem.b.major,
        acc=call.c is not None,
        epilogue=call.epilogue,
        compiled_dims=call.compiled_dims,
        num_cores=num_cores,
        stride_a=problem.a.stride,
        stride_b=problem.b.stride,
        stride_d=problem.d.stride,
        d_alignment=STORE_ALIGNMENT if aligned else call.d.element_size(),
    )


def _num_cores(runtime: Runtime, settings: _settings.Settings) -> int:
    cores = int(runtime.device.get_num_aicore_cores())
    if settings.num_sms > cores:
        raise DeepGemmValueError(
            f"set_num_sms({settings.num_sms}) is in force but {runtime.device} has {cores} AI "
            f"cores; allowed: 1..{cores}; call set_num_sms({cores})"
        )
    return settings.num_sms or cores


def _print_config(desc: GemmDesc, config: GemmConfig) -> None:
    if not _jit.print_configs_enabled():
        return
    line = f"{desc} {config}"
    if line not in _printed:
        _printed.add(line)
        sys.stderr.write(f"{line}\n")


def _pointers(call: Call) -> tuple[int, ...]:
    return tuple([tensor.data_ptr() for tensor in call.tensors()])


def _check_aliases(plan: Plan, call: Call, pointers: tuple[int, ...]) -> None:
    """D must share no element with an input, or a C that is not D; cheap unless ranges touch."""
    d_begin = pointers[-1]
    d_end = d_begin + plan.spans[-1]
    for index in range(len(pointers) - 1):
        begin = pointers[index]
        if begin < d_end and d_begin < begin + plan.spans[index]:
            check_alias(call.d, call.tensors()[index], plan.names[index])
    if plan.copy_c and call.c is not None:
        c_begin = call.c.data_ptr()
        if c_begin < d_end and d_begin < c_begin + plan.span_c:
            check_alias(call.d, call.c, "c")


def _execute(plan: Plan, call: Call) -> None:
    """Writes D: launches, or fills when a size is zero."""
    pointers = _pointers(call)
    _check_aliases(plan, call, pointers)
    if plan.copy_c and call.c is not None:
        with torch.no_grad():
            call.d.copy_(call.c)
    if plan.args is None or plan.launch is None:
        if call.c is None and plan.problem.k == 0:
            with torch.no_grad():
                call.d.zero_()
        return
    payload = plan.args.pack(pointers, call.alpha)
    plan.launch(payload, _ranges(plan, pointers))


def _ranges(plan: Plan, pointers: tuple[int, ...]) -> list[_jit.MemoryRange]:
    """The memory of all operands, for the emulator; only D may be written."""
    # NOTE: plain tuples, a quarter of the time: this is part of every call.
    found = zip(pointers, plan.spans, plan.names, strict=True)
    return [(address, span, name != "d", name) for address, span, name in found]


# A loaded kernel may not survive a fork (deep_jit.md section 16)
os.register_at_fork(after_in_child=clear_plans)
