"""Finds the modules of a skill by their files, without a change of sys.path."""

from __future__ import annotations

import importlib
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any, List, Optional

OURS = ("agent", "agent_base", "toolset_host", "__main__")


def is_taken(name: str) -> bool:
    """Whether a top-level name is a module of Python's or of the host's, which no file of a skill hides."""
    if name in OURS or name in sys.builtin_module_names:
        return True
    names = getattr(sys, "stdlib_module_names", None)  # Python 3.10 and newer
    if names is not None:
        return name in names
    library = os.path.dirname(os.__file__)
    return PathFinder.find_spec(name, [library, os.path.join(library, "lib-dynload")]) is not None


def locate(name: str, folder: str, leaf: str) -> Optional[ModuleSpec]:
    """The module `name` in a folder: leaf.py, or the folder leaf with or without an __init__.py."""
    base = os.path.join(folder, leaf)
    package = os.path.join(base, "__init__.py")
    if os.path.isfile(package):
        return spec_from_file_location(name, package, submodule_search_locations=[base])
    if os.path.isfile(base + ".py"):
        return spec_from_file_location(name, base + ".py")
    if os.path.isdir(base):
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [base]
        return spec
    return None


class Finder:
    """Finds top-level modules in folders of a skill. Python finds those of packages by itself."""

    def __init__(self, folders: List[str]) -> None:
        self.folders = folders

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[ModuleSpec]:
        if path is not None or is_taken(name):
            return None
        specs = (locate(name, folder, name) for folder in self.folders)
        return next((spec for spec in specs if spec is not None), None)


class Modules:
    """The modules of one skill.

    An absolute import finds, in this order: the standard library, files in the skill's folder, installed packages, and
    files in the folders of the toolsets.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.siblings = Finder([])
        sys.meta_path.insert(0, Finder([root]))
        sys.meta_path.append(self.siblings)

    def file(self, parts: List[str]) -> Optional[str]:
        """The file of a module, or None if there is none."""
        spec = locate(".".join(parts), os.path.join(self.root, *parts[:-1]), parts[-1])
        return spec.origin if spec is not None and spec.has_location else None

    def load(self, parts: List[str], file: str) -> ModuleType:
        """Import the module of a file."""
        folder = os.path.dirname(file)
        if folder not in self.siblings.folders:
            self.siblings.folders.append(folder)
        name = ".".join(parts)
        if not is_taken(parts[0]):
            return importlib.import_module(name)
        spec = spec_from_file_location("skill_" + name.replace(".", "_"), file)
        module = module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module

    def has(self, name: str) -> bool:
        """Whether a top-level name is one of the skill's own."""
        return any(locate(name, f, name) is not None for f in [self.root, *self.siblings.folders])
