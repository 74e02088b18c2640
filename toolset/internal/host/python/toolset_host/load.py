"""Turns entries such as toolsets.hello:HelloExtended into tools. A failure concerns its own entry or tool only."""

from __future__ import annotations

import inspect
import os
import re
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple

from agent_base import CLOSING, AgentConfig, AgentToolset

from . import trace
from .modules import Modules, is_taken
from .tools import Tool, Unusable

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Failure(Exception):
    """Why a toolset or one of its tools is not there.

    kind: shape (the entry or what it names is not a toolset), import, package (a missing one), class, base or tool
    """

    def __init__(self, kind: str, message: str, package: str = "", cause: Optional[BaseException] = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.package, self.cause = kind, message, package, cause

    def report(self, entry: str, root: str) -> dict:
        facts = {"toolset": entry, "kind": self.kind, "message": self.message}
        if self.package:
            facts["package"] = self.package
        lines = trace.trim(self.cause, root) if self.cause is not None else ""
        if lines:
            facts["trace"] = lines
        return facts


class Toolsets:
    """The toolsets of a skill: tools by their names on the wire, and what failed."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.tools: Dict[str, Tool] = {}
        self.failures: List[dict] = []
        self._objects: List[AgentToolset] = []
        self._modules = Modules(root)

    async def load(self, entries: List[str], config: AgentConfig) -> None:
        for entry in entries:
            try:
                await self._load(entry, config)
            except Failure as failure:
                self.failures.append(failure.report(entry, self.root))

    async def close(self) -> None:
        """Call what ends each toolset."""
        for toolset in self._objects:
            for method in (getattr(toolset, name, None) for name in CLOSING):
                try:
                    result = method() if callable(method) else None
                    if inspect.isawaitable(result):
                        await result
                except (Exception, SystemExit) as error:
                    print(f"ending {type(toolset).__name__}: {trace.describe(error)}", file=sys.stderr)

    async def _load(self, entry: str, config: AgentConfig) -> None:
        parts, name = split(entry)
        cls = self._class(parts, name)
        try:
            toolset = make(cls, config)
            methods = toolset.get_tools()
            methods = await methods if inspect.isawaitable(methods) else methods
        except (Exception, SystemExit) as error:
            raise Failure("shape", f"{name} cannot be used: {trace.describe(error)}", cause=error) from None
        if not isinstance(methods, (list, tuple)):
            raise Failure("shape", f"{name}.get_tools must return a list of methods, not {type(methods).__name__}")
        self._objects.append(toolset)
        for method in methods:
            try:
                self._add(entry, name, method)
            except Failure as failure:
                self.failures.append(failure.report(entry, self.root))

    def _class(self, parts: List[str], name: str) -> type:
        module = self._import(parts)
        cls = getattr(module, name, None)
        if not isinstance(cls, type):
            known = [n for n, v in vars(module).items() if isinstance(v, type) and v.__module__ == module.__name__]
            has = f"it has {', '.join(sorted(known))}" if known else "it has none"
            raise Failure("class", f"{'/'.join(parts)}.py has no class {trace.quote(name)}; {has}")
        if not issubclass(cls, AgentToolset):
            raise Failure("base", f"{name} must inherit from AgentToolset")
        return cls

    def _import(self, parts: List[str]) -> Any:
        file = self._modules.file(parts)
        if file is None:
            raise Failure("import", f"the skill has no file {'/'.join(parts)}.py")
        try:
            return self._modules.load(parts, file)
        except (Exception, SystemExit) as error:
            package = self._missing(error)
            if package:
                message = f"it needs the package {trace.quote(package)}, which is not installed"
                raise Failure("package", message, package, error) from None
            where = trace.within(file, self.root)
            raise Failure("import", f"{where} cannot be imported: {trace.describe(error)}", cause=error) from None

    def _missing(self, error: BaseException) -> str:
        """The package that an import failed for, or ""."""
        if not isinstance(error, ModuleNotFoundError) or not error.name:
            return ""
        top = error.name.split(".")[0]
        return "" if is_taken(top) or self._modules.has(top) else top

    def _add(self, entry: str, cls: str, method: Callable[..., Any]) -> None:
        name = getattr(method, "__name__", "")
        if not callable(method) or not name:
            raise Failure("tool", f"{cls}.get_tools returned {trace.quote(repr(method))}, which is not a method")
        if not NAME.fullmatch(name):
            raise Failure("tool", f"the name of the tool {trace.quote(name)} must be 1 to 64 of the characters A-Z a-z 0-9 _ -")
        wire = f"{cls}.{name}"
        if wire in self.tools:
            raise Failure("tool", f"there are two tools {wire}; the first is from {self.tools[wire].entry}")
        try:
            self.tools[wire] = Tool(method, wire, entry)
        except Unusable as error:
            raise Failure("tool", f"{wire} is left out: {error}") from None
        except Exception as error:
            raise Failure("tool", f"{wire} is left out: {trace.describe(error)}", cause=error) from None


def split(entry: str) -> Tuple[List[str], str]:
    """The parts of the module, and the class, of "module:Class". The module may be written as a path, too."""
    module, colon, name = entry.rpartition(":")
    module = module[2:] if module.startswith("./") else module
    module = module[:-3] if module.endswith(".py") else module
    parts = module.replace("/", ".").split(".")
    if not colon or not name.isidentifier() or not all(part and os.sep not in part for part in parts):
        raise Failure("shape", f"{trace.quote(entry)} is not an entry: write module:Class, such as toolsets.hello:HelloTools")
    return parts, name


def make(cls: type, config: AgentConfig) -> Any:
    """An object of a class, with the config if its constructor takes one."""
    try:
        inspect.signature(cls).bind(config)
    except TypeError:
        return cls()
    return cls(config)
