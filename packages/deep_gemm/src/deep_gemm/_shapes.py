"""Symbolic shape checks and major axes (deep_gemm.md section 1.2, size-1 rule of section 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from deep_gemm.errors import DeepGemmValueError
from deep_gemm.heuristics.records import Major

if TYPE_CHECKING:
    import torch

INT32_MAX = 2**31 - 1
PITCH_BITS = 40  # GM pitch field of the copy instructions (ascend_c_cube.md section 5.1)


class Matrix(NamedTuple):
    """A 2-D operand as the kernel addresses it."""

    rows: int  # M or N
    cols: int  # K, or N for D
    major: Major
    stride: int  # elements between two contiguous runs


class NamedTensor(NamedTuple):
    """A tensor argument with its name and the names of its axes."""

    name: str
    tensor: torch.Tensor
    axes: str  # e.g. "mk"
    packed: str = ""  # axis that holds two elements a byte

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes in elements."""
        sizes = zip(self.axes, self.tensor.shape, strict=True)
        return tuple(int(size) * (2 if axis == self.packed else 1) for axis, size in sizes)


def check_ranks(arguments: list[NamedTensor]) -> None:
    """Every tensor has the dimensions its axes say."""
    for index, argument in enumerate(arguments):
        name, tensor, axes = argument[:3]
        if tensor.dim() != len(axes):
            raise DeepGemmValueError(
                f"Shape mismatch: tensor #{index}, {name}: got {tuple(tensor.shape)} with "
                f"{tensor.dim()} dimensions; allowed: 2-D [{', '.join(axes)}]; "
                f"pass one matrix, for example {name}[0] or {name}.reshape(...)"
            )


def solve_dims(arguments: list[NamedTensor]) -> dict[str, int]:
    """Sizes of the named dimensions; every tensor must agree on them."""
    check_ranks(arguments)
    seen: dict[str, tuple[int, int]] = {}
    for index, argument in enumerate(arguments):
        for axis, size in zip(argument.axes, argument.shape, strict=True):
            _agree(seen, axis, index, size, arguments)
    return {axis: size for axis, (_, size) in seen.items()}


def _agree(
    seen: dict[str, tuple[int, int]],
    axis: str,
    index: int,
    size: int,
    arguments: list[NamedTensor],
) -> None:
    first, first_size = seen.setdefault(axis, (index, size))
    if size != first_size:
        raise DeepGemmValueError(
            f"Conflicting shape dimension '{axis}': "
            f"tensor #{first} ({_shape_text(arguments[first])}) gives {first_size}, "
            f"but tensor #{index} ({_shape_text(arguments[index])}) gives {size}; "
            f"allowed: equal sizes; check the suffix of the call (nt, nn, tn, tt)"
        )
    if size > INT32_MAX:
        raise DeepGemmValueError(
            f"dimension '{axis}' of {arguments[index].name} is {size}; "
            f"allowed: at most {INT32_MAX} (32-bit sizes in the kernel); split the problem"
        )


def _shape_text(argument: NamedTensor) -> str:
    packed = f", packed along {argument.packed}" if argument.packed else ""
    return f"{argument.name} [{', '.join(argument.axes)}] = {argument.shape}{packed}"


def operand_matrix(argument: NamedTensor, row_axis: str) -> Matrix:
    """A or B as [MN, K]; a dimension of size 1 never decides against a layout."""
    name, tensor, axes = argument[:3]
    row = axes.index(row_axis)
    rows, cols = int(tensor.shape[row]), int(tensor.shape[1 - row])
    row_stride, col_stride = tensor.stride(row), tensor.stride(1 - row)
    if cols <= 1:
        # Any row distance is legal: a row is at most one element
        matrix = Matrix(rows, cols, Major.K, row_stride if rows > 1 else 1)
    elif rows <= 1:
        contiguous = col_stride == 1
        matrix = Matrix(
            rows, cols, Major.K if contiguous else Major.MN, cols if contiguous else col_stride
        )
    else:
        matrix = _by_strides(argument, Matrix(rows, cols, Major.K, 0), row_stride, col_stride)
    check_pitch(name, matrix.stride, tensor.element_size())
    return matrix


def _by_strides(argument: NamedTensor, matrix: Matrix, row_stride: int, col_stride: int) -> Matrix:
    name, tensor, axes = argument[:3]
    strides = tuple(tensor.stride())
    if row_stride == 1 and col_stride == 1:
        raise DeepGemmValueError(
            f"{name} {_named(axes)} has an ambiguous major axis, strides {strides}: its elements "
            f"overlap; allowed: one of the two strides is 1; pass {name}.contiguous()"
        )
    if col_stride == 1:
        return matrix._replace(major=Major.K, stride=row_stride)
    if row_stride == 1:
        return matrix._replace(major=Major.MN, stride=col_stride)
    raise DeepGemmValueError(
        f"{name} {_named(axes)} doesn't have major axis, strides {strides}; "
        f"allowed: one of the two strides is 1; pass {name}.contiguous()"
    )


def output_matrix(name: str, tensor: torch.Tensor) -> Matrix:
    """D or C: N contiguous, rows that do not overlap."""
    rows, cols = int(tensor.shape[0]), int(tensor.shape[1])
    row_stride, col_stride = tensor.stride()
    if cols > 1 and col_stride != 1:
        raise DeepGemmValueError(
            f"{name} [m, n] must have stride(-1) == 1, got strides {tuple(tensor.stride())}; "
            f"pass a tensor with contiguous rows (not a transposed view) and copy it back"
        )
    stride = row_stride if rows > 1 else cols
    check_pitch(name, stride, tensor.element_size())
    return Matrix(rows, cols, Major.K, stride)


def check_no_self_overlap(name: str, matrix: Matrix) -> None:
    """Each element of an output must have an address of its own."""
    if matrix.rows > 1 and matrix.stride < matrix.cols:
        raise DeepGemmValueError(
            f"{name} has rows of {matrix.cols} elements that are only {matrix.stride} elements "
            f"apart, so they overlap; allowed: a row stride of at least {matrix.cols}; "
            f"pass a tensor that is not expanded, for example {name}.contiguous()"
        )


def check_pitch(name: str, stride: int, element_size: int) -> None:
    """The copy instructions hold a row distance in 40 bits of bytes."""
    if stride * element_size >= 1 << PITCH_BITS:
        raise DeepGemmValueError(
            f"{name} has a row distance of {stride} elements = {stride * element_size} bytes; "
            f"allowed: less than 2**{PITCH_BITS} bytes; pass a copy with denser rows"
        )


def span_bytes(shape: tuple[int, int], strides: tuple[int, int], size: int) -> int:
    """Bytes from the first to the end of the last element; 0 when there is none."""
    rows, cols = shape
    if rows == 0 or cols == 0:
        return 0
    return ((rows - 1) * strides[0] + (cols - 1) * strides[1] + 1) * size


def _named(axes: str) -> str:
    return f"[{', '.join(axes)}]"
