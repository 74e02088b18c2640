"""An entry with the name of a standard module."""

from agent_base import AgentToolset


class Types(AgentToolset):
    def who(self) -> str:
        import types
        return types.__name__ + " " + str(hasattr(types, "ModuleType"))
