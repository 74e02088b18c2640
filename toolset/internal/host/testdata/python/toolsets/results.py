"""Tools that return, print, fail and stop in every way."""

import asyncio
import dataclasses
import datetime
import decimal
import enum
import os
import pathlib
import subprocess
import sys
import threading
import uuid
from collections import OrderedDict, namedtuple

from agent_base import AgentToolset

Pair = namedtuple("Pair", "left right")


class Kind(enum.Enum):
    ONE = "one"


@dataclasses.dataclass
class Report:
    name: str
    kind: Kind
    at: datetime.date


class Results(AgentToolset):
    def text(self):
        return "plain\ntext"

    def nothing(self):
        pass

    def success(self):
        return self._create_success_response(result=[1], message="done")

    def error(self):
        return self._create_error_response(error="not_found", message="no such thing")

    def opencode(self):
        return {"title": "T", "metadata": {"a": 1}, "output": "o"}

    def objects(self):
        return [Report("r", Kind.ONE, datetime.date(2026, 1, 31)), Pair(1, 2), {1, }, frozenset(), OrderedDict(a=1), {1: 2, None: 3, True: 4},
                pathlib.PurePosixPath("a/b"), uuid.UUID(int=0), decimal.Decimal("0.1"), datetime.datetime(2026, 1, 1), datetime.timedelta(seconds=2)]

    def numbers(self):
        return [10**30, float("nan"), float("inf"), -float("inf"), 1.5, True]

    def unicode(self):
        return "é 你好 \ud800"

    def bytes(self):
        return {"data": b"abc"}

    def thing(self):
        return object()

    def itself(self):
        a = []
        a.append(a)
        return a

    def generator(self):
        yield 1
        yield 2

    async def async_generator(self):
        yield 1
        await asyncio.sleep(0)
        yield 2

    def endless(self):
        while True:
            yield 1

    def promise(self):
        async def later():
            await asyncio.sleep(0)
            return "later"
        return later()

    def big(self, size: int):
        return "x" * size

    def fail(self):
        return {}["missing"]

    async def fail_async(self):
        raise ValueError("not like this")

    def exit(self):
        sys.exit(3)

    async def exit_async(self):
        sys.exit("stop")

    async def exit_task(self):
        async def leave():
            sys.exit(1)
        task = asyncio.create_task(leave())
        await asyncio.sleep(0.01)
        return task.done()

    def recursion(self):
        return self.recursion()

    def missing(self):
        import nonexistent_package
        return nonexistent_package

    def prints(self):
        print("{\"jsonrpc\": \"2.0\"}")
        sys.stdout.write("stray\n")
        sys.stdout.flush()
        sys.__stdout__.write("stray\n")
        sys.stdout.buffer.write(b"stray\n")
        os.write(1, b"stray\n")
        subprocess.run([sys.executable, "-c", "print('stray child')"], check=True)
        os.system("echo stray shell")
        return "printed"

    def reads(self):
        child = subprocess.run([sys.executable, "-c", "import sys; print(repr(sys.stdin.read()))"], capture_output=True, text=True)
        return [sys.stdin.read(), child.stdout.strip()]

    def config_values(self):
        c = self.config
        return [c.skill_name, c["workspace"], c.get("cache_dir"), c.get("other", "default"), "work_dir" in c, c.skill_dir.endswith("python")]

    def config_missing(self):
        return self.config.model


class Together(AgentToolset):
    """Calls that wait for each other, so they end only if they run at the same time."""

    def __init__(self, config=None):
        self.barrier = threading.Barrier(2)
        self.event = asyncio.Event()
        self.started = []
        self.cancelled = []

    def meet(self):
        self.barrier.wait(30)
        return "met"

    async def wait(self):
        await self.event.wait()
        return "waited"

    async def set(self):
        self.event.set()
        return "set"

    async def sleep(self):
        try:
            self.started.append("async")
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            self.cancelled.append("async")
            raise

    def spin(self):
        try:
            self.started.append("plain")
            while True:
                pass
        except BaseException as error:
            self.cancelled.append(type(error).__name__)
            raise

    async def block(self):
        self.barrier.wait(30)
        return "blocked"

    def were_started(self) -> list:
        return sorted(self.started)

    def were_cancelled(self) -> list:
        return sorted(self.cancelled)

    def forever(self):
        while True:
            threading.Event().wait()
