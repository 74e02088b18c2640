"""See agent_base."""

from agent_base import AgentToolset

__all__ = ["AgentToolset"]
