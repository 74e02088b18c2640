"""The MCP server: reads requests, runs tools at the same time, and writes results."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from typing import Any, Dict, List, Optional

from agent_base import AgentConfig

from . import streams
from .calls import Call
from .load import Toolsets
from .trace import quote

PROTOCOL = "2025-06-18"
GRACE = 2.0  # seconds that calls and toolsets get to end when the input ends


class Options:
    """The arguments of the program: --skill DIR [--max-result BYTES] [--] ENTRY..."""

    def __init__(self, argv: List[str]) -> None:
        self.skill, self.max_result, rest = "", 1 << 20, list(argv)
        while len(rest) > 1 and rest[0] in ("--skill", "--max-result"):
            name, value = rest.pop(0), rest.pop(0)
            if name == "--skill":
                self.skill = value
            else:
                self.max_result = int(value)
        self.entries = rest[1:] if rest[:1] == ["--"] else rest
        if not self.skill or not self.entries:
            sys.exit("usage: main.py --skill DIR [--max-result BYTES] [--] MODULE:CLASS...")


def run(argv: List[str]) -> None:
    options = Options(argv)
    sys.argv = [options.skill]
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    server = Server(streams.take(), loop, options)
    loop.create_task(server.start(options.entries))
    while True:  # a task that raises SystemExit ends run_forever, and it is not for a toolset to end the server
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):
            continue


class Server:
    """Answers requests in a thread of its own, so that it does so while a toolset keeps the event loop busy."""

    def __init__(self, wire: streams.Wire, loop: asyncio.AbstractEventLoop, options: Options) -> None:
        self.wire, self.loop, self.max_result = wire, loop, options.max_result
        self.root = os.path.realpath(options.skill)
        self.toolsets = Toolsets(self.root)
        self._lock = threading.Lock()
        self._calls: Dict[Any, Call] = {}

    async def start(self, entries: List[str]) -> None:
        await self.toolsets.load(entries, config(self.root))
        threading.Thread(target=self._read, daemon=True).start()

    def finish(self, call: Call, result: Optional[dict]) -> None:
        """Answer a call, unless it was cancelled. May be called from any thread."""
        with self._lock:
            known = self._calls.pop(call.id, None) is call
        if known and result is not None:
            self.wire.send({"id": call.id, "result": result})

    def _read(self) -> None:
        try:
            for message in self.wire:
                self._receive(message)
        finally:
            self._end()

    def _receive(self, message: Optional[dict]) -> None:
        if message is None:
            self.wire.send({"id": None, "error": {"code": -32700, "message": "the line is not a JSON object"}})
            return
        method, params = message.get("method"), message.get("params")
        params = params if isinstance(params, dict) else {}
        if method == "notifications/cancelled":
            self._cancel(params.get("requestId"))
        if method is None or "id" not in message:
            return
        if method == "tools/call":
            self._call(message["id"], params)
            return
        self._answer(message["id"], method, params)

    def _answer(self, id: Any, method: str, params: dict) -> None:
        if method == "initialize":
            result = {
                "protocolVersion": params.get("protocolVersion") or PROTOCOL,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "agent-base-python-toolsets", "version": "1"},
            }
        elif method == "ping":
            result = {}
        elif method == "tools/list":
            result = {
                "tools": [tool.describe() for tool in self.toolsets.tools.values()],
                "_meta": {"agent-base/failures": self.toolsets.failures},
            }
        else:
            self.wire.send({"id": id, "error": {"code": -32601, "message": f"there is no method {quote(str(method))}"}})
            return
        self.wire.send({"id": id, "result": result})

    def _call(self, id: Any, params: dict) -> None:
        tool = self.toolsets.tools.get(str(params.get("name")))
        if tool is None:
            message = f"there is no tool {quote(str(params.get('name')))}"
            self.wire.send({"id": id, "error": {"code": -32602, "message": message}})
            return
        call = Call(self, id, tool)
        with self._lock:
            self._calls[id] = call
        call.start(params.get("arguments"))

    def _cancel(self, id: Any) -> None:
        with self._lock:
            call = self._calls.pop(id, None) if isinstance(id, (str, int)) else None
        if call is not None:
            call.cancel()

    def _end(self) -> None:
        """Cancel what runs, end the toolsets and the process. Threads of tools do not delay it beyond GRACE."""
        with self._lock:
            calls = list(self._calls.values())
            self._calls.clear()
        for call in calls:
            call.cancel()
        ended = threading.Event()
        self.loop.call_soon_threadsafe(lambda: self.loop.create_task(self._close(ended)))
        ended.wait(GRACE)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                continue
        os._exit(0)

    async def _close(self, ended: threading.Event) -> None:
        try:
            await self.toolsets.close()
        finally:
            ended.set()


def config(root: str) -> AgentConfig:
    """The config of the toolsets, from the variables that scripts get, too."""
    known = os.environ.get
    return AgentConfig(
        skill_name=known("AGENT_SKILL_NAME") or os.path.basename(root),
        skill_dir=root,
        workspace=known("AGENT_WORKSPACE", ""),
        work_dir=known("AGENT_SKILL_WORK_DIR", ""),
        cache_dir=known("AGENT_SKILL_CACHE_DIR", ""),
    )
