"""The shapes of types without parts: text, numbers, dates, paths.

It imports no module for a type that toolsets rarely have: a hint has such a type only if the toolset imported its module.
"""

from __future__ import annotations

import re
import sys
from typing import Any, Callable, Dict, Tuple

from .bad import Bad, Unusable, got

NAMES: Dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def text(value: Any, at: str) -> str:
    if not isinstance(value, str):
        raise Bad(at, f"must be text, not {got(value)}")
    return value


def boolean(value: Any, at: str) -> bool:
    if not isinstance(value, bool):
        raise Bad(at, f"must be true or false, not {got(value)}")
    return value


def integer(value: Any, at: str) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Bad(at, f"must be an integer, not {got(value)}")
    return value


def real(value: Any, at: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Bad(at, f"must be a number, not {got(value)}")
    try:
        return float(value)
    except OverflowError:
        raise Bad(at, "is too large a number") from None


def null(value: Any, at: str) -> None:
    if value is not None:
        raise Bad(at, f"must be null, not {got(value)}")


def number(digits: str) -> Any:
    """The number that a text is, or the text."""
    for kind in (int, float):
        try:
            return kind(digits)
        except ValueError:
            continue
    return digits


def loaded(module: str, *names: str) -> Tuple[type, ...]:
    """Types of a module, or none if nothing has imported it: then no value is one of them."""
    found = sys.modules.get(module)
    return () if found is None else tuple(getattr(found, name) for name in names)


def parsed(parse: Callable[[type, str], Any], name: str) -> Callable[[type, Any, str], Any]:
    """The build of a type that is written as text."""

    def build(cls: type, value: Any, at: str) -> Any:
        try:
            return parse(cls, text(value, at))
        except (ValueError, ArithmeticError, re.error):
            raise Bad(at, f"must be {name}, not {got(value)}") from None

    return build


def zone(value: str) -> str:
    """A time with Z as Python before 3.11 reads it."""
    return value[:-1] + "+00:00" if value[-1:] in "Zz" else value


def duration(cls: type, value: Any, at: str) -> Any:
    try:
        return cls(seconds=real(value, at))
    except (OverflowError, ValueError):
        raise Bad(at, "is too large a number of seconds") from None


def exact(cls: type, value: Any, at: str) -> Any:
    if not isinstance(value, str):
        real(value, at)
    try:
        return cls(str(value))
    except ArithmeticError:
        raise Bad(at, f"must be a number, not {got(value)}") from None


def string(form: str) -> dict:
    return {"type": "string", "format": form}


BASIC: Dict[type, Tuple[dict, Callable[[Any, str], Any]]] = {
    str: ({"type": "string"}, text),
    bool: ({"type": "boolean"}, boolean),
    int: ({"type": "integer"}, integer),
    float: ({"type": "number"}, real),
    type(None): ({"type": "null"}, null),
}

# The types of modules by their module and name, with a build that is given the type, too.
OTHERS: Dict[Tuple[str, str], Tuple[dict, Callable[[type, Any, str], Any]]] = {
    ("decimal", "Decimal"): ({"anyOf": [{"type": "number"}, {"type": "string"}]}, exact),
    ("datetime", "datetime"): (string("date-time"), parsed(
        lambda cls, v: cls.fromisoformat(zone(v)), "a time such as 2026-01-31T09:30:00Z")),
    ("datetime", "date"): (string("date"), parsed(lambda cls, v: cls.fromisoformat(v), "a date such as 2026-01-31")),
    ("datetime", "time"): (string("time"), parsed(
        lambda cls, v: cls.fromisoformat(zone(v)), "a time of day such as 09:30:00")),
    ("datetime", "timedelta"): ({"type": "number", "description": "seconds"}, duration),
    ("uuid", "UUID"): (string("uuid"), parsed(lambda cls, v: cls(v), "a UUID")),
    ("re", "Pattern"): (string("regex"), parsed(lambda cls, v: re.compile(v), "a regular expression")),
    ("ipaddress", "IPv4Address"): (string("ipv4"), parsed(lambda cls, v: cls(v), "an IPv4 address")),
    ("ipaddress", "IPv6Address"): (string("ipv6"), parsed(lambda cls, v: cls(v), "an IPv6 address")),
}


def shape(cls: type, make: Any) -> Any:
    """The shape of a type, made by make(schema, build), or None if it is not one of these."""
    if issubclass(cls, loaded("pathlib", "PurePath")):
        return make({"type": "string"}, lambda value, at: cls(text(value, at)))
    if issubclass(cls, (bytes, bytearray, memoryview)):
        raise Unusable("a model cannot give bytes: take text, such as base64, or the path of a file")
    if cls in BASIC:
        schema, build = BASIC[cls]
        return make(dict(schema), build)
    other = (cls.__module__, cls.__name__)
    if other in OTHERS and cls in loaded(*other):
        schema, build_of = OTHERS[other]
        return make(dict(schema), lambda value, at: build_of(cls, value, at))
    for base in (str, int, float):
        if issubclass(cls, base) and cls.__init__ is base.__init__ and cls.__new__ is base.__new__:
            return make({"type": NAMES[base]}, lambda value, at: cls(BASIC[base][1](value, at)))
    return None
