"""Lowers TileLang functions to Ascend C text; the one module that talks to TileLang's compiler.

Works without CANN: TileLang generates the text and nothing compiles it (emulator.md section 7).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import CompileError, ToolchainError
from .expression import encode
from .lowered import SCHEMA, Lowered, Parameter

__all__ = ["function_name", "lower", "lowering_keys", "output_indices", "template_dir"]

Outputs = Sequence[int] | int | None


@dataclass(frozen=True)
class _TileLang:
    """What the bridge uses of TileLang."""

    folder: Path
    version: str
    lower: Any
    target: Any
    pass_context: Any
    rename: Any


@cache
def _tilelang() -> _TileLang:
    """Imports TileLang with its Ascend dialect.

    Raises:
        ToolchainError: it is not installed, or has no Ascend backend.
    """
    try:
        import tilelang
        import tilelang.ascend.backend
        from tilelang.engine import lower as lower_function
        from tvm.script.ir_builder import IRBuilder
        from tvm.target import Target
    except ImportError as error:
        raise ToolchainError(
            f"TileLang with its Ascend backend cannot be imported ({error}); install it with "
            "`pip install tilelang==0.1.15`, or deep-jit[tilelang]"
        ) from error
    return _TileLang(
        folder=Path(tilelang.__file__).parent,
        version=str(tilelang.__version__),
        lower=lower_function,
        target=Target({"kind": "ascend"}),
        pass_context=tilelang.tvm.transform.PassContext,
        rename=IRBuilder.name,
    )


def template_dir() -> Path:
    """Returns the include folder of TileLang's device templates, inside its installation."""
    folder = _tilelang().folder / "src"
    if not (folder / "tl_templates" / "ascend" / "common.h").is_file():
        raise ToolchainError(
            f"TileLang's Ascend templates are not in {folder}; reinstall tilelang from its wheel"
        )
    return folder


@cache
def version() -> str:
    """Returns what tells TileLang installations apart: version and size of its library."""
    libraries = sorted((_tilelang().folder / "lib").glob("*.so"))
    sizes = [f"{path.name}:{path.stat().st_size}" for path in libraries]
    return " ".join([_tilelang().version, *sizes])


def function_name(function: Any) -> str:
    """Returns the name of a TileLang function."""
    return str((function.attrs or {}).get("global_symbol", "main"))


def lowering_keys(
    function: Any, pass_configs: Mapping[str, Any], outputs: Sequence[int]
) -> tuple[str, str]:
    """Returns digests of everything the lowered text depends on.

    Returns:
        For the cache of this machine, with the sizes of TileLang's libraries; and for texts that
        come with a package, with TileLang's version only.
    """
    parts = [
        str(SCHEMA),
        function.script(show_meta=True),
        repr(sorted((str(key), repr(value)) for key, value in pass_configs.items())),
        repr(tuple(outputs)),
    ]
    return _digest(version(), *parts), _digest(_tilelang().version, *parts)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def output_indices(function: Any, outputs: Outputs) -> tuple[int, ...]:
    """Returns the parameters that a call allocates, as indices from 0.

    Raises:
        CompileError: an index is out of range, or they are given twice.
    """
    own = (function.attrs or {}).get("tilelang_out_idx")
    if own is not None and outputs is not None:
        raise CompileError(
            f"{function_name(function)}: out_idx={outputs!r} was given, but the function returns "
            "tensors made by T.empty; drop out_idx"
        )
    chosen = [int(index) for index in own] if own is not None else outputs
    if chosen is None:
        return ()
    count = len(function.params)
    indices = []
    for index in [chosen] if isinstance(chosen, int) else chosen:
        if not -count <= index < count:
            raise CompileError(
                f"{function_name(function)}: out_idx {index} is out of range; the function has "
                f"{count} parameters"
            )
        indices.append(index % count)
    return tuple(indices)


def lower(function: Any, pass_configs: Mapping[str, Any], outputs: Sequence[int]) -> Lowered:
    """Lowers one TileLang function.

    Args:
        function: a `PrimFunc` with one kernel.
        pass_configs: TileLang's pass configuration.
        outputs: indices of the parameters that a call allocates.

    Raises:
        CompileError: TileLang refuses it, or it has a form the bridge does not take.
    """
    tilelang = _tilelang()
    name = function_name(function)
    _rename_twins(function, tilelang.rename)
    context = tilelang.pass_context(opt_level=3, config=dict(pass_configs))
    try:
        with context, tilelang.target:
            artifact = tilelang.lower(function, target=tilelang.target, enable_device_compile=False)
    except Exception as error:
        raise CompileError(f"TileLang cannot lower {name} for Ascend: {error}") from error
    kernels = [item for _, item in artifact.device_mod.functions.items()]
    if len(kernels) != 1:
        raise CompileError(
            f"{name} has {len(kernels)} kernels (T.Kernel blocks); the bridge takes functions with "
            "one: split it"
        )
    kernel = kernels[0]
    extents = {str(key): extent for key, extent in kernel.attrs["thread_extent"].items()}
    lowered = Lowered(
        name=name,
        kernel=str(kernel.attrs["global_symbol"]),
        source=artifact.kernel_source,
        grid=encode(extents["blockIdx.x"], f"{name}: the grid"),
        parameters=_parameters(function, name),
        outputs=tuple(outputs),
        kernel_parameters=tuple(str(parameter.name) for parameter in kernel.params),
    )
    _check_names(lowered)
    return lowered


def _rename_twins(function: Any, rename: Any) -> None:
    """Gives parameters and symbols names of their own, since arguments are bound by name.

    A macro's parameter gives its name to the variable that is passed to it. So two variables of a
    kernel get the same name when both are passed to the same macro, one after the other.
    """
    buffers = list(function.buffer_map.values())
    sizes = [size for buffer in buffers for size in (*buffer.shape, *buffer.strides)]
    scalars = [item for item in function.params if item.dtype != "handle"]
    variables: list[Any] = []
    for item in (*scalars, *(size for size in sizes if hasattr(size, "name"))):
        if not any(item.same_as(known) for known in variables):
            variables.append(item)
    taken = {str(buffer.data.name) for buffer in buffers}
    for variable in variables:
        wanted, number = str(variable.name), 1
        while str(variable.name) in taken:
            number += 1
            rename(f"{wanted}_{number}", variable)
        taken.add(str(variable.name))


def _parameters(function: Any, name: str) -> tuple[Parameter, ...]:
    buffers = {variable.name: buffer for variable, buffer in function.buffer_map.items()}
    parameters = []
    for variable in function.params:
        buffer = buffers.get(variable.name)
        if buffer is None:
            parameters.append(Parameter(str(variable.name), str(variable.dtype)))
            continue
        what = f"{name}: a dimension of {buffer.name}"
        parameters.append(
            Parameter(
                name=str(buffer.data.name),
                dtype=str(buffer.dtype),
                shape=tuple(encode(size, what) for size in buffer.shape),
                strides=tuple(encode(step, what) for step in buffer.strides),
            )
        )
    return tuple(parameters)


def _check_names(lowered: Lowered) -> None:
    names = [parameter.name for parameter in lowered.parameters]
    if len(set(names)) != len(names):
        raise CompileError(
            f"{lowered.name}: two parameters have the same name ({', '.join(names)}); arguments "
            "are bound by name, so rename one"
        )
