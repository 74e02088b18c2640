// Package scanner scans skills: for what they could do, for dangers, and for what the organisation admits.
package scanner

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/sandbox"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skill/scan/rule"
)

// Scanner says what skills could do, and which of it is a danger.
type Scanner struct {
	sys      *setup.System
	settings *setup.Settings
	sandbox  *sandbox.Sandbox
	glances  sync.Map      // from the digest of a content to what its scripts want
	Most     time.Duration // of a scan that somebody waits for; 0 means scanTime
}

// Judge is what findings are made by.
type Judge struct {
	scanner  *Scanner
	rules    *rule.Set
	accepted []rule.Acceptance
	python   func(context.Context, string, []byte) ([]byte, error) // scan.Options.Python, nil without one
}

// Judge returns a judge with the rules of the engine and those of further files.
func (c *Scanner) Judge(files ...string) (*Judge, error) {
	set := rule.Builtin()
	for _, name := range files {
		text, err := lockfile.Read(c.sys.Abs(name), rule.MaxFile)
		if err != nil {
			return nil, err
		}
		if set, err = set.With(text, name); err != nil {
			return nil, failure.Usage(err, "docs/scan.md says what a rule is")
		}
	}
	j := &Judge{scanner: c, rules: set, python: c.python()}
	return j, j.heed(c.settings.Config().Paths.Accepted(), "you")
}

// HeedProject also heeds the acceptances of the project, which are not the user's own: for whoever only looks, and where the project
// decides for itself.
func (j *Judge) HeedProject() error {
	return j.heed(j.scanner.settings.Config().Paths.ProjectAccepted(), "the project")
}

// heed reads a file of acceptances, if there is one.
func (j *Judge) heed(name, by string) error {
	if name == "" {
		return nil
	}
	text, err := lockfile.Read(name, maxAccepted)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	list, err := rule.Acceptances(text, name, by)
	if err != nil {
		return failure.Usage(err, "correct the file; until then nothing is accepted")
	}
	j.accepted = append(j.accepted, list...)
	return nil
}

// maxAccepted is the most bytes of a file of acceptances.
const maxAccepted = 4 << 20

// Accept writes acceptances to the user's file or to that of the project, and returns its path.
func (c *Scanner) Accept(ctx context.Context, project bool, list []rule.Acceptance) (string, error) {
	name := c.settings.Config().Paths.Accepted()
	if project {
		name = c.settings.Config().Paths.ProjectAccepted()
	}
	if name == "" {
		return "", failure.Usage(errors.New("there is no folder for acceptances"), "set HOME")
	}
	return name, (&lockfile.File{Path: name, Max: maxAccepted, Mode: 0o644, Private: !project, Check: func(text []byte) error {
		_, err := rule.Acceptances(text, name, "")
		return err
	}}).Edit(ctx, func(old []byte) ([]byte, error) {
		if len(bytes.TrimSpace(old)) == 0 {
			old = []byte("# Findings of agent skill scan that a person accepts. Each holds for one content of one file.\naccepted:\n")
		}
		out := append(bytes.TrimRight(old, "\n"), '\n')
		for i := range list {
			out = append(out, list[i].Text()...)
		}
		return out, nil
	})
}

// Rules returns the rules.
func (j *Judge) Rules() *rule.Set { return j.rules }

// Scan reads a skill and judges it. It starts nothing of the skill.
func (j *Judge) Scan(ctx context.Context, fsys fs.FS) (*scan.Report, error) {
	r, err := scan.Scan(ctx, fsys, &scan.Options{Python: j.python})
	if err != nil {
		return nil, err
	}
	r.Files, r.Facts, r.Findings = append([]scan.File{}, r.Files...), append([]scan.Fact{}, r.Facts...), append([]scan.Finding{}, j.rules.Judge(r)...) // lists in JSON
	return r, nil
}

// scanTime is how long the scan of one skill takes at most, where somebody waits for the answer.
const scanTime = 2 * time.Minute

// Within is Scan of the files that belong to a skill, which ends with an error when it takes too long.
func (j *Judge) Within(ctx context.Context, s *skill.Skill) (*scan.Report, error) {
	limited, cancel := context.WithTimeout(ctx, j.scanner.Limit())
	defer cancel()
	r, err := j.Scan(limited, s.FS())
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = failure.Denied(fmt.Errorf("skill %q is refused: its scan took more than %s", s.Canonical(), j.scanner.Limit()), "agent skill scan has no such limit; a skill without large data is scanned sooner")
	}
	return r, err
}

// Limit returns how long a scan takes at most that somebody waits for.
func (c *Scanner) Limit() time.Duration { return cmp.Or(c.Most, scanTime) }

// Accept notes which findings are accepted, and returns what it found of acceptances that have expired, a line each.
func (j *Judge) Accept(r *scan.Report) (expired []string) {
	return rule.Accept(r.Findings, j.accepted, j.scanner.sys.Now())
}

// Worst returns the worst severity among findings that nobody accepts, "" if there are none.
func Worst(findings []scan.Finding) scan.Severity {
	var worst scan.Severity
	for i := range findings {
		if findings[i].Accepted == "" && findings[i].Severity.Worse(worst) > 0 {
			worst = findings[i].Severity
		}
	}
	return worst
}

// Bounds of the Python that reads programs.
const (
	readTime   = time.Minute
	keepTime   = 24 * time.Hour // of a process that reads one skill after another
	readOutput = 64 << 20       // bytes
	readMemory = 2 << 30        // bytes
	maxLost    = 20             // processes that may end while they read, of those that are kept: each skill may end a few
)

// python returns what starts the user's Python for a scan, nil where there is none.
func (c *Scanner) python() func(context.Context, string, []byte) ([]byte, error) {
	path, err := c.settings.FindTool("python3")
	if err != nil {
		return nil
	}
	return c.pythonAt(path)
}

// pythonAt returns what starts a Python for one scan.
func (c *Scanner) pythonAt(path string) func(context.Context, string, []byte) ([]byte, error) {
	return func(ctx context.Context, program string, input []byte) ([]byte, error) {
		p := c.pythons(path)
		defer p.close()
		return p.read(ctx, program, input)
	}
}

// pythons returns what keeps the processes of a Python: in the sandbox, with no files, no network and no variables.
func (c *Scanner) pythons(path string) *pythons {
	return &pythons{run: func(ctx context.Context, program string, in io.ReadCloser, out io.WriteCloser) error {
		run, err := c.sandbox.Runner()
		if err != nil {
			return err
		}
		reach := &runner.Reach{Guard: runner.Guard{Home: c.sys.Home, Private: c.settings.Private()}, Programs: []string{path},
			Confine: runner.Confinement(c.settings.Config().Sandbox), Limits: runner.Limits{Memory: readMemory}}
		cmd, err := reach.Command(runner.Command{Path: path, Args: []string{path, "-I", "-S", "-B", "-c", program}, Dir: c.sys.Temp,
			In: in, Out: out, Timeout: keepTime})
		if err != nil {
			return err
		}
		switch did, err := run.Run(ctx, cmd); {
		case err != nil:
			return err
		case did.ExitCode != 0:
			return errors.New(string(bytes.TrimSpace(did.Stderr)))
		}
		return nil
	}}
}

// Keep has the judge keep its Python from one scan to the next. The function that it returns ends that.
func (j *Judge) Keep() func() {
	path, err := j.scanner.settings.FindTool("python3")
	if err != nil {
		return func() {}
	}
	p := j.scanner.pythons(path)
	j.python = p.read
	return p.close
}

// New returns the scanner of a run.
func New(sys *setup.System, settings *setup.Settings, sandbox *sandbox.Sandbox) *Scanner {
	return &Scanner{sys: sys, settings: settings, sandbox: sandbox}
}
