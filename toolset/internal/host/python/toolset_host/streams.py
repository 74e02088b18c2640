"""Keeps the wire to the engine apart from the standard streams, which belong to the toolsets."""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any, BinaryIO, Iterator, Optional


class Wire:
    """Messages of JSON-RPC, one a line. send may be called from any thread."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader, self._writer, self._lock = reader, writer, threading.Lock()

    def __iter__(self) -> Iterator[Optional[dict]]:
        """The messages until the end of the input; None for a line that is not one."""
        for line in self._reader:
            if line.strip():
                yield parse(line)

    def send(self, message: dict) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode("ascii") + b"\n"
        with self._lock:
            try:
                self._writer.write(line)
                self._writer.flush()
            except OSError:  # the engine is gone
                os._exit(0)


def parse(line: bytes) -> Optional[dict]:
    """The object of a line, or None."""
    try:
        message = json.loads(line, parse_int=parse_int)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def parse_int(digits: str) -> Any:
    """An int; infinity for one with more digits than Python converts, so that the call is refused and not the line."""
    return int(digits) if len(digits) < 4000 else float("inf")


def take() -> Wire:
    """Move the wire away from descriptors 0 and 1.

    From then on 0 is empty and 1 is standard error: for this process, for print, and for programs that a tool starts.
    """
    wire = Wire(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    return wire
