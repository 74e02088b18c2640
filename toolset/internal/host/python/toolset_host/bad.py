"""What is wrong with an argument, or with a tool."""

from __future__ import annotations

import json
from typing import Any


class Unusable(Exception):
    """A method that cannot be a tool, and why."""


class Bad(Exception):
    """A value that an argument cannot have. at is the argument or a part of it, such as user.tags[0]."""

    def __init__(self, at: str, message: str, inside: bool = False) -> None:
        super().__init__(f'argument "{at}" {message}' if at else message)
        self.at, self.message, self.inside = at, message, inside


KINDS = {str: "text", bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "an object"}


def got(value: Any) -> str:
    """A value as it is named in an error."""
    if value is None:
        return "null"
    if isinstance(value, (list, dict)):
        return KINDS[type(value)]
    shown = json.dumps(value, ensure_ascii=False)
    return f"{KINDS.get(type(value), 'the value')} {shown if len(shown) <= 80 else shown[:77] + '...'}"


def expect(value: Any, kind: type, name: str, at: str) -> Any:
    """The value, if it has a type of JSON."""
    if not isinstance(value, kind):
        raise Bad(at, f"must be {name}, not {got(value)}")
    return value


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal in JSON, where 1 is 1.0 and not true."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)
