"""Tests of scripts/hello.py: "agent skill test" runs them, and so does "python3 -m unittest"."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "hello.py"


def run(*args):
    return subprocess.run([sys.executable, str(SCRIPT), *args], capture_output=True, text=True, check=False)


class HelloTest(unittest.TestCase):
    def test_text(self):
        done = run("--name", "Ada")
        self.assertEqual((done.returncode, done.stdout), (0, "Hello, Ada!\n"))

    def test_json(self):
        done = run("--name", "Ada", "--times", "2", "--json")
        self.assertEqual(json.loads(done.stdout), {"greeting": "Hello, Ada! Hello, Ada!", "name": "Ada"})

    def test_error(self):
        done = run("--times", "0", "--json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error", json.loads(done.stdout))


if __name__ == "__main__":
    unittest.main()
