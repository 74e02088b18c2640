"""What a toolset imports: the base class of its classes, and the type of their config.

    from agent_base import AgentToolset

    class Greetings(AgentToolset):
        async def greet(self, name: str) -> dict:
            \"\"\"Greet somebody.\"\"\"
            return self._create_success_response(result=f"Hello, {name}!", message="greeted")

`from agent.tools.toolset import AgentToolset` gives the same class.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Iterator, List

__all__ = ["AgentConfig", "AgentToolset"]

# Methods that end a toolset. The host calls them, so they are not tools.
CLOSING = ("close", "aclose")


class AgentConfig:
    """What a toolset is told about where it runs. A value is an attribute, an item, or the result of get().

    skill_name: the name of the skill
    skill_dir:  the folder of its SKILL.md, which is read-only
    workspace:  the user's folder, or ""
    work_dir:   a folder for the files of this run, or ""
    cache_dir:  a folder that stays for the next run, or ""
    """

    def __init__(self, **values: str) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the config has no {name!r}; it has {', '.join(self)}")

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __contains__(self, name: object) -> bool:
        return name in self.__dict__

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a name, or default."""
        return self.__dict__.get(name, default)


class AgentToolset:
    """The base of a toolset. Public methods of a subclass are its tools, unless it has get_tools.

    Calls run at the same time: plain methods each in a thread of its own, async methods in one event loop.
    """

    def __init__(self, config: Any = None) -> None:
        self.config = config

    def get_tools(self) -> List[Callable[..., Any]]:
        """The tools: by default each public method of the subclasses, in the order of their definition."""
        names = {}
        for cls in reversed(type(self).__mro__):
            if issubclass(cls, AgentToolset) and cls is not AgentToolset:
                names.update((n, None) for n, value in vars(cls).items() if inspect.isfunction(value))
        reserved = set(vars(AgentToolset)) | set(CLOSING)
        return [getattr(self, n) for n in names if not n.startswith("_") and n not in reserved]

    def _create_success_response(self, result: Any = None, message: str = "") -> dict:
        """What a tool returns when it did what it was asked: result is anything that JSON can carry."""
        return {"success": True, "result": result, "message": message}

    def _create_error_response(self, error: str, message: str = "") -> dict:
        """What a tool returns when it could not: error is a short code such as "not_found", message says more."""
        return {"success": False, "error": error, "message": message}
