package trial

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script"
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
var testFile = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)

// testFiles returns the slash paths of a skill's own tests, sorted: test_*.py, *_test.py, *.test.ts and the like, *_test.sh, at its top and in
// folders such as scripts/ and tests/.
func (r *run) testFiles() []string {
	out := files(r.s.FS(), ".", func(name string) bool {
		top, _, below := strings.Cut(name, "/")
		if !below {
			top = "."
		}
		switch {
		case !slices.Contains(testFolders, top) || !isTest(path.Base(name)):
			return false
		case top == "tests" || top == "test":
			return true
		}
		return r.tested(name)
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

// tested reports whether a file that has the name of a test has tests, and is not a script that tests something for its user, as
// scripts/test_connection.py may.
func (r *run) tested(name string) bool {
	switch survey.LanguageOf(name) {
	case survey.Shell:
		return !strings.HasPrefix(path.Base(name), "test_")
	case survey.Python:
		text, err := r.s.ReadFile(name)
		return err != nil || imported().Match(text) || !survey.KnowsHelp(survey.Python, text) && functions().Match(text)
	}
	return true
}

// imported finds what only a test of Python imports, and functions what such a file defines.
var (
	imported  = lazyregexp.New(`(?m)^(?:import|from) (?:unittest|pytest)\b`)
	functions = lazyregexp.New(`(?m)^\s*(?:async )?def test`)
)

// shebang finds the shell that a test is written for.
var shebang = lazyregexp.New(`^#![^\n]*\b(bash|zsh|ksh|dash)\b`)

// shellOf returns the program that runs a shell script.
func (r *run) shellOf(name string) string {
	text, _ := r.s.ReadFile(name) // what cannot be read fails when it runs
	if m := shebang().FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return "sh"
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
	case !testFile().MatchString(c.File):
		c.Status, c.Message, c.Cure = Skipped, "its name cannot be called", "use letters, digits, '-', '_' and '.'"
		return
	}
	r.at = c.Name
	code, said, err := r.perform(ctx, c)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.failure(c, err)
	case code == unavailable:
		c.Status, c.Message = Skipped, first(said)
	case code != 0 && r.beside(said) != "":
		c.Status, c.Message = Skipped, r.beside(said)+" is outside the skill: the sandbox does not show it, and whoever installs the skill does not have it"
		c.Cure = "copy what the test needs into the skill, or grant the skill this path"
	case code != 0 && !nothingRan().MatchString(said):
		c.Status, c.Message = Failed, fmt.Sprintf("exit code %d: %s", code, tail(said, 1500))
	case nothingRan().MatchString(said):
		c.Status, c.Message, c.Cure = Failed, "it has no test that runs", "name the methods of a unittest.TestCase, or functions, test_…"
	default:
		c.Message = counted(said)
	}
}

// perform runs a test and returns its exit code and what it printed.
func (r *run) perform(ctx context.Context, c *Case) (code int, said string, err error) {
	if survey.LanguageOf(c.File) == survey.Shell {
		out, err := r.o.Bench.RunHook(ctx, r.s, &script.HookOptions{Timeout: testTime, Admit: r.o.Admit,
			Hook: manifest.Hook{Event: "test " + c.File, Command: "exec " + r.shellOf(c.File) + ` "$CLAUDE_SKILL_DIR"/` + c.File}})
		if err != nil {
			return 0, "", err
		}
		c.Duration, r.report.Sandbox = out.Duration, &out.Sandbox
		return out.ExitCode, strings.TrimSpace(string(out.Stdout) + "\n" + string(out.Stderr)), nil
	}
	program, err := r.runner(c.File)
	if err != nil {
		return 0, "", err
	}
	stdout := &bounded{}
	out, err := r.o.Bench.Serve(ctx, r.s, &script.ServeOptions{Name: "test " + c.File, Files: []string{c.File}, Program: program, Out: stdout, Life: testTime, Admit: r.o.Admit,
		Fill: func(dir string, _ func(string) (string, bool)) ([]string, map[string]string, error) {
			return []string{dir, c.File}, nil, nil
		}})
	if out == nil {
		return 0, "", err
	}
	c.Duration, r.report.Sandbox = out.Duration, &out.Sandbox
	said = strings.TrimSpace(stdout.String() + "\n" + string(out.Stderr) + "\n" + out.Limit)
	if out.ExitCode == 0 && (out.Limit != "" || out.Signal != "") {
		return 1, said, err
	}
	return out.ExitCode, said, err
}

// missingPath finds a path in a line that says that something is not there.
var missingPath = lazyregexp.New(`(?mi)^.*(?:no such file|not found|does not exist|cannot find|can't open).*$`)

// pathText finds an absolute path.
var pathText = lazyregexp.New(`(?:/[\w.+@-]+){2,}`)

// beside returns a path outside the skill that what a test printed calls missing although it is there: in the folder that has the
// skill's, or in one above that is no top folder of the machine. It returns "" if there is none.
func (r *run) beside(said string) string {
	dir := dirOf(r.s.Entry().Where())
	for _, line := range missingPath().FindAllString(said, 10) {
		for _, at := range pathText().FindAllString(line, 10) {
			shared := dir
			for shared != filepath.Dir(shared) && !strings.HasPrefix(at, shared+"/") {
				shared = filepath.Dir(shared)
			}
			if shared == dir || strings.Count(shared, "/") < 2 {
				continue
			}
			if _, err := os.Stat(at); err == nil {
				return at
			}
		}
	}
	return ""
}

//go:embed runners
var runners embed.FS

// runner returns the path of the program that runs a test. The folder of the programs is made for the first.
func (r *run) runner(file string) (string, error) {
	name := "node.mjs"
	if survey.LanguageOf(file) == survey.Python {
		name = "python.py"
	}
	if r.programs == "" {
		dir, err := os.MkdirTemp(r.o.Temp, "agent-runner-")
		if err != nil {
			return "", err
		}
		r.programs = dir
	}
	text, err := runners.ReadFile("runners/" + name)
	if err != nil {
		return "", err
	}
	program := filepath.Join(r.programs, name)
	return program, os.WriteFile(program, text, 0o600)
}

// maxSaid is how much of the end of the standard output of a test is kept, in bytes.
const maxSaid = 64 << 10

// bounded keeps the end of what is written.
type bounded struct {
	mu   sync.Mutex
	text []byte
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	if over := len(b.text) - maxSaid; over > 0 {
		b.text = append(b.text[:0], b.text[over:]...)
	}
	return len(p), nil
}

// Close does nothing: the text is read when the program has ended.
func (b *bounded) Close() error { return nil }

func (b *bounded) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

// unavailable is the exit code of a runner for a test that cannot be run here.
const unavailable = 77

// nothingRan finds what a program says that ran no test.
var nothingRan = lazyregexp.New(`(?m)^Ran 0 tests in |no tests ran in `)

// ran finds how many tests a program says that it ran.
var ran = lazyregexp.New(`Ran (\d+) tests? in|(\d+) passed|# pass (\d+)|ℹ pass (\d+)`)

// counted returns how many tests a program says that it ran.
func counted(said string) string {
	m := ran().FindStringSubmatch(said)
	for _, n := range m[min(1, len(m)):] {
		if n != "" {
			count, _ := strconv.Atoi(n) // it has digits only
			return plural(count, "test")
		}
	}
	return ""
}
