package script

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script/internal/envs"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/internal/places"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/want"
)

// Limits of a call.
const (
	MaxArgs       = 100            // arguments, without --json
	MaxArgBytes   = 4096           // of all arguments together, without separators and without --json
	DefaultOutput = 1 << 20        // bytes of stdout: more JSON is an error, more text is cut
	StderrTail    = output.MaxTail // bytes of stderr in a message
	grace         = 2 * time.Second
)

// DefaultTimeout is a script's time when Options.Timeout is 0, and the most that Help takes.
const DefaultTimeout = 60 * time.Second

// Options configures a Host. LookPath and Cache are required; the zero values of the others are useful.
type Options struct {
	Runner   runner.Runner                // executes all commands of the host; nil means runner.Exec
	LookPath func(string) (string, error) // finds interpreters and uv
	Env      []string                     // the operator's environment, as NAME=value; the package comment lists the variables that pass

	// Path is the PATH of scripts and of the programs that are asked for their version, without folders in which others choose
	// the programs; "" means /usr/local/bin:/usr/bin:/bin.
	Path string

	Cache string // absolute folder for environments, uv's cache and the skills' own caches
	Homes string // absolute folder for the private homes of skills, which Sweep never touches; "" means one in Cache
	Temp  string // absolute folder for work directories; "" means one in Cache

	// Conversation says where scripts keep temporary files with the other commands of a conversation: it is asked for each run. Nil means that
	// the host belongs to none. Then a skill's folder for temporary files is kept for KeepTemp after a run of it; 0 means that each run has
	// its own.
	Conversation func(context.Context) (*Conversation, error)
	KeepTemp     time.Duration

	// Hosts decides, for each run of a script, about hosts that it was not granted. Nil refuses them.
	Hosts HostsFunc

	// Place returns the root that stands for another one: the skills of both have the same homes and caches if their names are
	// the same. It is for roots that change with the content of a skill. Nil changes nothing.
	Place func(root string) string

	Workspace string // absolute folder that AGENT_WORKSPACE names; "" means none

	UserDir  string // absolute folder where the user stands; "" means that none is known
	Cwd      string // where a script starts, one of the constants CwdUser and so on; "" means CwdUser with a UserDir, else CwdScript
	FixedCwd bool   // Cwd holds also for a skill that asks for another with metadata.agent-base.cwd

	// Confine says whether scripts, and the programs that prepare for them, may run without a sandbox; "" means runner.ConfineAuto.
	// Runner is what confines them.
	Confine runner.Confinement
	Memory  uint64 // most bytes of memory of a script and its processes, in a sandbox; 0 means no limit
	Tasks   uint64 // most processes and threads of a script, in a sandbox; 0 means no limit
	Disk    uint64 // most bytes in the folders that are a script's own: work, temporary, home and cache together; 0 means no limit
	Files   uint64 // most files and folders in them; 0 means no limit

	// Private and Keep are absolute paths of files and folders in the folders that scripts may read or write, such as the
	// user's. Scripts do not see those in Private, and do not change those in Keep, unless they were granted by name.
	Private, Keep []string

	// Denied are the rules that say which files in the folders of a user scripts do not see and do not change.
	Denied runner.Denied

	JSON       JSONMode // of a run that does not say; "" means JSONAuto
	AlwaysHelp bool     // Help runs every script with --help, also one that does not show that it knows it

	Timeout        time.Duration // of a run, without preparing; 0 means DefaultTimeout
	MaxOutput      int64         // bytes of stdout; 0 means DefaultOutput
	MaxEnvironment int64         // bytes that a script's dependencies may add to the disk; 0 means 1 GiB

	// PackageHosts are further hosts that preparing packages may reach, besides those of the operator's package indexes and registries:
	// HOST, HOST:PORT or *.HOST; "all" means every host.
	PackageHosts []string

	NPMRC []byte // the operator's npmrc: which registries have npm packages

	// Granted returns what the user gave a skill's scripts. It is asked for each run, with the skill that runs. nil means only
	// the variables that the manifest names.
	Granted func(context.Context, *skill.Skill) (Grant, error)

	// Seen returns what the texts of a skill's scripts want, to explain why a run failed. Nil means that nobody knows.
	Seen func(context.Context, *skill.Skill) Seen

	PrepareTimeout time.Duration // to prepare a script's dependencies; 0 means 10 minutes
	FetchPython    bool          // uv may download a Python if none that is installed will do

	Progress func(string) // says what is done, again and again, if preparing takes more than a second; may be nil
	Trace    trace.Tracer // may be nil
}

// HostsFunc sets what Network has to decide about hosts during one run of a script: Denied, Ask and Waits. The function that it returns is
// called with what became of the run; it may be nil.
type HostsFunc func(ctx context.Context, s *skill.Skill, sc Script, args []string, n *runner.Network) (done func(*runner.Output))

// Host runs scripts of skills. New makes one.
type Host struct {
	o        Options
	envs     *envs.Store
	programs program.Asker
	helps    helps
	places   *places.Store

	bare    bool        // scripts run without a sandbox
	noLayer atomic.Bool // Runner has no private layers
}

// New returns a Host. It copies o. It returns an error if an option is missing or invalid.
func New(o *Options) (*Host, error) {
	if o == nil {
		o = &Options{}
	}
	switch {
	case !filepath.IsAbs(o.Cache):
		return nil, fmt.Errorf("script.Options: Cache must be an absolute path, not %q", o.Cache)
	case o.Homes != "" && !filepath.IsAbs(o.Homes):
		return nil, fmt.Errorf("script.Options: Homes must be an absolute path, not %q", o.Homes)
	case o.Temp != "" && !filepath.IsAbs(o.Temp):
		return nil, fmt.Errorf("script.Options: Temp must be an absolute path, not %q", o.Temp)
	case o.Workspace != "" && !filepath.IsAbs(o.Workspace):
		return nil, fmt.Errorf("script.Options: Workspace must be an absolute path, not %q", o.Workspace)
	case o.LookPath == nil:
		return nil, errors.New("script.Options: LookPath is missing: os/exec has one")
	case o.UserDir != "" && !filepath.IsAbs(o.UserDir):
		return nil, fmt.Errorf("script.Options: UserDir must be an absolute path, not %q", o.UserDir)
	case o.Cwd != "" && !slices.Contains(cwds, o.Cwd):
		return nil, fmt.Errorf("script.Options: Cwd is %q: it can be %s", o.Cwd, strings.Join(cwds, ", "))
	case o.Cwd == CwdWorkspace && o.Workspace == "":
		return nil, errors.New("script.Options: Cwd is workspace, but Workspace is missing")
	}
	if err := o.JSON.check(); err != nil {
		return nil, fmt.Errorf("script.Options: %w", err)
	}
	h := &Host{o: *o}
	if o.Cwd == "" && o.UserDir != "" {
		h.o.Cwd = CwdUser
	}
	h.o.Env = slices.Clone(o.Env)
	if h.o.Path == "" {
		h.o.Path = program.FixedPath
	} else { // programs that are asked find others by it too
		h.o.Env = append(slices.DeleteFunc(h.o.Env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }), "PATH="+o.Path)
	}
	h.o.Homes = filepath.Clean(cmp.Or(o.Homes, filepath.Join(o.Cache, "homes")))
	if h.o.Runner == nil {
		h.o.Runner = runner.Exec{}
	}
	_, h.bare = h.o.Runner.(runner.Exec)
	if h.o.Temp == "" {
		h.o.Temp = filepath.Join(h.o.Cache, "work")
	}
	if h.o.Timeout <= 0 {
		h.o.Timeout = DefaultTimeout
	}
	if h.o.Confine == "" {
		h.o.Confine = runner.ConfineAuto
	}
	if h.o.MaxOutput <= 0 {
		h.o.MaxOutput = DefaultOutput
	}
	h.bare = h.bare || h.o.Confine == runner.ConfineOff
	h.noLayer.Store(h.bare)
	for _, dir := range []*string{&h.o.Cache, &h.o.Homes, &h.o.Temp, &h.o.Workspace, &h.o.UserDir} {
		*dir = paths.Real(*dir)
	}
	h.places = places.New(&places.Options{Cache: h.o.Cache, Homes: h.o.Homes, Temp: h.o.Temp, UserHome: plan.UserHome(h.o.Env), Place: o.Place,
		Conversation: o.Conversation, KeepTemp: o.KeepTemp, Disk: o.Disk, Files: o.Files})
	h.helps.now = time.Now
	h.programs.Dir, h.programs.Env, h.programs.Run = filepath.Join(h.o.Cache, "programs"), h.o.Env, h.answer
	var err error
	h.envs, err = envs.New(&envs.Options{Runner: h.o.Runner, Guard: h.guard(), Confine: h.o.Confine, LookPath: o.LookPath, Env: h.o.Env, Cache: h.o.Cache, NPMRC: o.NPMRC,
		MaxBytes: o.MaxEnvironment, MaxTime: o.PrepareTimeout, FetchPython: o.FetchPython, Hosts: o.PackageHosts, Progress: o.Progress, Making: h.preparing})
	return h, err
}

// Admit decides, before anything of a skill runs, whether its content may run. It returns the skill to run: s itself, or a
// copy of it (see Host.Seal), which is closed after the run. Sweep removes nothing until then.
type Admit func(ctx context.Context, s *skill.Skill) (*skill.Skill, error)

// RunOptions says how a script is called.
type RunOptions struct {
	Args    []string
	JSON    JSONMode      // "" means the host's
	Timeout time.Duration // 0 means the host's
	Env     []string      // NAME=value to set for this run; each name must pass, by the manifest or a grant, else PermissionDenied
	Admit   Admit         // nil: the skill runs
	Denied  runner.Denied // further rules about files, such as those of active skills
	// Stdin is the standard input of the script; nil for an empty one. It is read while the script runs, and a Read that waits does not
	// hold Run up: it may return after Run.
	Stdin io.Reader
	// Out and Err get what the script writes to its standard output and standard error as it comes, without secrets. A Write that blocks
	// holds the script up. Nil means nobody.
	Out, Err io.Writer
}

// Result is the answer of a script: either JSON or text.
type Result struct {
	JSON     json.RawMessage // one compact document; nil for text
	Text     string          // valid UTF-8, without colours
	Warning  string          // that Text was truncated, and the Note of the grant
	Duration time.Duration
	Sandbox  runner.Sandbox // what confined the script; its Tier is "off" if nothing did

	// Wants has what a script that did not fail was kept from, as its output or the proxy shows. Warning says it.
	Wants want.Set
}

// CheckArgs checks the number and length of arguments and refuses NUL in them. It returns an *Error with code ArgsTooLarge,
// or with ExecutionFailed and ReasonArgument for NUL.
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

// Run executes the script and returns its output. A nil o means no arguments. The error is an *Error, or that of ctx if ctx
// is done. The skill must lie in a real folder; otherwise nothing runs and the error wraps skill.ErrNoFolder.
func (h *Host) Run(ctx context.Context, s *skill.Skill, sc Script, o *RunOptions) (*Result, error) {
	if o == nil {
		o = &RunOptions{}
	}
	ctx, ended := h.started(ctx, s, sc, "Executed "+sc.Name+" script")
	c := call{s: s, sc: sc, args: slices.Clone(o.Args), env: o.Env, timeout: h.timeout(s, o.Timeout), denied: o.Denied, input: newFeed(o.Stdin), out: o.Out, err: o.Err}
	defer c.input.end()
	res, err := h.run(ctx, &c, o)
	ended(err, c.facts...)
	return res, err
}

func (h *Host) run(ctx context.Context, c *call, o *RunOptions) (*Result, error) {
	if err := CheckArgs(o.Args); err != nil {
		return nil, err
	}
	mode := cmp.Or(o.JSON, h.o.JSON, JSONAuto)
	if err := mode.check(); err != nil {
		return nil, &Error{Code: ExecutionFailed, Reason: ReasonArgument, Err: err, Message: fmt.Sprintf("Script %s is not run: %v", c.sc.Name, err)}
	}
	c.stopAtMax = mode == JSONYes
	var out *runner.Output
	err := h.admitted(ctx, c, o.Admit, func() (err error) {
		c.addJSON(mode)
		out, err = h.call(ctx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return h.result(c, out, mode)
}

// admitted calls a function with the skill that admit returns. Sweep removes nothing meanwhile.
func (h *Host) admitted(ctx context.Context, c *call, admit Admit, work func() error) error {
	begun := time.Now()
	done, err := h.places.Use(ctx, c.timeout)
	if err != nil {
		return err
	}
	defer done()
	c.waited = time.Since(begun).Truncate(time.Second)
	h.looked(ctx, c)
	if admit == nil {
		return work()
	}
	s, err := admit(ctx, c.s)
	if err != nil {
		return err
	}
	if s != c.s {
		defer s.Close()
		c.s = s
	}
	return work()
}

// Seal copies the files that the skill's Digest covers to a read-only folder in Options.Cache and opens the copy. The copy
// keeps the approved content even if the skill is changed later. The caller must close the copy.
// Sweep may remove it, unless Seal is called by Admit. The error is that of ctx or an *Error, with ReasonChanged if the
// files of the skill have changed since its Digest was computed.
func (h *Host) Seal(ctx context.Context, s *skill.Skill) (*skill.Skill, error) {
	sealed, err := s.Seal(ctx, h.places.Sealed())
	switch {
	case errors.Is(err, skill.ErrChanged):
		return nil, &Error{Code: PermissionDenied, Reason: ReasonChanged, Err: err,
			Message: fmt.Sprintf("Skill '%s' has changed since it was loaded: its scripts are not run", s.Name())}
	case err != nil:
		return nil, fail.ToCopy(ctx, s.Name(), err)
	}
	return sealed, nil
}

// started traces the start of a script. It returns the context of the run and a function that traces its end. success is the
// message of a run that does not fail.
func (h *Host) started(ctx context.Context, s *skill.Skill, sc Script, success string, attrs ...slog.Attr) (context.Context, func(error, ...slog.Attr)) {
	begun := time.Now()
	ctx, span := trace.Begin(ctx, h.o.Trace, trace.Event{Kind: trace.ScriptRun, Skill: s.Canonical(), Script: sc.Name, Attrs: attrs})
	trace.Emit(ctx, h.o.Trace, trace.Event{Kind: trace.ScriptStarted, Level: slog.LevelDebug, Skill: s.Canonical(), Script: sc.Name, Attrs: attrs})
	return ctx, func(err error, more ...slog.Attr) {
		ev := trace.Event{Kind: trace.ScriptRun, Skill: s.Canonical(), Script: sc.Name, Duration: time.Since(begun), Message: success, Err: err,
			Attrs: append(slices.Clip(attrs), more...)}
		if err != nil {
			ev.Level, ev.Message = slog.LevelError, "Script "+sc.Name+" failed"
			var e *Error
			if errors.As(err, &e) {
				ev.Attrs = append(ev.Attrs, slog.String(trace.AttrCode, string(e.Code)))
			}
			if e != nil && e.Reason != "" {
				ev.Attrs = append(ev.Attrs, slog.String(trace.AttrReason, e.Reason))
			}
			if e != nil && e.Reason == ReasonSandbox {
				trace.Emit(ctx, h.o.Trace, trace.Event{Kind: trace.SandboxRefused, Level: slog.LevelWarn, Skill: ev.Skill, Script: sc.Name, Err: err})
			}
		}
		span.End(ev)
	}
}

// traceNetwork traces the hosts that a script reached and was refused.
func (h *Host) traceNetwork(ctx context.Context, c *call, out *runner.Output) {
	event := func(kind trace.Kind, host string) {
		trace.Emit(ctx, h.o.Trace, trace.Event{Kind: kind, Level: slog.LevelDebug, Skill: c.s.Canonical(), Script: c.sc.Name,
			Attrs: []slog.Attr{slog.String(trace.AttrHost, host)}})
	}
	for _, host := range out.Reached {
		event(trace.NetworkAllowed, host)
	}
	for _, r := range out.Refused {
		event(trace.NetworkRefused, r.Host)
	}
}

// preparing traces the beginning of the preparation of a script's dependencies and returns a function that traces its end.
func (h *Host) preparing(ctx context.Context, s *skill.Skill, sc Script) func(error) {
	begun := time.Now()
	trace.Emit(ctx, h.o.Trace, trace.Event{Kind: trace.ScriptPreparing, Level: slog.LevelDebug, Skill: s.Canonical(), Script: sc.Name})
	return func(err error) {
		ev := trace.Event{Kind: trace.ScriptPrepared, Skill: s.Canonical(), Script: sc.Name, Duration: time.Since(begun),
			Message: "Prepared dependencies of " + sc.Name, Err: err}
		if err != nil {
			ev.Level, ev.Message = slog.LevelError, "Preparing dependencies of "+sc.Name+" failed"
		}
		trace.Emit(ctx, h.o.Trace, ev)
	}
}

// timeout returns the time of a run: the caller's, else what the manifest requests, else the host's.
func (h *Host) timeout(s *skill.Skill, own time.Duration) time.Duration {
	return cmp.Or(max(own, 0), s.Manifest().Permissions.Limits.Timeout, h.o.Timeout)
}

// maxOutput returns how much output of a skill's scripts is kept: what the manifest requests, else the host's.
func (h *Host) maxOutput(s *skill.Skill) int64 {
	return cmp.Or(s.Manifest().Permissions.Limits.Output, h.o.MaxOutput)
}

// request sets the limits that a manifest requests.
func request(l *runner.Limits, wanted *manifest.Limits) {
	l.Memory = cmp.Or(uint64(wanted.Memory), l.Memory)
	l.Processes = cmp.Or(uint64(wanted.Processes), l.Processes)
}

// commands are the programs that a skill's scripts start: those that it requires, and those that its permissions name.
func commands(m *manifest.Manifest) []string {
	return slices.Concat(m.Requires, m.Permissions.Asked.Named(want.Command))
}
