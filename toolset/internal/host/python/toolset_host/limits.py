"""What Annotated adds to a type: a description, and limits such as ge=1 or max_length=80."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Tuple

from .bad import Bad, got

NUMBERS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum", "multiple_of": "multipleOf"}
LENGTHS = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems"), "object": ("minProperties", "maxProperties")}


def annotated(inner: Any, metadata: Tuple[Any, ...], make: Any) -> Any:
    """The shape of Annotated[inner, *metadata], made by make(schema, build)."""
    extra: Dict[str, Any] = {}
    for item in flat(metadata):
        extra.update(keywords(item, kind(inner.schema)))
    if not extra:
        return inner
    schema = {**inner.schema, **{k: v for k, v in extra.items() if k == "description"}}
    bounds = {k: v for k, v in extra.items() if k != "description"}
    put(schema, bounds)

    def build(value: Any, at: str) -> Any:
        if value is not None:
            check(value, bounds, at)
        return inner.build(value, at)

    return make(schema, build)


def flat(metadata: Tuple[Any, ...]) -> List[Any]:
    """The items, with what pydantic's Field holds beside it."""
    items: List[Any] = []
    for item in metadata:
        items.append(item)
        inner = getattr(item, "metadata", ())
        items.extend(inner if isinstance(inner, (list, tuple)) else ())
    return items


def kind(schema: dict) -> str:
    """The type of a schema, or of its alternative that is not null."""
    kinds = [s.get("type", "") for s in schema.get("anyOf", [schema])]
    return next((k for k in kinds if k != "null"), "")


def keywords(item: Any, of: str) -> Dict[str, Any]:
    """The keywords of a schema for one item of Annotated."""
    if isinstance(item, str):
        return {"description": item}
    found: Dict[str, Any] = {}
    for name in ("documentation", "description", "help"):
        if isinstance(getattr(item, name, None), str):
            found["description"] = getattr(item, name)
            break
    for name, keyword in NUMBERS.items():
        limit = getattr(item, name, None)
        if isinstance(limit, (int, float)) and not isinstance(limit, bool):
            found[keyword] = limit
    for name, keyword in zip(("min_length", "max_length"), LENGTHS.get(of, ())):
        if isinstance(getattr(item, name, None), int):
            found[keyword] = getattr(item, name)
    for name in ("pattern", "regex"):
        if isinstance(getattr(item, name, None), str):
            found["pattern"] = getattr(item, name)
    return found


def put(schema: dict, bounds: Dict[str, Any]) -> None:
    """Add limits where they belong: in the alternatives of a union that are not null."""
    if "anyOf" not in schema:
        schema.update(bounds)
        return
    schema["anyOf"] = [s if s.get("type") == "null" else {**s, **bounds} for s in schema["anyOf"]]


def check(value: Any, bounds: Dict[str, Any], at: str) -> None:
    """Raise Bad if a value is beyond a limit."""
    for keyword, limit in bounds.items():
        problem = violation(value, keyword, limit)
        if problem:
            raise Bad(at, f"must {problem}, not {got(value)}")


def violation(value: Any, keyword: str, limit: Any) -> str:
    """What a value must do to keep a limit, or "" if it does."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        broken = {
            "minimum": ("be at least", lambda: value < limit),
            "exclusiveMinimum": ("be more than", lambda: value <= limit),
            "maximum": ("be at most", lambda: value > limit),
            "exclusiveMaximum": ("be less than", lambda: value >= limit),
            "multipleOf": ("be a multiple of", lambda: value % limit != 0),
        }.get(keyword)
        return f"{broken[0]} {limit}" if broken and broken[1]() else ""
    if keyword == "pattern" and isinstance(value, str):
        return "" if re.search(limit, value) else f"match {limit}"
    if isinstance(value, (str, list, dict)) and keyword.startswith(("min", "max")) and keyword[3:] in ("Length", "Items", "Properties"):
        parts = "characters" if isinstance(value, str) else "items"
        if keyword.startswith("min") and len(value) < limit:
            return f"have at least {limit} {parts}"
        if keyword.startswith("max") and len(value) > limit:
            return f"have at most {limit} {parts}"
    return ""
