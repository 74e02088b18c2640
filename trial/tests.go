package trial

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill/manifest"
)

// The limits of the skill's own tests.
const (
	maxTests = 100             // files
	testTime = 5 * time.Minute // of one file
)

// testFolders are the folders at the top of a skill that can have tests of the skill itself. What lies in assets/ or examples/
// belongs to what the skill is about.
var testFolders = []string{".", "scripts", "tests", "test", "toolsets", "bin", "tools", "src", "lib"}

// testFile are the paths of tests: names that a shell does not change.
var testFile = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)

// testFiles returns the slash paths of a skill's own tests, sorted: test_*.py, *_test.py, *.test.ts and the like, *_test.sh, at its top and in
// folders such as scripts/ and tests/.
func (r *run) testFiles() []string {
	out := files(r.s.FS(), ".", func(name string) bool {
		top, _, below := strings.Cut(name, "/")
		if !below {
			top = "."
		}
		return slices.Contains(testFolders, top) && isTest(path.Base(name))
	})
	slices.Sort(out)
	return out
}

// isTest reports whether a file has the name of a test.
func isTest(name string) bool {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	switch survey.LanguageOf(name) {
	case survey.Python:
		return strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test")
	case survey.Shell:
		return strings.HasSuffix(stem, "_test") || strings.HasPrefix(stem, "test_")
	case survey.JavaScript, survey.TypeScript:
		return strings.HasSuffix(stem, ".test")
	}
	return false
}

// tests runs the skill's own tests, each file by itself.
func (r *run) tests(ctx context.Context) {
	list := r.testFiles()
	for i, name := range list {
		if i == maxTests {
			r.skip(Tests, "more tests", fmt.Sprintf("%s were not run: the limit is %d", plural(len(list)-i, "file"), maxTests))
			return
		}
		if ctx.Err() != nil {
			return
		}
		c := Case{Group: Tests, Name: name, File: name, Status: Passed}
		r.test(ctx, &c)
		if ctx.Err() == nil {
			r.add(c)
		}
	}
}

func (r *run) test(ctx context.Context, c *Case) {
	switch {
	case r.o.Bench == nil:
		c.Status, c.Message = Skipped, "tests are not run"
		return
	case !testFile.MatchString(c.File):
		c.Status, c.Message, c.Cure = Skipped, "its name cannot be called", "use letters, digits, '-', '_' and '.'"
		return
	}
	command := testCommand(c.File, survey.Beginning(r.s.FS(), c.File))
	out, err := r.o.Bench.RunHook(ctx, r.s, &script.HookOptions{Hook: manifest.Hook{Event: "test " + c.File, Command: command}, Timeout: testTime, Admit: r.o.Admit})
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		r.failure(c, err)
		return
	}
	c.Duration, r.report.Sandbox = out.Duration, &out.Sandbox
	said := strings.TrimSpace(string(out.Stdout) + "\n" + string(out.Stderr))
	switch {
	case out.ExitCode == unavailable:
		c.Status, c.Message = Skipped, first(said)
	case nothingRan(out.Stdout, out.Stderr):
		c.Status, c.Message, c.Cure = Failed, "it ran no test", "name the methods of a unittest.TestCase, or functions, test_…"
	case out.ExitCode != 0:
		c.Status, c.Message = Failed, fmt.Sprintf("exit code %d: %s", out.ExitCode, tail(said, 1500))
	default:
		c.Message = counted(said)
	}
}

// unavailable is the exit code of testCommand for a test that cannot be run here.
const unavailable = 77

// nothingRan reports whether a test file had no tests.
func nothingRan(stdout, stderr []byte) bool {
	return bytes.Contains(stderr, []byte("\nRan 0 tests in ")) || bytes.Contains(stdout, []byte("no tests ran in "))
}

// ran finds how many tests a program says that it ran.
var ran = regexp.MustCompile(`Ran (\d+) tests? in|(\d+) passed in|# pass (\d+)|ℹ pass (\d+)`)

// counted returns how many tests a program says that it ran.
func counted(said string) string {
	m := ran.FindStringSubmatch(said)
	for _, n := range m[min(1, len(m)):] {
		if n != "" {
			return n + " tests"
		}
	}
	return ""
}

// pytestOnly finds a Python test that needs pytest.
var pytestOnly = regexp.MustCompile(`(?m)^\s*(import pytest|from pytest )`)

// testCommand returns the command that runs a test. The path is one that testFile accepts.
func testCommand(file string, text []byte) string {
	missing := func(what string) string { return fmt.Sprintf("{ echo '%s'; exit %d; }", what, unavailable) }
	full := `"$CLAUDE_SKILL_DIR"/` + file
	switch survey.LanguageOf(file) {
	case survey.Python:
		if pytestOnly.Match(text) || !bytes.Contains(text, []byte("unittest")) {
			return "python3 -c 'import pytest' 2>/dev/null || " + missing("it needs pytest, which is not installed") +
				"; exec python3 -B -m pytest -q -p no:cacheprovider " + full
		}
		return `exec python3 -B -m unittest discover -s "$CLAUDE_SKILL_DIR"/` + path.Dir(file) + " -p " + path.Base(file)
	case survey.Shell:
		return "exec sh " + full
	}
	return `command -v node >/dev/null 2>&1 || ` + missing("it needs node 22 or newer, which is not installed") + "; " +
		`[ "$(node -p 'parseInt(process.versions.node)')" -ge 22 ] || case ` + file + ` in *.ts|*.mts|*.tsx) ` + missing("it needs node 22 or newer: this node does not run TypeScript") + `;; esac; ` +
		"exec node --test " + full
}
