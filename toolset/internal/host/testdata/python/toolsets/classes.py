from agent_base import AgentToolset


class NotOne:
    pass


class NoConfig(AgentToolset):
    def __init__(self):
        super().__init__()

    def one(self):
        return 1


class Constructor(AgentToolset):
    def __init__(self, config):
        raise RuntimeError("no key")


class Lists(AgentToolset):
    async def get_tools(self):
        return [self.one, 3, self.one, lambda: 2]

    def one(self):
        return 1


class Wrong(AgentToolset):
    def get_tools(self):
        return "one"


class Base(AgentToolset):
    def first(self):
        return "base"

    def second(self):
        return "base"


class Derived(Base):
    def second(self):
        return "derived"

    def third(self):
        return "derived"
