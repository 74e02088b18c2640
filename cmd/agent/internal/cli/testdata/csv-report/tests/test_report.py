import json
import os
import subprocess
import sys
import unittest

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "scripts", "report.py")


class Report(unittest.TestCase):
    def test_counts(self):
        out = subprocess.run([sys.executable, SCRIPT, "--json"], input="a,b\n1,2\n", capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(out.stdout), {"rows": 1, "columns": ["a", "b"]})
