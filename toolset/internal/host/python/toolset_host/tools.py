"""One tool: what the engine is told about it, and how it is called."""

from __future__ import annotations

import inspect
import json
from typing import Any, Callable, Dict, List, Tuple

from . import hints, values
from .docstrings import read
from .shapes import Bad, Compiler, Shape, Unusable
from .trace import quote

__all__ = ["Bad", "Tool", "Unusable"]

MISSING = inspect.Parameter.empty


class Argument:
    """One argument of a tool: its name, its shape, and its default, which is MISSING if the model must give it."""

    def __init__(self, parameter: inspect.Parameter, shape: Shape, default: Any) -> None:
        self.name, self.kind, self.shape, self.default = parameter.name, parameter.kind, shape, default
        self.required = default is MISSING
        self.marked = not self.required and default is not parameter.default  # the method itself has Field(default)


class Tool:
    """A method as a tool. Raises Unusable if a model cannot call it."""

    def __init__(self, method: Callable[..., Any], name: str, entry: str) -> None:
        self.method, self.name, self.entry = method, name, entry
        self.runs_in_loop = runs_in_loop(method)
        self.arguments: Dict[str, Argument] = {}
        self.others: Any = None  # the shape of what **kwargs takes, or None
        self.description, documented = read(inspect.getdoc(method) or "")
        compiler = Compiler()
        for parameter, hint in hints.parameters(method):
            with compiler.using(hints.scope(method)):
                self._add(parameter, hint, documented.get(parameter.name, ""), compiler)
        self.schema = self._schema(compiler)

    def describe(self) -> dict:
        """The tool as MCP's tools/list has it."""
        facts: Dict[str, Any] = {"name": self.name, "inputSchema": self.schema}
        if self.description:
            facts["description"] = self.description
        facts["_meta"] = {"agent-base/toolset": self.entry}
        return facts

    def bind(self, given: Any) -> Tuple[List[Any], Dict[str, Any]]:
        """Check the arguments of a call and build what the method takes. Raises Bad."""
        if not isinstance(given, dict):
            raise Bad("", "the arguments must be an object")
        unknown = [n for n in given if n not in self.arguments]
        if unknown and self.others is None:
            has = "it takes " + ", ".join(self.arguments) if self.arguments else "it takes none"
            raise Bad("", f"there is no argument {quote(unknown[0])}; {has}")
        args: List[Any] = []
        kwargs = {n: self.others.build(given[n], n) for n in unknown}
        positional = True
        for argument in self.arguments.values():
            if argument.name not in given:
                if argument.required:
                    raise Bad(argument.name, "is missing")
                positional = False
                if argument.marked:
                    kwargs[argument.name] = argument.default
                continue
            value = argument.shape.build(given[argument.name], argument.name)
            if argument.kind is inspect.Parameter.POSITIONAL_ONLY:
                if not positional:
                    raise Bad(argument.name, "can be given only with those before it")
                args.append(value)
            else:
                kwargs[argument.name] = value
        return args, kwargs

    def _add(self, parameter: inspect.Parameter, hint: Any, text: str, compiler: Compiler) -> None:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            raise Unusable(f"*{parameter.name} cannot be given by name: take a list")
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            self.others = compiler.shape(hint)
            return
        hint, default = hints.unmarked(hint, parameter.default)
        required = default is MISSING
        if parameter.name.startswith("_") and not required:
            return
        try:
            shape = compiler.shape(hint)
        except Unusable as error:
            if required:
                raise Unusable(f'argument "{parameter.name}": {error}') from None
            return  # the method has a value of its own, and a model cannot give another
        if default is None:
            shape = shape.or_null()
        schema = dict(shape.schema)
        if text and "description" not in schema:
            schema["description"] = text
        if default is not None and not required and "default" not in schema:
            schema.update(default_of(default))
        self.arguments[parameter.name] = Argument(parameter, Shape(schema, shape.build), default)

    def _schema(self, compiler: Compiler) -> dict:
        schema: Dict[str, Any] = {
            "type": "object",
            "properties": {a.name: a.shape.schema for a in self.arguments.values()},
        }
        required = [a.name for a in self.arguments.values() if a.required]
        if required:
            schema["required"] = required
        others = self.others
        schema["additionalProperties"] = False if others is None else (others.schema or True)
        if compiler.definitions:
            schema["$defs"] = compiler.definitions
        return schema


def default_of(value: Any) -> dict:
    """A default as a keyword of a schema; nothing if JSON cannot carry it."""
    try:
        plain = values.plain(value)
        json.dumps(plain, allow_nan=False)
    except Exception:
        return {}
    return {"default": plain}


def runs_in_loop(method: Callable[..., Any]) -> bool:
    """Whether calling a method gives something to await at once."""
    call = getattr(method, "__call__", method)
    return any(inspect.iscoroutinefunction(f) or inspect.isasyncgenfunction(f) for f in (method, call))
