"""Reads the type hints of functions and classes, also those written as text, on every Python from 3.9."""

from __future__ import annotations

import ast
import inspect
import sys
import typing
from typing import Any, Callable, Dict, Iterator, Tuple

Scope = Tuple[dict, dict]  # the globals and the local names in which a hint is read


class Unknown:
    """A hint that cannot be read, such as a name that is imported for type checkers only."""

    def __init__(self, text: str) -> None:
        self.text = text


def parameters(method: Callable[..., Any]) -> Iterator[Tuple[inspect.Parameter, Any]]:
    """The parameters of a method without self, each with its hint; Any for one without."""
    annotations = raw(inspect.unwrap(method))
    for parameter in inspect.signature(method).parameters.values():
        yield parameter, annotations.get(parameter.name, parameter.annotation)


def fields(cls: type) -> Dict[str, Any]:
    """The hints of a class's fields, those of its bases first."""
    found: Dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        found.update({n: evaluate(h, class_scope(base)) for n, h in raw(base).items()})
    return found


def raw(owner: Any) -> Dict[str, Any]:
    """The annotations of a function, or of a class without its bases, as they are written."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(owner, format=annotationlib.Format.FORWARDREF)
    if isinstance(owner, type):
        return dict(vars(owner).get("__annotations__", {}))
    return dict(getattr(owner, "__annotations__", {}))


def scope(method: Callable[..., Any]) -> Scope:
    """The names that the hints of a method can use."""
    function = inspect.unwrap(method)
    function = getattr(function, "__func__", function)
    names: Dict[str, Any] = {}
    owner = getattr(method, "__self__", None)
    for cls in reversed(type(owner).__mro__ if owner is not None else ()):
        names.update(types_in(cls))
    code = getattr(function, "__code__", None)
    for name, cell in zip(getattr(code, "co_freevars", ()), getattr(function, "__closure__", None) or ()):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # not set yet
            continue
    return getattr(function, "__globals__", {}), names


def class_scope(cls: type) -> Scope:
    """The names that the hints in the body of a class can use."""
    module = sys.modules.get(cls.__module__)
    return (vars(module) if module is not None else {}), {**types_in(cls), cls.__name__: cls}


def types_in(cls: type) -> Dict[str, Any]:
    """The classes in the body of a class. A method called list, or a field called date, is not what a hint means."""
    return {name: value for name, value in vars(cls).items() if isinstance(value, type)}


def evaluate(hint: Any, names: Scope) -> Any:
    """The hint itself of one written as text."""
    if isinstance(hint, typing.ForwardRef):
        hint = hint.__forward_arg__
    if not isinstance(hint, str):
        return hint
    try:
        tree = ast.parse(hint.strip(), mode="eval")
        if sys.version_info < (3, 10):
            tree = ast.fix_missing_locations(Alternatives().visit(tree))
        found = eval(compile(tree, "<hint>", "eval"), {**names[0], "__Union": typing.Union}, names[1])
        return evaluate(found, names) if found != hint else Unknown(hint)  # a hint in quotes twice
    except Exception:
        return Unknown(hint)


class Alternatives(ast.NodeTransformer):
    """Turns X | Y into Union[X, Y], which Python 3.9 can evaluate."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.BitOr):
            return node
        both = ast.Tuple([node.left, node.right], ast.Load())
        return ast.Subscript(ast.Name("__Union", ast.Load()), both, ast.Load())


def unmarked(hint: Any, default: Any) -> Tuple[Any, Any]:
    """A default of the kind Field(5, ge=1) as a hint with that annotation and the plain default."""
    if type(default).__name__ != "FieldInfo":
        return hint, default
    hint = Any if hint is inspect.Parameter.empty else hint
    return typing.Annotated[hint, default], field_default(default)


def field_default(field: Any) -> Any:
    """The default of pydantic's Field, or Parameter.empty."""
    required = getattr(field, "is_required", None)  # pydantic 2
    if required() if callable(required) else field.default is ...:
        return inspect.Parameter.empty
    if getattr(field, "default_factory", None) is not None:
        return field.default_factory()
    return None if type(field.default).__name__ == "UndefinedType" else field.default
