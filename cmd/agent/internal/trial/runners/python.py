"""Runs one test file of a skill: python.py SKILL_DIR FILE. The exit code is 0 if all its tests pass, and 77 if it cannot be run."""

import importlib.util
import inspect
import os
import re
import sys
import unittest


NO_PYTEST = "it needs pytest, which is not installed: name it in a script block of the test, or in requirements.txt"


def wants_pytest(text):
    return re.search(r"^\s*(import pytest|from pytest )", text, re.M) is not None


def plain_functions(module):
    """Return the test functions of a module as tests, and how many tests only pytest can call.

    Those are functions that take arguments or are coroutines, and methods of classes without a base class.
    """
    suite, left = unittest.TestSuite(), 0
    for name, member in vars(module).items():
        if inspect.isclass(member) and name.startswith("Test") and not issubclass(member, unittest.TestCase):
            left += sum(m.startswith("test") for m in vars(member))
        if not name.startswith("test") or not inspect.isfunction(member):
            continue
        if inspect.signature(member).parameters or inspect.iscoroutinefunction(member):
            left += 1
        else:
            suite.addTest(unittest.FunctionTestCase(member, description=name))
    return suite, left


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
            print(NO_PYTEST, file=sys.stderr)
            return 77
    name = os.path.splitext(os.path.basename(file))[0]
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.argv = [file]
    spec.loader.exec_module(module)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    plain, left = plain_functions(module)
    suite.addTest(plain)
    if left and not suite.countTestCases():
        print(NO_PYTEST, file=sys.stderr)
        return 77
    result = unittest.TextTestRunner().run(suite)
    if not result.wasSuccessful():
        return 1
    if left:
        print(f"{result.testsRun} passed, {left} left out: " + NO_PYTEST.replace("it needs", "they need"))
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
