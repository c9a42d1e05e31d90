"""Keys of `@tilelang.jit` functions and their calls, so that a known call is not traced again.

The key of a function holds its source and the value of every name it reads, as TileLang's front
end resolves them: captured variables, then globals; functions and macros among them count the same
way. A function that reads anything else, such as an object, has no key and is traced in every
process.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import os
import textwrap
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

__all__ = ["Form", "call_form", "function_key", "means_the_same_elsewhere"]

# Modules whose content the version of Python and TileLang decides.
_KNOWN = frozenset(
    ("builtins", "functools", "itertools", "math", "operator", "tilelang", "tvm", "typing")
)
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
# Built-in functions that reach what no name in the source tells.
_HIDDEN = frozenset(("eval", "exec", "globals", "id", "input", "locals", "open", "vars"))
_OBJECT = "object"
_PREFIXES = ("TILELANG_", "TVM_", "TL_")


class _NoKey(Exception):
    """The value cannot be described completely."""


def function_key(function: Any, options: Sequence[Any], versions: Sequence[str]) -> str | None:
    """Returns the digest of all that tracing a function depends on besides its arguments.

    Args:
        function: the Python function that was decorated.
        options: arguments of the decorator.
        versions: versions of what traces and lowers it.

    Returns:
        The digest; None if the function reads something that has no key.
    """
    environment = sorted(item for item in os.environ.items() if item[0].startswith(_PREFIXES))
    try:
        parts = [*versions, repr(environment), *map(_describe_option, options)]
        parts.append(_Describer().value(function))
    except (_NoKey, OSError, SyntaxError, TypeError, RecursionError):
        return None
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


Form = tuple[tuple[str, Any], ...]


def call_form(arguments: Mapping[str, Any], runtime: Container[str]) -> Form | None:
    """Returns what a call's arguments tell the front end, hashable; None for unknown objects.

    Frozen dataclasses stand for themselves: their classes have a meaning in this process only, see
    `means_the_same_elsewhere`.

    Args:
        arguments: by name, in any order.
        runtime: names of those that the kernel gets; of them tensors count by dtype, shape,
            strides and device, and numbers by type.
    """
    try:
        return tuple(
            (name, _argument(arguments[name], name in runtime)) for name in sorted(arguments)
        )
    except _NoKey:
        return None


def means_the_same_elsewhere(form: Form) -> bool:
    """Whether another process can compare a form by its `repr`."""
    return not any(_holds_object(argument) for _, argument in form)


def _holds_object(argument: Any) -> bool:
    if argument[0] in ("tuple", "list"):
        return any(map(_holds_object, argument[1:]))
    return bool(argument[0] == _OBJECT)


def _argument(value: Any, runtime: bool) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        # NOTE: 1, 1.0 and True are equal; so are 0.0 and -0.0.
        return (kind.__name__,) if runtime else (kind.__name__, repr(value))
    if kind in (tuple, list):
        return (kind.__name__, *(_argument(item, False) for item in value))
    if kind.__module__.partition(".")[0] == "torch":
        if kind.__name__ == "dtype":
            return ("dtype", str(value))
        if runtime and hasattr(value, "stride") and hasattr(value, "device"):
            shape, strides = tuple(value.shape), value.stride()
            return ("tensor", str(value.dtype), shape, strides, str(value.device.type))
    if not runtime and is_dataclass(kind) and kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        try:
            hash(value)
        except TypeError as error:
            raise _NoKey from error
        return (_OBJECT, kind, value)
    raise _NoKey


def _describe_option(value: Any) -> str:
    if isinstance(value, Mapping):
        return repr(sorted((str(key), repr(item)) for key, item in value.items()))
    return repr(value)


class _Describer:
    """Writes values as text that differs when they do."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}  # functions that are described or being described

    def value(self, value: Any) -> str:
        if type(value) in _PLAIN:
            return f"{type(value).__name__} {value!r}"
        if isinstance(value, (tuple, list)):
            return f"{type(value).__name__}({','.join(map(self.value, value))})"
        if isinstance(value, (set, frozenset)):
            return f"set({','.join(sorted(map(self.value, value)))})"
        if type(value) is dict:
            items = (f"{self.value(key)}:{self.value(item)}" for key, item in value.items())
            return f"dict({','.join(items)})"
        kind = type(value)
        if kind.__name__ == "dtype" and isinstance(value, str):  # T.float32
            return f"dtype {str(value)!r}"
        if kind.__module__ == "torch" and kind.__name__ == "dtype":
            return f"dtype {value}"
        if kind.__name__ == "Macro" and _is_known(kind.__module__):
            return f"macro {self.value(value.orig_func)}"
        if isinstance(value, (type, BuiltinFunctionType, FunctionType)):
            return self._callable(value)
        raise _NoKey

    def _callable(self, value: Any) -> str:
        module = value.__module__
        if module is not None and _is_known(module):
            if value.__qualname__ in _HIDDEN:
                raise _NoKey
            return f"name {module}.{value.__qualname__}"
        if not isinstance(value, FunctionType):
            raise _NoKey
        if id(value) in self._seen:
            return f"function {self._seen[id(value)]}"
        self._seen[id(value)] = len(self._seen)
        return f"function({self._function(value)})"

    def _function(self, function: FunctionType) -> str:
        source = textwrap.dedent(inspect.getsource(function))
        definition = ast.parse(source).body[0]
        if not isinstance(definition, ast.FunctionDef):
            raise _NoKey
        code = function.__code__
        # NOTE: the code too: the file may have changed since it was imported.
        parts = [source, _code(code), self.value(function.__defaults__)]
        parts.append(self.value(function.__kwdefaults__))
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        captured = {name: cell.cell_contents for name, cell in cells}
        for name, uses in sorted(_names(definition).items()):
            for scope in (captured, function.__globals__):
                if name in scope:
                    parts.append(f"{name}={self._used(scope[name], uses)}")
                    break
        return ";".join(parts)

    def _used(self, value: Any, uses: Iterable[tuple[str, ...]]) -> str:
        """A value with what a function takes from it, if it is a module."""
        if not isinstance(value, ModuleType):
            return self.value(value)
        if _is_known(value.__name__):
            return f"module {value.__name__}"
        found = []
        for path in sorted(set(uses)):
            item: Any = value
            for attribute in path:
                if not isinstance(item, ModuleType):
                    break
                item = getattr(item, attribute, None)
            found.append(f"{'.'.join(path)}={self._used(item, ())}")
        if not found:
            raise _NoKey
        return f"module {value.__name__}({';'.join(found)})"


def _code(code: CodeType) -> str:
    constants = [
        _code(constant) if isinstance(constant, CodeType) else repr(constant)
        for constant in code.co_consts
    ]
    names = (code.co_names, code.co_varnames, code.co_freevars)
    return f"{code.co_code.hex()} {names} {constants}"


def _names(definition: ast.FunctionDef) -> dict[str, list[tuple[str, ...]]]:
    """The names that a function may read -> the attributes that are taken from each.

    Local names are among them; they count only where a captured or global variable has the name.
    """
    names: dict[str, list[tuple[str, ...]]] = {}

    def visit(node: ast.AST, path: tuple[str, ...]) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)):
            raise _NoKey
        if isinstance(node, ast.Name):
            if node.id in _HIDDEN:
                raise _NoKey
            names.setdefault(node.id, []).append(path)
        elif isinstance(node, ast.Attribute):
            visit(node.value, (node.attr, *path))
            return
        for child in ast.iter_child_nodes(node):
            visit(child, ())

    for part in (definition.args, *definition.body):
        visit(part, ())
    return names


def _is_known(module: str) -> bool:
    return module.partition(".")[0] in _KNOWN
