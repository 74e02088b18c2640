package trial_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/trial"
)

const habits = `
-- h/SKILL.md --
---
name: h
description: Has the tests of others. Use when tests are tested.
---
-- h/scripts/test_connection.py --
"""Tests the connection of a user."""
import argparse, sys
def test_connection(): sys.exit(1)
argparse.ArgumentParser().parse_args()
test_connection()
-- h/scripts/test_hook.sh --
exit 1
-- h/scripts/test_add.py --
import unittest

class T(unittest.TestCase):
    def test_add(self): self.assertEqual(1 + 2, 3)
-- h/tests/test_shell.sh --
#!/usr/bin/env bash
set -o pipefail
words=(one two)
[[ ${#words[@]} == 2 ]]
-- h/tests/test_some.py --
"""Uses unittest no more."""
def test_alone(): assert 1 + 1 == 2
def test_given(tmp_path): assert tmp_path
-- h/tests/test_given.py --
"""Uses unittest no more."""
class TestGiven:
    def test_given(self): assert True
def test_alone(tmp_path): assert tmp_path
-- h/tests/beside_test.sh --
echo "no such file: ${CLAUDE_SKILL_DIR%/*}/other/run.sh"
exit 1
-- h/tests/own_test.sh --
echo "no such file: $CLAUDE_SKILL_DIR/run.sh"
exit 1
-- h/run.sh --
-- other/run.sh --
`

// Tests run as their authors run them; what is only called test is a script, and what the sandbox does not show is no failure.
func TestHabits(t *testing.T) {
	for _, program := range []string{"python3", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("no " + program)
		}
	}
	s, _ := load(t, habits, "h")
	got := outcomes(t, s, &trial.Options{Groups: []trial.Group{trial.Tests}, Bench: host(t), Temp: t.TempDir()})
	some, given := "skipped tests/test_some.py: 1 passed, 1 left out: they need pytest", "skipped tests/test_given.py: it needs pytest"
	if slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, "passed tests/test_given.py: ") }) { // pytest is here
		some, given = "passed tests/test_some.py: ", "passed tests/test_given.py: "
	}
	expect(t, got,
		"passed scripts/test_add.py: ", "skipped tests/beside_test.sh: ", "failed tests/own_test.sh: exit code 1: no such file", given, "passed tests/test_shell.sh: ", some)
}
