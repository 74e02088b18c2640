"""See agent_base."""

from agent_base import AgentConfig

__all__ = ["AgentConfig"]
