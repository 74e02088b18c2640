"""See agent_base."""
