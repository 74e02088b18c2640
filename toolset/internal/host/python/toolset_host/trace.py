"""What is said about an exception: its text, and the lines of the skill that led to it."""

from __future__ import annotations

import json
import os
import traceback
from typing import List

MAX_TEXT = 4000  # characters
MAX_LINES = 10


def describe(error: BaseException) -> str:
    """The type and the text of an exception."""
    if isinstance(error, SystemExit):
        return f"the code called sys.exit({'' if error.code is None else repr(error.code)})"
    if isinstance(error, RecursionError):
        return "RecursionError: calls are nested too deeply"
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    try:
        text = str(error)
    except Exception:
        text = "(its text cannot be made)"
    text = text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + " ..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def quote(text: str) -> str:
    """A text in quotes, cut if it is long."""
    return json.dumps(text if len(text) <= 100 else text[:97] + "...", ensure_ascii=False)


def trim(error: BaseException, root: str) -> str:
    """The frames of an exception in the files of a skill, outermost first and at most MAX_LINES lines."""
    lines: List[str] = []
    last = None
    for frame in traceback.extract_tb(error.__traceback__):
        name = within(frame.filename, root)
        if name and (name, frame.lineno) != last:  # recursion has the same line again and again
            last = (name, frame.lineno)
            lines.append(f"  {name}, line {frame.lineno}, in {frame.name}")
            if frame.line:
                lines.append(f"    {frame.line[:200]}")
    if isinstance(error, SyntaxError) and error.filename:
        lines.append(f"  {within(error.filename, root) or error.filename}, line {error.lineno}")
        if error.text:
            lines.append(f"    {error.text.strip()[:200]}")
    return "\n".join(lines[-MAX_LINES:])


def within(filename: str, root: str) -> str:
    """The path of a file in the skill, or "" for a file elsewhere."""
    name = os.path.relpath(filename, root) if os.path.isabs(filename) else os.pardir
    return "" if name.startswith(os.pardir) else name.replace(os.sep, "/")
