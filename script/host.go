package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// Limits of a call (R103, C30, security 1.2).
const (
	MaxArgs       = 100     // arguments, without --json
	MaxArgBytes   = 4096    // of all arguments together, without separators and without --json
	DefaultOutput = 1 << 20 // bytes of stdout: more JSON is an error, more text is cut
	StderrTail    = 500     // bytes of stderr in a message
	grace         = 2 * time.Second
)

// DefaultTimeout is a script's time when nothing else is said (C27), and the most that Help waits (R100).
const DefaultTimeout = 60 * time.Second

// Host runs scripts of skills. LookPath and Cache are needed; the rest has useful zero values. Fill it
// in before its first use and do not copy it afterwards. One that lacks what is needed, or has a folder
// that is not absolute, refuses every call with an *Error before anything is made.
type Host struct {
	Runner   Runner                       // executes scripts, what prepares their dependencies, and interpreters asked for their version; nil means Exec
	LookPath func(string) (string, error) // finds interpreters and uv
	Env      []string                     // the operator's environment, NAME=value: the package comment says what of it passes

	Cache     string // absolute folder for environments, uv's cache and the skills' own caches
	Temp      string // absolute folder for work directories; "" means one in Cache
	Workspace string // absolute folder that AGENT_WORKSPACE names; "" means none
	Cwd       string // where a script starts: "script" (its own folder, the default), "skill" or "workspace" (C28)

	Timeout   time.Duration // of a run, without preparing; 0 means DefaultTimeout
	MaxOutput int64         // bytes of stdout; 0 means DefaultOutput

	Progress func(string) // told once what takes more than a second to prepare; may be nil
	Trace    trace.Tracer // may be nil

	prepareCaps caps          // of an environment; zero means the defaults
	patience    time.Duration // until Progress is told; 0 means a second

	once sync.Once // sweeps work directories of runs that were killed
	mu   sync.Mutex
	told map[string]string // what interpreters said about themselves
}

// RunOptions says how a script is called.
type RunOptions struct {
	Args    []string
	Text    bool          // do not add --json, return text
	Timeout time.Duration // 0 means the host's
	Env     []string      // NAME=value to set for this run; each name must be in the manifest's permissions.env, else PermissionDenied
}

// Result is what a script answered.
type Result struct {
	JSON     json.RawMessage // one compact document, unless Text was asked for
	Text     string
	Warning  string // that Text was truncated
	Duration time.Duration
}

// HelpText is what a script says about itself.
type HelpText struct {
	Text  string // the whole help
	Usage string // its usage paragraph alone, "" when it has none (C35)
}

// CheckArgs refuses too many arguments, too long ones and such with NUL (R103, C30). The error is an
// *Error with code ArgsTooLarge, or ExecutionFailed and ReasonArgument for NUL (R102).
func CheckArgs(args []string) error {
	if len(args) > MaxArgs {
		return &Error{Code: ArgsTooLarge, Message: fmt.Sprintf("Too many arguments: %d (max %d)", len(args), MaxArgs)}
	}
	total := 0
	for i, a := range args {
		total += len(a)
		if strings.ContainsRune(a, 0) {
			return &Error{Code: ExecutionFailed, Reason: ReasonArgument,
				Message: fmt.Sprintf("Argument %d holds a NUL character, which no program can be given: leave it out", i+1)}
		}
	}
	if total > MaxArgBytes {
		return &Error{Code: ArgsTooLarge, Message: fmt.Sprintf("Arguments too large: %d bytes (max %d)", total, MaxArgBytes)}
	}
	return nil
}

// Run executes the script and returns what it printed: one JSON document, or text when o says so. A nil
// o means no arguments. The skill needs a real folder: in one that has none nothing can run, and the
// error wraps skill.ErrNoFolder. The error is an *Error, or ctx's own when that has ended.
func (h *Host) Run(ctx context.Context, s *skill.Skill, sc Script, o *RunOptions) (*Result, error) {
	if o == nil {
		o = &RunOptions{}
	}
	start := time.Now()
	res, err := h.run(ctx, s, sc, o)
	h.emit(ctx, s, sc, trace.Event{Kind: trace.ScriptRun, Duration: time.Since(start), Message: "Executed " + sc.Name + " script", Err: err})
	return res, err
}

func (h *Host) run(ctx context.Context, s *skill.Skill, sc Script, o *RunOptions) (*Result, error) {
	if err := CheckArgs(o.Args); err != nil {
		return nil, err
	}
	c := call{s: s, sc: sc, args: slices.Clone(o.Args), env: o.Env, timeout: o.Timeout, stopAtMax: !o.Text}
	if !o.Text && !slices.Contains(o.Args, "--json") {
		c.args = append(c.args, "--json")
	}
	out, err := h.call(ctx, &c)
	if err != nil {
		return nil, err
	}
	res := &Result{Duration: out.Duration}
	if o.Text {
		res.Text = text(out.Stdout)
		if out.Truncated {
			res.Warning = fmt.Sprintf("output truncated at %d bytes, %d were dropped", h.maxOutput(), out.Total-int64(len(out.Stdout)))
		}
		return res, nil
	}
	res.JSON, err = answer(out, h.maxOutput())
	return res, err
}

// Help runs the script with --help, for at most a minute. It needs what Run needs. The error is an *Error, or ctx's own
// when that has ended.
func (h *Host) Help(ctx context.Context, s *skill.Skill, sc Script) (*HelpText, error) {
	start := time.Now()
	c := call{s: s, sc: sc, args: []string{"--help"}, timeout: min(h.timeout(0), DefaultTimeout)}
	out, err := h.call(ctx, &c)
	h.emit(ctx, s, sc, trace.Event{Kind: trace.ScriptRun, Duration: time.Since(start), Message: "Retrieved help for " + sc.Name,
		Err: err, Attrs: []slog.Attr{slog.Bool("help", true)}})
	if err != nil {
		return nil, err
	}
	t := text(out.Stdout)
	if strings.TrimSpace(t) == "" {
		t = text(out.Stderr)
	}
	return &HelpText{Text: t, Usage: usage(t)}, nil
}

// check refuses a Host that is not filled in: a folder that is not absolute would be made wherever the program happens
// to be.
func (h *Host) check() error {
	if err := h.checkCache(); err != nil {
		return err
	}
	switch {
	case h.Temp != "" && !filepath.IsAbs(h.Temp):
		return notFilledIn("Temp must be an absolute path, not %q", h.Temp)
	case h.Workspace != "" && !filepath.IsAbs(h.Workspace):
		return notFilledIn("Workspace must be an absolute path, not %q", h.Workspace)
	case h.LookPath == nil:
		return notFilledIn("LookPath is missing: os/exec has one")
	}
	return nil
}

func (h *Host) checkCache() error {
	if !filepath.IsAbs(h.Cache) {
		return notFilledIn("Cache must be an absolute path, not %q", h.Cache)
	}
	return nil
}

func notFilledIn(format string, args ...any) error {
	return &Error{Code: ExecutionFailed, Message: fmt.Sprintf("script.Host: "+format, args...)}
}

func (h *Host) emit(ctx context.Context, s *skill.Skill, sc Script, ev trace.Event) {
	ev.Skill, ev.Script = s.Canonical(), sc.Name
	if ev.Err != nil {
		ev.Level, ev.Message = slog.LevelError, "Script "+sc.Name+" failed"
		var e *Error
		if errors.As(ev.Err, &e) {
			ev.Attrs = append(ev.Attrs, slog.String("code", string(e.Code)))
		}
	}
	trace.Emit(ctx, h.Trace, ev)
}

func (h *Host) maxOutput() int64 {
	if h.MaxOutput > 0 {
		return h.MaxOutput
	}
	return DefaultOutput
}

func (h *Host) timeout(own time.Duration) time.Duration {
	switch {
	case own > 0:
		return own
	case h.Timeout > 0:
		return h.Timeout
	}
	return DefaultTimeout
}

func (h *Host) runner() Runner {
	if h.Runner != nil {
		return h.Runner
	}
	return Exec{}
}
