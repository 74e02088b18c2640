package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// Limits of a call (R103, C30, security 1.2).
const (
	MaxArgs       = 100
	MaxArgBytes   = 4096
	StderrTail    = 500
	DefaultOutput = 1 << 20
	grace         = 2 * time.Second
)

// DefaultTimeout is a script's time when nothing else is said (C27).
const DefaultTimeout = 60 * time.Second

// Host runs scripts. LookPath and Cache are needed.
type Host struct {
	Runner    Runner                       // nil means Exec
	LookPath  func(string) (string, error) // finds interpreters
	Env       []string                     // the operator's environment: what may pass is taken from it
	Cache     string                       // absolute folder for environments and skills' caches
	Temp      string                       // absolute folder for work directories; "" means Cache
	Workspace string                       // AGENT_WORKSPACE
	Cwd       string                       // "script" (default), "skill" or "workspace" (C28)
	Timeout   time.Duration                // default 60 s
	MaxOutput int64                        // default 1 MiB
	Progress  func(string)                 // told what takes more than a second; may be nil
	Trace     trace.Tracer
}

// RunOptions says how a script is called.
type RunOptions struct {
	Args    []string
	Text    bool          // do not add --json, return text
	Timeout time.Duration // 0 means the host's
}

// Result is what a script answered.
type Result struct {
	JSON     json.RawMessage // one compact document, unless Text was asked for
	Text     string
	Warning  string
	Duration time.Duration
}

// HelpText is what a script says about itself.
type HelpText struct{ Text, Usage string }

// CheckArgs refuses too many arguments, too long ones and such with a NUL. The error is an *Error.
func CheckArgs(args []string) error {
	if len(args) > MaxArgs {
		return &Error{Code: ArgsTooLarge, Message: fmt.Sprintf("Too many arguments: %d (max %d)", len(args), MaxArgs)}
	}
	total := 0
	for i, a := range args {
		total += len(a)
		if strings.ContainsRune(a, 0) {
			return &Error{Code: ArgsTooLarge, Reason: "invalid_argument", Message: fmt.Sprintf("Argument %d contains a NUL character", i+1)}
		}
	}
	if total > MaxArgBytes {
		return &Error{Code: ArgsTooLarge, Message: fmt.Sprintf("Arguments too large: %d bytes (max %d)", total, MaxArgBytes)}
	}
	return nil
}

// Help runs the script with --help. The error is an *Error or ctx's.
func (h *Host) Help(ctx context.Context, s *skill.Skill, sc Script) (*HelpText, error) {
	out, err := h.call(ctx, s, sc, &RunOptions{Args: []string{"--help"}, Text: true})
	if err != nil {
		return nil, err
	}
	t := text(out.Stdout)
	return &HelpText{Text: t, Usage: usage(t)}, nil
}

// usage is the paragraph that begins with "usage:" (C35).
func usage(help string) string {
	for p := range strings.SplitSeq(help, "\n\n") {
		p = strings.Trim(p, "\n")
		if strings.HasPrefix(strings.ToLower(strings.TrimSpace(p)), "usage:") {
			return p
		}
	}
	return ""
}

// Run executes the script. The error is an *Error or ctx's.
func (h *Host) Run(ctx context.Context, s *skill.Skill, sc Script, o *RunOptions) (*Result, error) {
	if err := CheckArgs(o.Args); err != nil {
		return nil, err
	}
	start := time.Now()
	res, err := h.run(ctx, s, sc, o)
	ev := trace.Event{Kind: trace.ScriptRun, Skill: s.Canonical(), Script: sc.Name, Duration: time.Since(start), Message: "Executed " + sc.Name + " script"}
	if err != nil {
		ev.Level, ev.Err, ev.Message = slog.LevelError, err, "Script "+sc.Name+" failed"
	}
	trace.Emit(ctx, h.Trace, ev)
	return res, err
}

func (h *Host) run(ctx context.Context, s *skill.Skill, sc Script, o *RunOptions) (*Result, error) {
	out, err := h.call(ctx, s, sc, o)
	if err != nil {
		return nil, err
	}
	res := &Result{Duration: out.Duration}
	if o.Text {
		res.Text = text(out.Stdout)
		if out.Truncated {
			res.Warning = fmt.Sprintf("output truncated at %d bytes", h.maxOutput())
		}
		return res, nil
	}
	var compact bytes.Buffer
	if out.Truncated {
		return nil, &Error{Code: ParseError, Stdout: nil, Message: fmt.Sprintf("Expected JSON output, but it was truncated at %d bytes%s", h.maxOutput(), stderrTail(out))}
	}
	if err := json.Compact(&compact, out.Stdout); err != nil {
		return nil, &Error{Code: ParseError, Err: err, Message: fmt.Sprintf("Expected JSON output, got: %s%s", firstRunes(text(out.Stdout), 200), stderrTail(out))}
	}
	res.JSON = compact.Bytes()
	return res, nil
}

func (h *Host) maxOutput() int64 {
	if h.MaxOutput > 0 {
		return h.MaxOutput
	}
	return DefaultOutput
}

func (h *Host) timeout(o *RunOptions) time.Duration {
	switch {
	case o.Timeout > 0:
		return o.Timeout
	case h.Timeout > 0:
		return h.Timeout
	}
	return DefaultTimeout
}

// call prepares the command, runs it and turns its failures into errors.
func (h *Host) call(ctx context.Context, s *skill.Skill, sc Script, o *RunOptions) (*Output, error) {
	c, done, err := h.command(ctx, s, sc)
	if err != nil {
		return nil, err
	}
	defer done()
	c.Args = append(c.Args, o.Args...)
	if !o.Text && !contains(o.Args, "--json") {
		c.Args = append(c.Args, "--json")
	}
	c.Timeout, c.Grace, c.MaxStdout, c.StopAtMax = h.timeout(o), grace, h.maxOutput(), !o.Text
	c.Limits = Limits{FileSize: 256 << 20, OpenFiles: 1024, CPU: c.Timeout + 5*time.Second}
	runner := h.Runner
	if runner == nil {
		runner = Exec{}
	}
	out, err := runner.Run(ctx, c)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, startError(sc, c, err)
	case out.TimedOut:
		return nil, &Error{Code: Timeout, Stdout: said(out), Message: fmt.Sprintf("Script timed out after %s%s", seconds(c.Timeout), stderrTail(out))}
	case out.Stopped:
		return out, nil
	case out.ExitCode != 0:
		return nil, &Error{Code: ExecutionFailed, Stdout: said(out), Message: fmt.Sprintf("Script failed with exit code %d%s", out.ExitCode, failureTail(out))}
	}
	return out, nil
}

func startError(sc Script, c *Command, err error) error {
	e := &Error{Code: ExecutionFailed, Err: err, Message: fmt.Sprintf("Script %s cannot be started with %q: %v", sc.Name, c.Path, err)}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		e.Reason = "interpreter_missing"
	}
	return e
}

// command is what runs the script, in a work directory of its own that done removes.
func (h *Host) command(ctx context.Context, s *skill.Skill, sc Script) (c *Command, done func(), err error) {
	dir, err := s.Dir()
	if err != nil {
		return nil, nil, &Error{Code: ExecutionFailed, Err: err, Message: fmt.Sprintf("Skill '%s' has no folder to run scripts in: %v", s.Name(), err)}
	}
	file := filepath.Join(dir, filepath.FromSlash(sc.File))
	argv, err := h.interpreter(ctx, s, sc, file)
	if err != nil {
		return nil, nil, err
	}
	temp := h.Temp
	if temp == "" {
		temp = filepath.Join(h.Cache, "work")
	}
	cache := filepath.Join(h.Cache, "skill-cache", s.Canonical())
	for _, d := range []string{temp, cache} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, nil, &Error{Code: ExecutionFailed, Err: err, Message: fmt.Sprintf("No work directory: %v", err)}
		}
	}
	work, err := os.MkdirTemp(temp, "run-")
	if err != nil {
		return nil, nil, &Error{Code: ExecutionFailed, Err: err, Message: fmt.Sprintf("No work directory: %v", err)}
	}
	for _, d := range []string{"home", "tmp"} {
		if err := os.Mkdir(filepath.Join(work, d), 0o700); err != nil {
			return nil, nil, &Error{Code: ExecutionFailed, Err: err, Message: fmt.Sprintf("No work directory: %v", err)}
		}
	}
	c = &Command{Path: argv[0], Args: argv, Dir: h.cwd(dir, file)}
	c.Env = environment(h.Env, s.Manifest().Permissions.Env, map[string]string{
		"HOME": filepath.Join(work, "home"), "TMPDIR": filepath.Join(work, "tmp"),
		"AGENT_SKILL_DIR": dir, "AGENT_SKILL_NAME": s.Canonical(), "AGENT_WORKSPACE": h.Workspace,
		"AGENT_SKILL_WORK_DIR": work, "AGENT_SKILL_CACHE_DIR": cache,
	})
	return c, func() { _ = os.RemoveAll(work) }, nil
}

func (h *Host) cwd(dir, file string) string {
	switch h.Cwd {
	case "skill":
		return dir
	case "workspace":
		return h.Workspace
	}
	return filepath.Dir(file)
}

func said(out *Output) []byte {
	if len(bytes.TrimSpace(out.Stdout)) == 0 {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, out.Stdout) == nil {
		return b.Bytes()
	}
	return out.Stdout[:min(len(out.Stdout), 4096)]
}

func stderrTail(out *Output) string {
	if len(out.Stderr) == 0 {
		return ""
	}
	return "\nstderr: " + lastBytes(out.Stderr)
}

// failureTail shows stdout where stderr says nothing.
func failureTail(out *Output) string {
	if len(bytes.TrimSpace(out.Stderr)) == 0 && len(bytes.TrimSpace(out.Stdout)) > 0 {
		return "\nstdout: " + lastBytes(out.Stdout)
	}
	return stderrTail(out)
}

func lastBytes(b []byte) string { return strings.TrimRight(text(b[max(0, len(b)-StderrTail):]), "\n") }

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func text(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }

func seconds(d time.Duration) string { return fmt.Sprintf("%gs", d.Seconds()) }

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}
