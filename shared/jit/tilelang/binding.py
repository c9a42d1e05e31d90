"""Binds the arguments of a call to the parameters of a lowered kernel, by name.

Dynamic symbols get their values from the shapes; every other dimension is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ArgumentError
from .dtypes import elements_per_item, storage_dtype, torch_dtypes
from .expression import Expression, evaluate, text
from .lowered import Lowered, Parameter

__all__ = ["Bound", "bind"]


@dataclass(frozen=True)
class Bound:
    """A call that can be launched.

    Attributes:
        blocks: size of the grid.
        arguments: one per kernel parameter.
        outputs: tensors to return.
    """

    blocks: int
    arguments: tuple[Any, ...]
    outputs: tuple[Any, ...]


def bind(lowered: Lowered, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
    """Checks the arguments and allocates the outputs.

    Args:
        lowered: the kernel.
        args: arguments in the order of the parameters, without the outputs.
        kwargs: arguments by name.

    Raises:
        ArgumentError: count, type, shape, stride or device of an argument.
    """
    given = _by_name(lowered, args, kwargs)
    symbols: dict[str, int] = {}
    for parameter in lowered.parameters:
        if parameter.name in given and parameter.is_buffer:
            _check_tensor(lowered, parameter, given[parameter.name])
            _learn_symbols(parameter, given[parameter.name], symbols)
    values: dict[str, Any] = {}
    for parameter in lowered.parameters:
        if parameter.name not in given:
            continue
        value = given[parameter.name]
        if parameter.is_buffer:
            _check_dimensions(lowered, parameter, value, symbols)
        else:
            value = _scalar(lowered, parameter, value)
        values[parameter.name] = value
    outputs = tuple(_allocate(lowered.parameters[index], symbols) for index in lowered.outputs)
    for index, tensor in zip(lowered.outputs, outputs, strict=True):
        values[lowered.parameters[index].name] = tensor
    blocks = evaluate(lowered.grid, symbols)
    arguments = tuple(
        values[name] if name in values else evaluate(name, symbols)
        for name in lowered.kernel_parameters
    )
    return Bound(blocks, arguments, outputs)


def _by_name(lowered: Lowered, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    inputs = [
        parameter
        for index, parameter in enumerate(lowered.parameters)
        if index not in lowered.outputs
    ]
    names = [parameter.name for parameter in inputs]
    given = dict(zip(names, args, strict=False))
    twice = [name for name in kwargs if name in given]
    unknown = [name for name in kwargs if name not in names]
    missing = [name for name in names if name not in given and name not in kwargs]
    if len(args) > len(names) or twice or unknown or missing:
        raise ArgumentError(
            f"{lowered.name} takes ({', '.join(names)}), got {len(args)} positional arguments"
            + (f" and {', '.join(sorted(kwargs))}" if kwargs else "")
            + (f"; missing: {', '.join(missing)}" if missing else "")
        )
    return {**given, **kwargs}


def _check_tensor(lowered: Lowered, parameter: Parameter, value: Any) -> None:
    import torch

    where = f"{lowered.name}: argument {parameter.name}"
    if not isinstance(value, torch.Tensor):
        raise ArgumentError(f"{where} must be a tensor, got {type(value).__name__}")
    allowed = torch_dtypes(parameter.dtype)
    if value.dtype not in allowed:
        raise ArgumentError(
            f"{where} has dtype {value.dtype}, wanted {' or '.join(map(str, allowed))}; convert it "
            f"with .to({allowed[0]})"
        )
    assert parameter.shape is not None
    if value.dim() != len(parameter.shape):
        raise ArgumentError(
            f"{where} has {value.dim()} dimensions, wanted {_shape_text(parameter.shape)}"
        )
    if value.device.type != "cpu":
        raise ArgumentError(
            f"{where} is on {value.device}, the other arguments on cpu; move all to one device"
        )


def _sizes(parameter: Parameter, value: Any) -> list[int]:
    sizes = [int(size) for size in value.shape]
    if sizes:
        sizes[-1] *= elements_per_item(parameter.dtype)
    return sizes


def _learn_symbols(parameter: Parameter, value: Any, symbols: dict[str, int]) -> None:
    assert parameter.shape is not None
    for wanted, size in zip(parameter.shape, _sizes(parameter, value), strict=True):
        if isinstance(wanted, str):
            symbols.setdefault(wanted, size)
    for wanted, step in zip(parameter.strides, value.stride(), strict=False):
        if isinstance(wanted, str):
            symbols.setdefault(wanted, int(step))


def _check_dimensions(
    lowered: Lowered, parameter: Parameter, value: Any, symbols: Mapping[str, int]
) -> None:
    assert parameter.shape is not None
    where = f"{lowered.name}: argument {parameter.name}"
    sizes = _sizes(parameter, value)
    wanted = [evaluate(size, symbols) for size in parameter.shape]
    if sizes != wanted:
        raise ArgumentError(
            f"{where} has shape {tuple(sizes)}, wanted {tuple(wanted)} = "
            f"{_shape_text(parameter.shape)}"
        )
    if 0 in sizes:
        return
    if not parameter.strides:
        if not value.is_contiguous():
            raise ArgumentError(f"{where} is not contiguous; pass {parameter.name}.contiguous()")
        return
    per_item = elements_per_item(parameter.dtype)
    for axis, (step, size) in enumerate(zip(value.stride(), sizes, strict=True)):
        got = step if axis == len(sizes) - 1 else step * per_item
        need = evaluate(parameter.strides[axis], symbols)
        if size > 1 and got != need:
            raise ArgumentError(
                f"{where} has stride {got} on axis {axis}, wanted {need}; pass "
                f"{parameter.name}.contiguous(), or declare it with T.StridedTensor"
            )


def _scalar(lowered: Lowered, parameter: Parameter, value: Any) -> Any:
    where = f"{lowered.name}: argument {parameter.name}"
    item = value.item() if hasattr(value, "item") else value
    if not isinstance(item, (bool, int, float)):
        raise ArgumentError(f"{where} must be a number, got {type(value).__name__}")
    if parameter.dtype.startswith(("int", "uint", "bool")):
        if isinstance(item, float) and not item.is_integer():
            raise ArgumentError(f"{where} must be a whole number ({parameter.dtype}), got {item}")
        return int(item)
    return float(item)


def _allocate(parameter: Parameter, symbols: Mapping[str, int]) -> Any:
    import torch

    assert parameter.shape is not None
    sizes = [evaluate(size, symbols) for size in parameter.shape]
    if sizes:
        sizes[-1] //= elements_per_item(parameter.dtype)
    return torch.empty(sizes, dtype=storage_dtype(parameter.dtype))


def _shape_text(shape: Sequence[Expression]) -> str:
    return f"({', '.join(map(text, shape))}{',' if len(shape) == 1 else ''})"
