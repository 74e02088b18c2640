"""Hints that pydantic understands better: its models, its types, and fields with limits. It is used if the toolset imported it."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from typing import Any, Dict

from .bad import Bad
from .docstrings import read


def concerns(hint: Any, depth: int = 0) -> bool:
    """Whether a hint has something of pydantic's in it."""
    if "pydantic" not in sys.modules or depth > 20:
        return False
    if isinstance(hint, type) and not typing.get_args(hint):
        return any(hasattr(hint, n) for n in ("__pydantic_core_schema__", "__get_pydantic_core_schema__", "__get_validators__"))
    if any(type(m).__module__.startswith("pydantic") and version() > 1 for m in getattr(hint, "__metadata__", ())):
        return True
    return any(concerns(a, depth + 1) for a in typing.get_args(hint)) and (version() > 1)


def version() -> int:
    return int(str(sys.modules["pydantic"].VERSION).split(".")[0])


def shape(hint: Any, definitions: Dict[str, dict], make: Any) -> Any:
    """The shape of such a hint, made by make(schema, build)."""
    pydantic = sys.modules["pydantic"]
    reference = "#/$defs/{model}"
    if version() > 1:
        adapter = pydantic.TypeAdapter(hint)
        schema, validate = adapter.json_schema(ref_template=reference), adapter.validate_python
    else:
        schema, validate = pydantic.schema_of(hint, ref_template=reference), lambda v: pydantic.parse_obj_as(hint, v)
    definitions.update({n: bare(d) for n, d in {**schema.pop("$defs", {}), **schema.pop("definitions", {})}.items()})

    def build(value: Any, at: str) -> Any:
        try:
            return validate(value)
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            where = [p for p in first["loc"] if p != "__root__"]
            place = at + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in where)
            raise Bad(place, f"is refused: {first['msg']}", inside=True) from None

    return make(bare(schema), build)


def bare(schema: Any) -> Any:
    """A schema without the titles that repeat the names of members."""
    if isinstance(schema, list):
        return [bare(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {}
    for name, value in schema.items():
        if name == "title" and isinstance(value, str):
            continue
        if name in ("properties", "$defs", "definitions", "patternProperties") and isinstance(value, dict):
            kept[name] = {n: bare(s) for n, s in value.items()}
        else:
            kept[name] = value if name in ("default", "enum", "const", "examples") else bare(value)
    return kept


def member_texts(cls: type) -> Dict[str, str]:
    """What the docstring of a class and the metadata of its fields say about its members."""
    doc = cls.__doc__ or ""
    texts = read(inspect.cleandoc(doc))[1] if doc else {}
    for field in dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ():
        said = field.metadata.get("description") or field.metadata.get("help")
        if isinstance(said, str):
            texts[field.name] = said
    return texts
