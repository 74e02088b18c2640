"""The tools of this skill: an example to replace.

The public methods of the class become tools. A model reads their descriptions and the types of their arguments.
"""

from __future__ import annotations

from typing import Any

from agent_base import AgentToolset


class Hello(AgentToolset):
    """Greets people."""

    def get_tools(self) -> list:
        """Return the methods that a model may call."""
        return [self.{{tool}}_greet]

    def {{tool}}_greet(self, name: str, times: int = 1) -> dict[str, Any]:
        """Greet somebody by name.

        Args:
            name: who is greeted, such as "Ada"
            times: how often, at least 1
        """
        if times < 1:
            return self._create_error_response(error="invalid_times", message="times must be at least 1")
        return self._create_success_response(result=" ".join([f"Hello, {name}!"] * times), message=f"Greeted {name}")
