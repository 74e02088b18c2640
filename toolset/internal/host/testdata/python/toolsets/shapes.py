"""Tools whose arguments have every kind of type, in the ways that people write them."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import pathlib
import typing
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Dict, List, Literal, NamedTuple, NewType, Optional, Sequence, Tuple, TypedDict, Union

from agent.config import AgentConfig
from agent.tools.toolset import AgentToolset

if TYPE_CHECKING:
    from somewhere import Unknown

UserId = NewType("UserId", int)


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Thing(enum.Enum):
    A = object()
    B = object()


class Point(NamedTuple):
    x: float
    y: float = 0.0


class Options(TypedDict, total=False):
    """Options of a search.

    Attributes:
        limit: how many
    """

    limit: int
    sort: Literal["asc", "desc"]


class Filter(Options):
    query: str


@dataclass
class Address:
    """An address.

    Args:
        street: with the number
    """

    street: str
    zip: Annotated[str, "five digits"] = "00000"

    def __post_init__(self):
        if not self.zip.isdigit():
            raise ValueError("zip must be digits")


@dataclass
class Person:
    name: str
    address: Address
    tags: list[str] = field(default_factory=list, metadata={"description": "words about them"})
    born: datetime.date | None = None


@dataclass
class Node:
    value: int
    children: list[Node] = field(default_factory=list)


@dataclass
class Event:
    date: datetime.date | None = None
    list: list[str] = dataclasses.field(default_factory=list)
    int: Optional[int] = None


class Limit:
    """As annotated_types has it."""

    def __init__(self, **limits):
        self.__dict__.update(limits)


def kind(value: Any) -> str:
    return f"{type(value).__name__} {value!r}"


class Shapes(AgentToolset):
    def __init__(self, config: AgentConfig):
        super().__init__(config)
        self.name = config.skill_name

    def scalars(self, a: str, b: int, c: float, d: bool, e: None = None) -> str:
        return ", ".join(kind(v) for v in (a, b, c, d))

    def untyped(self, a, b=2):
        return kind(a) + ", " + kind(b)

    def implicit(self, a: str = None, b: Optional[int] = None, c: int | None = None, d: Union[int, str] = 1) -> str:
        return ", ".join(kind(v) for v in (a, b, c, d))

    def collections(self, a: List[str], b: Sequence[int] = (), c: set[str] = frozenset(), d: Dict[str, float] | None = None,
                    e: Tuple[int, ...] = (1, 2), f: tuple[float, float] = (0.0, 0.0), g: tuple[str, int] = ("x", 1)) -> str:
        return ", ".join(kind(v) for v in (a, b, sorted(c), d, e, f, g))

    def keys(self, a: dict[int, str], b: dict[Color, bool] = {}, c: dict = {}, d: list = []) -> str:
        return ", ".join(kind(v) for v in (a, b, c, d))

    def choices(self, a: Literal["x", "y"], b: Literal[1, 2] = 1, c: Color = Color.RED, d: Level = Level.LOW,
                e: Thing | None = None, f: Literal["only"] = "only") -> str:
        return ", ".join(str(v) for v in (a, b, c, repr(d), e and e.name, f))

    def structures(self, person: Person, filter: Filter | None = None, at: Point = Point(1, 2)) -> str:
        return f"{person} {filter} {at}"

    def tree(self, root: Node) -> int:
        def count(node):
            assert isinstance(node, Node)
            return node.value + sum(count(c) for c in node.children)
        return count(root)

    def times(self, a: datetime.datetime, b: datetime.date | None = None, c: datetime.timedelta = datetime.timedelta(minutes=1),
              d: Union[pathlib.Path, None] = None, e: uuid.UUID | None = None, f: Decimal = Decimal("1.5")) -> list:
        return [a, b, c, d and kind(d), e, f]

    def limits(self, a: Annotated[int, Limit(ge=1, le=10), "how many"], b: Annotated[str, Limit(min_length=2, pattern="^[a-z]+$")] = "ab",
               c: Annotated[Optional[List[int]], Limit(max_length=2)] = None) -> str:
        return f"{a} {b} {c}"

    def names(self, user: UserId, other: typing.Any = None, unknown: Unknown = 1, alias: "Optional[Color]" = None) -> str:
        return f"{user} {other} {unknown} {alias}"

    def hidden(self, a: int, _b: int = 1, callback: typing.Callable = print, ctx: AgentToolset = None) -> int:
        return a

    def positional(self, a: int, b: int = 2, /, c: int = 3, *, d: int = 4) -> list:
        return [a, b, c, d]

    def list(self, a: list[str], event: Event | None = None) -> list[str]:
        return [*a, event]

    def open(self, a: int, **others: int) -> dict:
        return {"a": a, **others}

    def _private(self):
        raise AssertionError

    @property
    def ready(self):
        raise AssertionError("properties are not read")

    @staticmethod
    def helper():
        raise AssertionError

    @classmethod
    def make(cls):
        raise AssertionError

    def close(self):
        print("closed")


class Refused(AgentToolset):
    """Each tool but the last is left out, with a reason."""

    def many(self, *values: int):
        return values

    def data(self, data: bytes):
        return data

    def toolset(self, other: Shapes):
        return other

    def grüße(self):
        return 1

    def good(self) -> str:
        return "good"
