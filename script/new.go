package script

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script/internal/envs"
	"github.com/agent-base/agent-base/script/internal/interpreter"
	"github.com/agent-base/agent-base/script/internal/places"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/internal/run"
	"github.com/agent-base/agent-base/script/runner"
)

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
	case o.Workspace != "" && !filepath.IsAbs(o.Workspace):
		return nil, fmt.Errorf("script.Options: Workspace must be an absolute path, not %q", o.Workspace)
	case o.LookPath == nil:
		return nil, errors.New("script.Options: LookPath is missing: os/exec has one")
	case o.UserDir != "" && !filepath.IsAbs(o.UserDir):
		return nil, fmt.Errorf("script.Options: UserDir must be an absolute path, not %q", o.UserDir)
	case o.Cwd != "" && !slices.Contains(plan.Cwds(), o.Cwd):
		return nil, fmt.Errorf("script.Options: Cwd is %q: it can be %s", o.Cwd, strings.Join(plan.Cwds(), ", "))
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
	if h.o.Timeout <= 0 {
		h.o.Timeout = DefaultTimeout
	}
	if h.o.Confine == "" {
		h.o.Confine = runner.ConfineAuto
	}
	if h.o.MaxOutput <= 0 {
		h.o.MaxOutput = DefaultOutput
	}
	for _, dir := range []*string{&h.o.Cache, &h.o.Homes, &h.o.Workspace, &h.o.UserDir} {
		*dir = paths.Real(*dir)
	}
	h.helps.now = time.Now
	err := h.build()
	return h, err
}

// build makes the parts of a host of its options.
func (h *Host) build() (err error) {
	o := &h.o
	operator := &plan.Operator{Env: o.Env, Path: o.Path, LookPath: o.LookPath, Confine: o.Confine, Denied: o.Denied,
		Guard:     runner.Guard{Home: plan.UserHome(o.Env), Private: o.Private, Keep: o.Keep},
		Limits:    runner.Limits{FileSize: 256 << 20, OpenFiles: 1024, Memory: o.Memory, Processes: o.Tasks, Disk: o.Disk, Files: o.Files},
		Workspace: o.Workspace, UserDir: o.UserDir, Cwd: o.Cwd, FixedCwd: o.FixedCwd}
	h.places = places.New(&places.Options{Cache: o.Cache, Homes: o.Homes, Runs: filepath.Join(o.Cache, "work"), UserHome: operator.Guard.Home, FormerHome: o.FormerHome,
		Conversation: o.Conversation, KeepTemp: o.KeepTemp, Disk: o.Disk, Files: o.Files})
	h.envs, err = envs.New(&envs.Options{Runner: o.Runner, Guard: operator.Guard, Confine: o.Confine, LookPath: o.LookPath, Env: o.Env, Cache: o.Cache, NPMRC: o.NPMRC,
		MaxBytes: o.MaxEnvironment, MaxTime: o.PrepareTimeout, FetchPython: o.FetchPython, Hosts: o.PackageHosts, Progress: o.Progress, Chosen: o.Chosen, Making: h.preparing})
	if err != nil {
		return err
	}
	h.interpreters = interpreter.New(&interpreter.Options{Operator: operator, Runner: o.Runner, Envs: h.envs, Cache: o.Cache})
	_, bare := o.Runner.(runner.Exec)
	h.engine = run.New(&run.Options{Operator: operator, Runner: o.Runner, Bare: bare || o.Confine == runner.ConfineOff,
		Interpreters: h.interpreters, Envs: h.envs, Places: h.places, Hosts: o.Hosts, Granted: o.Granted, Seen: o.Seen, Trace: o.Trace})
	return nil
}
