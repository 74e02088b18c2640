"""The names by which older toolsets import the base class. agent_base has the code."""
