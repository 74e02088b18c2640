"""A package as a toolset, with relative imports and files named like standard modules."""

import json as standard_json

import helper as sibling  # the file in this folder
from scripts.shared import GREETING
from toolsets.docs import Docs

from . import random as own_random
from .helper import where
from .json import NAME

from agent_base import AgentToolset

assert standard_json.loads("1") == 1


class Words(AgentToolset):
    def imports(self) -> list:
        import colorsys
        import random
        return [where(), sibling.where(), NAME, GREETING, own_random.NAME, hasattr(random, "randint"), hasattr(colorsys, "rgb_to_hsv"), Docs.__name__]

    def paths(self) -> bool:
        import sys
        return any("skill" in p or "toolset" in p for p in sys.path)
