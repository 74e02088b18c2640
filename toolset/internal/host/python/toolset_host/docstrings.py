"""Reads docstrings in the styles of Google, NumPy and Sphinx."""

from __future__ import annotations

import re
from typing import Dict, List, Tuple

GOOGLE = re.compile(r"(args|arguments|parameters|params|keyword args|keyword arguments|attributes)\s*:\s*$", re.I)
GOOGLE_ITEM = re.compile(r"\*{0,2}(\w+)\s*(?:\(.*?\))?\s*(?::|--?\s)\s*(.*)")
NUMPY = re.compile(r"(parameters|other parameters|attributes)\s*$", re.I)
NUMPY_ITEM = re.compile(r"\*{0,2}(\w+(?:\s*,\s*\w+)*)\s*(?::.*)?$")
SPHINX = re.compile(r"\s*[:@]param\s+(?:[^:]*?\s)?\*{0,2}(\w+)\s*:\s*(.*)")
SPHINX_OTHER = re.compile(r"\s*[:@](type|rtype|raises?|returns?|vartype|ivar|var)\b")


def read(text: str) -> Tuple[str, Dict[str, str]]:
    """The description without the sections about arguments, and what is said about each argument."""
    lines = text.expandtabs().splitlines()
    rest: List[str] = []
    found: Dict[str, List[str]] = {}
    i = 0
    while i < len(lines):
        line = lines[i]
        if GOOGLE.match(line.strip()) and i + 1 < len(lines) and indent(lines[i + 1]) > indent(line):
            i = google(lines, i + 1, indent(line), found)
        elif NUMPY.match(line.strip()) and i + 1 < len(lines) and set(lines[i + 1].strip()) == {"-"}:
            i = numpy(lines, i + 2, indent(line), found)
        elif SPHINX.match(line):
            i = sphinx(lines, i, found)
        elif SPHINX_OTHER.match(line) and SPHINX_OTHER.match(line).group(1) in ("type", "vartype"):
            i += 1
        else:
            rest.append(line)
            i += 1
    description = re.sub(r"\n{3,}", "\n\n", "\n".join(rest)).strip()
    return description, {name: " ".join(" ".join(words).split()) for name, words in found.items() if any(words)}


def google(lines: List[str], i: int, outer: int, found: Dict[str, List[str]]) -> int:
    """Read the lines of a section "Args:", from line i. The result is the line after it."""
    depth = 0
    words: List[str] = []
    while i < len(lines) and (not lines[i].strip() or indent(lines[i]) > outer):
        line = lines[i]
        depth = depth or (indent(line) if line.strip() else 0)
        item = GOOGLE_ITEM.match(line.strip()) if indent(line) == depth and line.strip() else None
        if item:
            words = found.setdefault(item.group(1), [])
            words.append(item.group(2))
        elif line.strip():
            words.append(line.strip())
        i += 1
    return i


def numpy(lines: List[str], i: int, outer: int, found: Dict[str, List[str]]) -> int:
    """Read the lines of a section "Parameters" that is underlined, from line i."""
    words: List[List[str]] = []
    while i < len(lines):
        line = lines[i]
        underlined = i + 1 < len(lines) and lines[i + 1].strip() and set(lines[i + 1].strip()) == {"-"}
        if underlined and line.strip():
            break
        if line.strip() and indent(line) <= outer:
            item = NUMPY_ITEM.match(line.strip())
            if not item:
                break
            words = [found.setdefault(name.strip(), []) for name in item.group(1).split(",")]
        elif line.strip():
            for each in words:
                each.append(line.strip())
        i += 1
    return i


def sphinx(lines: List[str], i: int, found: Dict[str, List[str]]) -> int:
    """Read ":param name: text" in line i and the lines that continue it."""
    item = SPHINX.match(lines[i])
    words = found.setdefault(item.group(1), [])
    words.append(item.group(2))
    outer = indent(lines[i])
    i += 1
    while i < len(lines) and lines[i].strip() and indent(lines[i]) > outer:
        words.append(lines[i].strip())
        i += 1
    return i


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())
