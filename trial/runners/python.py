"""Runs one test file of a skill: python.py SKILL_DIR FILE. The exit code is 0 if all its tests pass, and 77 if it cannot be run."""

import importlib.util
import inspect
import os
import re
import sys
import unittest


def wants_pytest(text):
    return re.search(r"^\s*(import pytest|from pytest )", text, re.M) is not None


def plain_functions(module):
    """Return the test functions of a module as tests: those without arguments."""
    suite = unittest.TestSuite()
    for name, function in vars(module).items():
        if name.startswith("test") and inspect.isfunction(function) and not inspect.signature(function).parameters:
            suite.addTest(unittest.FunctionTestCase(function, description=name))
    return suite


def main():
    root, file = sys.argv[1], os.path.join(sys.argv[1], *sys.argv[2].split("/"))
    sys.path[:0] = [os.path.dirname(file), root]
    with open(file, encoding="utf-8") as f:
        text = f.read()
    if wants_pytest(text) or "unittest" not in text:
        if importlib.util.find_spec("pytest"):
            import pytest

            return pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", root, file])
        if wants_pytest(text):
            print("it needs pytest, which is not installed: name it in a script block of the test, or in requirements.txt", file=sys.stderr)
            return 77
    name = os.path.splitext(os.path.basename(file))[0]
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.argv = [file]
    spec.loader.exec_module(module)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    suite.addTest(plain_functions(module))
    result = unittest.TextTestRunner().run(suite)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
