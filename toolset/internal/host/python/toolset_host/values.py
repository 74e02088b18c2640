"""Turns what a tool returned into JSON."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
from typing import Any

from .scalars import loaded

MAX_ITEMS = 10_000  # items of a generator


class NotJSON(TypeError):
    """A value that JSON cannot carry."""


def plain(value: Any) -> Any:
    """The value in the types of JSON. Numbers that JSON does not have become "NaN", "Infinity" and "-Infinity"."""
    if value is None or isinstance(value, (bool, str)) and not isinstance(value, enum.Enum):
        return value
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        return {key(k): plain(v) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise NotJSON("bytes are not JSON: return text, such as base64, or the path of a file")
    return other(value)


def other(value: Any) -> Any:
    """As plain, for objects."""
    if isinstance(value, loaded("datetime", "datetime", "date", "time")):
        return value.isoformat()
    if isinstance(value, loaded("datetime", "timedelta")):
        return number(value.total_seconds())
    if isinstance(value, loaded("pathlib", "PurePath") + loaded("uuid", "UUID") + loaded("decimal", "Decimal")):
        return str(value)
    if isinstance(value, type):
        raise NotJSON(f"the class {value.__name__} is not JSON")
    for name in ("model_dump", "dict"):  # pydantic 2, pydantic 1
        method = getattr(value, name, None)
        if callable(method) and hasattr(value, "__fields_set__" if name == "dict" else "model_fields_set"):
            return plain(method())
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if hasattr(type(value), "__attrs_attrs__"):
        return {a.name: plain(getattr(value, a.name)) for a in type(value).__attrs_attrs__}
    if hasattr(value, "item") and getattr(value, "shape", None) == ():  # a number of numpy
        return plain(value.item())
    if hasattr(value, "tolist") and hasattr(value, "dtype"):  # an array
        return plain(value.tolist())
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):
        return {key(k): plain(value[k]) for k in value.keys()}
    raise NotJSON(f"{type(value).__name__} is not JSON: return text, a number, a list or a dict")


def number(value: float) -> Any:
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def key(value: Any) -> str:
    """The name of a member of an object."""
    name = plain(value)
    if isinstance(name, str):
        return name
    if isinstance(name, (dict, list)):
        raise NotJSON(f"the key {name!r:.80} is not JSON: use text")
    return json.dumps(name)


def text(value: Any) -> str:
    """What the model reads: text unchanged, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
