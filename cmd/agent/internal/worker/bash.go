package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/internal/keyagent"
	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skilltool"
)

// confineBash has the commands of bash run in the sandbox, if the settings ask for it and the machine has one for files and
// network. If they require one that is missing, every command is refused.
func (w *worker) confineBash(ctx context.Context, o *hosttool.Options, kit func() *skilltool.Kit) error {
	cfg := w.s.Settings.Config()
	mode := runner.Confinement(cfg.Agent.BashSandbox)
	if mode == runner.ConfineOff || cfg.Paths.Cache == "" {
		return nil
	}
	have, err := w.s.Sandbox.Machine(ctx)
	if err != nil {
		return err
	}
	if mode == runner.ConfineAuto && !have.ConfinesFiles() {
		return nil
	}
	sandbox, err := w.s.Sandbox.Runner()
	if err != nil {
		return err
	}
	o.Confined = true
	if names := cfg.Agent.BashSockets; len(names) > 0 && hasSockets(have) {
		o.Signs = "it can sign and log in as you, with the keys of your " + strings.Join(names, " and ") + " agent"
	}
	known := &runner.Told{}
	o.Runner = func(ctx context.Context, c *hosttool.Command) (*hosttool.Output, error) {
		at, err := w.home.open(ctx)
		if err != nil {
			return nil, fmt.Errorf("there is no home for commands: %w", err)
		}
		keys, done, err := w.keys(c, at)
		if err != nil {
			return nil, err
		}
		defer done()
		n, asks := bashNetwork(cfg), w.hosts.forCommand(c.Command)
		asks.quiet = c.Background
		asks.network(ctx, &n)
		cmd, err := w.bashCommand(ctx, c, &bashGiven{at, keys, kit().DeniedFiles(), n})
		if err != nil {
			return nil, err
		}
		out, err := sandbox.Run(ctx, cmd)
		if out == nil || err != nil && ctx.Err() == nil {
			return nil, err
		}
		out.Filled = out.Filled || at.full(&cmd.Limits) // a command may end before that is measured
		passed := out.Passed(&cmd.Limits)
		if out.Filled {
			w.home.empty()
			passed += "; its home and its folder for temporary files are empty again"
		}
		asks.end(out)
		result := &hosttool.Output{Stdout: out.Stdout, Stderr: out.Stderr, Total: out.Total, ExitCode: out.ExitCode, TimedOut: out.TimedOut, Passed: passed, Sandbox: out.Sandbox, Why: w.why(c, cmd, out),
			Undone: undone(out.Undone), Waited: cmd.Clock.Stood()}
		asks.told(ctx, known, result, cmd, out)
		return result, err
	}
	return nil
}

// keys returns what a command gets of the agents that hold the user's keys, and a function that removes the files for it.
func (w *worker) keys(c *hosttool.Command, at *place) (given *keyagent.Given, done func(), err error) {
	if !c.Signs {
		return &keyagent.Given{}, func() {}, nil
	}
	dir, err := os.MkdirTemp(at.root, keysPrefix) // no command that runs writes there
	if err != nil {
		return nil, nil, err
	}
	user := &keyagent.User{Home: w.s.Sys.Home, Getenv: w.s.Sys.Getenv}
	given, err = user.Give(w.s.Settings.Config().Agent.BashSockets, dir)
	if err != nil {
		ondisk.RemoveAll(dir)
		return nil, nil, err
	}
	given.Own = []string{dir}
	if key := at.git.SigningKey; key != "" {
		given.Reads = append(given.Reads, key)
	}
	return given, func() { ondisk.RemoveAll(dir) }, nil
}

// temps returns where the scripts of the conversation keep temporary files: those of skills that may write files of the user, and the
// commands of bash, have the same folder.
func (w *worker) temps(ctx context.Context) (*script.Conversation, error) {
	at, err := w.home.open(ctx)
	if err != nil {
		return nil, err
	}
	l := bashLimits(w.s.Settings.Config())
	return &script.Conversation{Temp: at.temp, Other: at.root, Disk: l.Disk, Files: l.Files, Told: w.hidden}, nil
}

// undone says what a command changed that no command changes, and what does; "" for nothing.
func undone(list []runner.Undone) string {
	text := runner.Sentence("The command", list)
	if slices.ContainsFunc(list, func(u runner.Undone) bool { return u.Why != "" && runner.MayBeGranted(u.Path, false) }) {
		text += "; write_file writes such a file, and asks the user"
	}
	return text
}

// bashGrace is the time between asking a command to end and killing it.
const bashGrace = 2 * time.Second

// bashOpenFiles is how many files each process of a command may have open.
const bashOpenFiles = 4096

// bashGiven is what a command of bash gets beyond what all of them have.
type bashGiven struct {
	*place
	keys    *keyagent.Given
	denied  runner.Denied
	network runner.Network
}

// bashCommand returns a command of bash with what it may read and write: the workspace, a home of its own, the programs on
// PATH, the skills, and what the settings add, without what rules deny.
func (w *worker) bashCommand(ctx context.Context, c *hosttool.Command, given *bashGiven) (*runner.Command, error) {
	at, keys := given.place, given.keys
	cfg := w.s.Settings.Config()
	path, _ := w.s.Settings.ScriptPath()
	var own runner.Denied
	own.Read, own.Write = w.gate.current().DeniedFiles()
	reach := &runner.Reach{
		Guard: runner.Guard{Home: w.s.Sys.Home, Private: []string{w.s.Settings.Home()}, Keep: slices.Concat(w.readOnly(), w.skillRoots()),
			Open: w.gate.current().Mode() == permit.All},
		Home: at.home, Temp: at.temp, Stored: at.caches, Path: path, Getenv: w.s.Sys.Getenv, Here: []string{c.Dir}, GrantRead: cfg.Agent.BashRead, GrantWrite: cfg.Agent.BashWrite,
		Denied: []runner.Denied{own, given.denied}, Network: given.network, Confine: runner.ConfineRequired, Limits: bashLimits(cfg),
	}
	mounts, told := []runner.Mount{}, w.listOptions().Mounted()
	for _, m := range w.mounts(ctx) {
		if reach.Read = append(reach.Read, m.Dir); told && !m.Hidden && m.Path != "" {
			mounts = append(mounts, runner.Mount{Path: filepath.Join(c.Dir, filepath.FromSlash(m.Path)), Dir: m.Dir})
		}
	}
	reach.Read = slices.Concat(reach.Read, at.git.Reads, keys.Reads)
	reach.Sockets, reach.Own, reach.Lacks = keys.Sockets, keys.Own, keys.Lacks
	if !c.ReadOnly {
		reach.WriteHere = reach.Here
	}
	cmd := runner.Command{Clock: &runner.Clock{}, Path: c.Path, Args: c.Args, Dir: c.Dir, Env: slices.Concat(c.Env, keys.Env), Stdin: c.Stdin, Timeout: c.Timeout, Grace: bashGrace, MaxStdout: c.MaxStdout, Mounts: mounts}
	if c.Live != nil {
		cmd.Out = runner.Watched(c.Live)
	}
	return reach.Command(cmd)
}

// bashLimits returns the limits of a command of bash. Its time limits that of its processors.
func bashLimits(cfg *config.Config) runner.Limits {
	a := &cfg.Agent
	return runner.Limits{FileSize: uint64(a.BashFileSize), OpenFiles: bashOpenFiles, Memory: uint64(a.BashMemory), Processes: uint64(a.BashProcesses),
		Disk: uint64(a.BashDisk), Files: uint64(a.BashFiles)}
}

func bashNetwork(cfg *config.Config) runner.Network {
	hosts := cfg.Agent.BashNetwork
	if slices.Contains(hosts, "all") {
		return runner.Network{All: true}
	}
	return runner.Network{Hosts: hosts, Private: hosts}
}
