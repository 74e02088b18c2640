"""Turns type hints into shapes: a JSON Schema, and the function that checks and builds a value of it."""

from __future__ import annotations

import collections.abc as abc
import contextlib
import dataclasses
import enum
import inspect
import json
import types
import typing
from typing import Any, Callable, Dict, Iterator, List, Tuple

from . import hints, limits, models, scalars
from .bad import Bad, Unusable, expect, got, same
from .trace import quote

__all__ = ["Bad", "Compiler", "Shape", "Unusable"]

Build = Callable[[Any, str], Any]  # the value and where it is, such as "user.tags[0]"; raises Bad

LISTS = (list, abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection, abc.Reversible)
SETS = (set, abc.Set, abc.MutableSet)
DICTS = (dict, abc.Mapping, abc.MutableMapping)
UNION = {typing.Union, getattr(types, "UnionType", typing.Union)}
WRAPPERS = {"Required", "NotRequired", "ReadOnly", "Final", "ClassVar", "InitVar"}


class Shape:
    """The schema of a hint, and build, which checks a JSON value and makes what the method takes."""

    def __init__(self, schema: dict, build: Build) -> None:
        self.schema, self.build = schema, build

    def or_null(self) -> Shape:
        """This shape, or null if it does not have that already."""
        nulls = self.schema.get("anyOf", [self.schema])
        if not self.schema or any(s.get("type") == "null" or None in s.get("enum", ()) for s in nulls):
            return self
        return Shape(alternatives([self.schema, {"type": "null"}]),
                     lambda value, at: None if value is None else self.build(value, at))


ANYTHING = Shape({}, lambda value, at: value)


def alternatives(schemas: List[dict]) -> dict:
    """The schema of a union. What describes a single alternative describes the whole."""
    flat: List[dict] = []
    for schema in schemas:
        flat.extend(schema["anyOf"] if set(schema) == {"anyOf"} else [schema])
    whole = {}
    if sum(s != {"type": "null"} for s in flat) == 1:
        flat = [dict(s) for s in flat]
        for schema in flat:
            if "description" in schema:
                whole["description"] = schema.pop("description")
    return {"anyOf": flat, **whole}


class Compiler:
    """Makes the shapes of one tool. definitions has the schemas of types that contain themselves."""

    def __init__(self) -> None:
        self.definitions: Dict[str, dict] = {}
        self._scope: hints.Scope = ({}, {})
        self._open: Dict[type, str] = {}  # the classes whose shape is being made, and how they are referred to
        self._referred: Dict[type, List[Shape]] = {}
        self._names: Dict[str, type] = {}

    @contextlib.contextmanager
    def using(self, scope: hints.Scope) -> Iterator[None]:
        """Read hints that are text in a scope."""
        before, self._scope = self._scope, scope
        try:
            yield
        finally:
            self._scope = before

    def shape(self, hint: Any) -> Shape:
        """The shape of a hint. Raises Unusable for a type that JSON has no value for."""
        hint = hints.evaluate(hint, self._scope)
        if hint is Any or hint is object or hint is inspect.Parameter.empty or isinstance(hint, hints.Unknown):
            return ANYTHING
        if hint is None:
            hint = type(None)
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if models.concerns(hint):
            return models.shape(hint, self.definitions, Shape)
        if hasattr(hint, "__metadata__"):
            return limits.annotated(self.shape(args[0]), args[1:], Shape)
        if origin is typing.Literal or getattr(origin, "__name__", "") == "Literal":
            return literal(list(args))
        if origin in UNION:
            return self._union(args)
        named = self._named(hint, origin, args)
        if named is not None:
            return named
        container = origin or hint
        if container in LISTS:
            return self._list(args[:1])
        if container in SETS or container is frozenset:
            return self._set(container, args[:1])
        if container is tuple:
            return self._tuple(args)
        if container in DICTS or isinstance(container, type) and issubclass(container, dict) and args:
            return self._dict(args)
        return self._class(container)

    def _named(self, hint: Any, origin: Any, args: Tuple[Any, ...]) -> Any:
        """The shape of a hint that stands for another one, or None."""
        if isinstance(hint, typing.TypeVar):
            return self._union(hint.__constraints__) if hint.__constraints__ else self.shape(hint.__bound__ or Any)
        if hasattr(hint, "__supertype__"):  # NewType
            return self.shape(hint.__supertype__)
        if type(hint).__name__ == "TypeAliasType":
            return self.shape(hint.__value__)
        if type(origin).__name__ == "TypeAliasType":
            return self.shape(origin.__value__)
        if getattr(origin, "_name", getattr(origin, "__name__", "")) in WRAPPERS and args:
            return self.shape(args[0])
        if getattr(hint, "_name", "") == "LiteralString":
            return scalars.shape(str, Shape)
        return None

    def _union(self, args: Tuple[Any, ...]) -> Shape:
        shapes = [self.shape(a) for a in args]
        if any(not s.schema for s in shapes):
            return ANYTHING
        schema = alternatives([s.schema for s in shapes])

        def build(value: Any, at: str) -> Any:
            problems = []
            for shape in shapes:
                try:
                    return shape.build(value, at)
                except Bad as bad:
                    problems.append(bad)
            deeper = [p for p in problems if p.at != at or p.inside]
            choices = [p for p in problems if p.message != "must be null"]
            if len(choices) == 1 or len(deeper) == 1:
                raise (deeper or choices)[0]
            wanted = " or ".join(dict.fromkeys(p.message.split(", not ")[0].replace("must be ", "") for p in problems))
            raise Bad(at, f"must be {wanted}, not {got(value)}")

        return Shape(schema, build)

    def _list(self, args: Tuple[Any, ...]) -> Shape:
        item = self.shape(args[0]) if args else ANYTHING
        schema: Dict[str, Any] = {"type": "array"}
        if item.schema:
            schema["items"] = item.schema
        return Shape(schema, lambda value, at: [
            item.build(v, f"{at}[{i}]") for i, v in enumerate(expect(value, list, "a list", at))])

    def _set(self, container: type, args: Tuple[Any, ...]) -> Shape:
        items = self._list(args)
        make = frozenset if container is frozenset else set

        def build(value: Any, at: str) -> Any:
            try:
                return make(items.build(value, at))
            except TypeError:
                raise Bad(at, "must have items that a set can have: no lists and objects") from None

        return Shape({**items.schema, "uniqueItems": True}, build)

    def _tuple(self, args: Tuple[Any, ...]) -> Shape:
        if not args or len(args) == 2 and args[1] is ...:
            items = self._list(args[:1])
            return Shape(items.schema, lambda value, at: tuple(items.build(value, at)))
        shapes = [] if args == ((),) else [self.shape(a) for a in args]
        count = len(shapes)
        schema: Dict[str, Any] = {"type": "array", "minItems": count, "maxItems": count}
        if shapes and all(s.schema == shapes[0].schema for s in shapes):
            schema["items"] = shapes[0].schema
        elif shapes:
            schema["prefixItems"] = [s.schema for s in shapes]

        def build(value: Any, at: str) -> tuple:
            expect(value, list, "a list", at)
            if len(value) != count:
                raise Bad(at, f"must have {count} items, not {len(value)}")
            return tuple(s.build(v, f"{at}[{i}]") for i, (s, v) in enumerate(zip(shapes, value)))

        return Shape(schema, build)

    def _dict(self, args: Tuple[Any, ...]) -> Shape:
        name, member = (self.shape(args[0]), self.shape(args[1])) if len(args) == 2 else (ANYTHING, ANYTHING)
        schema: Dict[str, Any] = {"type": "object"}
        if member.schema:
            schema["additionalProperties"] = member.schema
        if "enum" in name.schema:
            schema["propertyNames"] = {"enum": [str(v) for v in name.schema["enum"]]}
        numeric = name.schema.get("type") in ("integer", "number")

        def key(text: str, at: str) -> Any:
            return name.build(scalars.number(text) if numeric else text, at)

        def build(value: Any, at: str) -> dict:
            expect(value, dict, "an object", at)
            return {key(k, at): member.build(v, f"{at}.{k}") for k, v in value.items()}

        return Shape(schema, build)

    def _class(self, cls: Any) -> Shape:
        if not isinstance(cls, type):
            raise Unusable(f"a model cannot give {getattr(cls, '__name__', cls)}")
        if issubclass(cls, enum.Enum):
            return enumeration(cls)
        known = scalars.shape(cls, Shape)
        if known is not None:
            return known
        if typing_dict(cls):
            return self._object(cls, typed_dict_fields(cls), dict)
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            names = hints.fields(cls)
            return self._object(cls, {n: (names.get(n, Any), n not in cls._field_defaults) for n in cls._fields}, cls)
        if dataclasses.is_dataclass(cls):
            return self._object(cls, dataclass_fields(cls), cls)
        raise Unusable(f"a model cannot give a {cls.__name__}: take text, numbers, lists, dicts, or a dataclass of these")

    def _object(self, cls: type, members: Dict[str, Tuple[Any, bool]], make: Callable[..., Any]) -> Shape:
        if cls in self._open:
            return self._reference(cls)
        self._open[cls], self._referred[cls] = self._name(cls), []
        name = self._open[cls]
        try:
            with self.using(hints.class_scope(cls)):
                shapes = {n: self.shape(hint) for n, (hint, _) in members.items()}
        finally:
            del self._open[cls]
        texts = models.member_texts(cls)
        properties = {n: {**s.schema, **({"description": texts[n]} if texts.get(n) and "description" not in s.schema else {})}
                      for n, s in shapes.items()}
        required = [n for n, (_, must) in members.items() if must]
        schema: Dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        if required:
            schema["required"] = required

        def build(value: Any, at: str) -> Any:
            expect(value, dict, "an object", at)
            unknown = [n for n in value if n not in shapes]
            if unknown:
                raise Bad(at, f"has no member {quote(unknown[0])}; it has {', '.join(shapes)}", inside=True)
            missing = [n for n in required if n not in value]
            if missing:
                raise Bad(f"{at}.{missing[0]}", "is missing")
            built = {n: shapes[n].build(v, f"{at}.{n}") for n, v in value.items()}
            try:
                return make(**built)
            except (TypeError, ValueError) as error:
                raise Bad(at, f"is not a valid {cls.__name__}: {error}", inside=True) from None

        whole = Shape(schema, build)
        if not self._referred[cls]:
            return whole
        for reference in self._referred[cls]:
            reference.build = build
        self.definitions[name] = schema
        return Shape({"$ref": f"#/$defs/{name}"}, build)

    def _name(self, cls: type) -> str:
        """The name of a class among the definitions. Classes of different modules may have the same name."""
        name = cls.__name__
        while self._names.setdefault(name, cls) is not cls:
            name += "_"
        return name

    def _reference(self, cls: type) -> Shape:
        shape = Shape({"$ref": f"#/$defs/{self._open[cls]}"}, ANYTHING.build)
        self._referred[cls].append(shape)
        return LateShape(shape)


class LateShape(Shape):
    """A shape whose build is set later: when the class that contains itself is complete."""

    def __init__(self, real: Shape) -> None:
        super().__init__(real.schema, lambda value, at: real.build(value, at))


def literal(values: List[Any]) -> Shape:
    """One of some values."""
    plain = [v.value if isinstance(v, enum.Enum) else v for v in values]
    return choice(plain, values)


def enumeration(cls: type) -> Shape:
    """A member of an Enum: by its value, or by its name if the values are not text, numbers or booleans."""
    members = list(cls)
    if all(isinstance(m.value, (str, int, float)) for m in members):
        return choice([m.value for m in members], members)
    return choice([m.name for m in members], members)


def choice(plain: List[Any], values: List[Any]) -> Shape:
    schema: Dict[str, Any] = {"enum": plain}
    kinds = {scalars.NAMES.get(type(p)) for p in plain}
    if None in kinds:
        raise Unusable(f"a model can be offered text, numbers and booleans, not {plain!r}")
    if len(kinds) == 1:
        schema = {"type": kinds.pop(), **schema}

    def build(value: Any, at: str) -> Any:
        for offered, member in zip(plain, values):
            if same(value, offered):
                return member
        offered = ", ".join(json.dumps(p, ensure_ascii=False) for p in plain)
        raise Bad(at, f"must be {'one of ' if len(plain) > 1 else ''}{offered}, not {got(value)}")

    return Shape(schema, build)


def typing_dict(cls: type) -> bool:
    return issubclass(cls, dict) and hasattr(cls, "__total__") and hasattr(cls, "__annotations__")


def typed_dict_fields(cls: type) -> Dict[str, Tuple[Any, bool]]:
    """The members of a TypedDict: hint, and whether it is required."""
    members = {}
    for base in [*getattr(cls, "__orig_bases__", ()), cls]:
        if isinstance(base, type) and base is not cls and typing_dict(base):
            members.update(typed_dict_fields(base))
    for name, hint in hints.raw(cls).items():
        hint = hints.evaluate(hint, hints.class_scope(cls))
        mark = getattr(typing.get_origin(hint), "_name", "")
        must = mark == "Required" or mark != "NotRequired" and (
            name in cls.__required_keys__ if name not in members else members[name][1])
        members[name] = (hint, must)
    return members


def dataclass_fields(cls: type) -> Dict[str, Tuple[Any, bool]]:
    """The members of a dataclass that its constructor takes."""
    known = hints.fields(cls)
    missing = dataclasses.MISSING
    return {f.name: (known.get(f.name, f.type), f.default is missing and f.default_factory is missing)
            for f in dataclasses.fields(cls) if f.init}
