"""One call of a tool: runs it in the event loop or in a thread, and makes its result."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any, Optional

from . import trace, values
from .bad import Bad
from .tools import Tool


class Call:
    """A call that runs. cancel may be called once, from any thread."""

    def __init__(self, server: Any, id: Any, tool: Tool) -> None:
        self.server, self.id, self.tool = server, id, tool
        self._lock = threading.Lock()
        self._cancelled = False
        self._task: Optional[asyncio.Task] = None
        self._thread: Optional[threading.Thread] = None

    def start(self, arguments: Any) -> None:
        given = {} if arguments is None else arguments
        if self.tool.runs_in_loop:
            self.server.loop.call_soon_threadsafe(self._start_task, given)
            return
        self._thread = threading.Thread(target=self._run, args=(given,), name=self.tool.name, daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Raise CancelledError in the tool: at its next await, or at the next line of a plain method."""
        with self._lock:
            self._cancelled = True
            task, thread = self._task, self._thread
        if task is not None:
            self.server.loop.call_soon_threadsafe(task.cancel)
        if thread is not None:
            interrupt(thread)

    def _start_task(self, given: Any) -> None:
        self._await(self._run_async(given))

    def _await(self, coroutine: Any) -> None:
        with self._lock:
            if self._cancelled:
                coroutine.close()
                return
            self._task = self.server.loop.create_task(coroutine)

    async def _run_async(self, given: Any) -> None:
        try:
            args, kwargs = self.tool.bind(given)
            result = self._result(await settle(self.tool.method(*args, **kwargs)))
        except BaseException as error:
            result = self._failed(error)
        self.server.finish(self, result)

    def _run(self, given: Any) -> None:
        try:
            args, kwargs = self.tool.bind(given)
            value = self.tool.method(*args, **kwargs)
            if inspect.isawaitable(value) or inspect.isasyncgen(value):
                self.server.loop.call_soon_threadsafe(self._await, self._finish_later(value))
                return
            result = self._result(collect(value))
        except BaseException as error:
            result = self._failed(error)
        self.server.finish(self, result)

    async def _finish_later(self, value: Any) -> None:
        try:
            result = self._result(await settle(value))
        except BaseException as error:
            result = self._failed(error)
        self.server.finish(self, result)

    def _result(self, value: Any) -> dict:
        """What a tool returned, as the result of tools/call."""
        try:
            plain = values.plain(value)
            text = values.text(plain)
        except RecursionError:
            return failed("the result contains itself, or is nested too deeply")
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > self.server.max_result:
            return failed(f"the result has {size} bytes, more than {self.server.max_result}: "
                          "ask for less, or have the tool write a file")
        result = {"content": [{"type": "text", "text": text}]}
        if isinstance(plain, dict):
            result["structuredContent"] = plain
            result["isError"] = plain.get("success") is False
        return result

    def _failed(self, error: BaseException) -> dict:
        """An exception, as the result of tools/call."""
        if isinstance(error, (Bad, values.NotJSON)):
            return failed(str(error))
        if isinstance(error, asyncio.CancelledError):
            return failed("the tool was cancelled")
        text = trace.describe(error)
        lines = trace.trim(error, self.server.root)
        return failed(f"{text}\n{lines}" if lines else text)


def failed(text: str) -> dict:
    return {"content": [{"type": "text", "text": text}], "isError": True}


async def settle(value: Any) -> Any:
    """The value of what is awaited, or the list of what is generated."""
    if inspect.isasyncgen(value):
        items = []
        async for item in value:
            items.append(item)
            limit(len(items))
        return items
    return collect(await value if inspect.isawaitable(value) else value)


def collect(value: Any) -> Any:
    """The value, or the list of what a generator gives."""
    if not inspect.isgenerator(value):
        return value
    items = []
    for item in value:
        items.append(item)
        limit(len(items))
    return items


def limit(count: int) -> None:
    if count > values.MAX_ITEMS:
        raise values.NotJSON(f"the tool yields more than {values.MAX_ITEMS} items")


def interrupt(thread: threading.Thread) -> None:
    """Raise CancelledError in a thread of a tool. Code in C sees it when it returns to Python."""
    try:
        import ctypes

        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(asyncio.CancelledError))
    except (ImportError, AttributeError):  # not CPython: the thread goes on, and nobody waits for it
        return
