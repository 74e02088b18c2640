package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/agent/hosttool"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
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
	runner, err := w.s.Sandbox.Runner()
	if err != nil {
		return err
	}
	home, temp := filepath.Join(cfg.Paths.Cache, "bash", "home"), filepath.Join(cfg.Paths.Cache, "bash", "tmp")
	for _, dir := range []string{home, temp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	o.OutsideEnv = o.Env
	o.Env = withHome(o.Env, home, temp, w.s.Sys.Home)
	o.Confined = true
	o.Runner = func(ctx context.Context, c *hosttool.Command) (*hosttool.Output, error) {
		cmd, err := w.bashCommand(ctx, c, home, temp, kit().DeniedFiles())
		if err != nil {
			return nil, err
		}
		out, err := runner.Run(ctx, cmd)
		if err != nil {
			return nil, err
		}
		return &hosttool.Output{Stdout: out.Stdout, Total: out.Total, ExitCode: out.ExitCode, TimedOut: out.TimedOut, Sandbox: out.Sandbox,
			Undone: undone(out.Undone)}, nil
	}
	return nil
}

// undone says what a command changed that no command changes; "" for nothing.
func undone(list []runner.Undone) string {
	var texts []string
	for _, u := range list {
		texts = append(texts, fmt.Sprintf("The command changed %s, which has to stay as it is: %s", u.Path, u.Text()))
	}
	return strings.Join(texts, "; ")
}

// bashGrace is the time between asking a command to end and killing it.
const bashGrace = 2 * time.Second

// bashCommand returns a command of bash with what it may read and write: the workspace, a home of its own, the programs on
// PATH, the skills, and what the settings add, without what rules deny.
func (w *worker) bashCommand(ctx context.Context, c *hosttool.Command, home, temp string, denied runner.Denied) (*runner.Command, error) {
	cfg := w.s.Settings.Config()
	guard := &runner.Guard{Home: w.s.Sys.Home, Private: []string{w.s.Settings.Home()}, Keep: slices.Concat(w.readOnly(), w.skillRoots())}
	workspace := []string{c.Dir}
	folders := slices.Concat(workspace, cfg.Agent.BashRead, cfg.Agent.BashWrite)
	read, write := slices.Clone(cfg.Agent.BashRead), append([]string{home, temp}, cfg.Agent.BashWrite...)
	for _, m := range w.mounts(ctx) {
		read = append(read, m.Dir)
	}
	path, _ := w.s.Settings.ScriptPath()
	read = append(read, script.ProgramFolders(path, w.s.Sys.Home)...)
	if file := gitConfig(w.s.Sys.Home); file != "" {
		read = append(read, file)
	}
	if !c.ReadOnly {
		write = append(write, guard.Writable(workspace)...)
	}
	read = append(read, workspace...)
	cmd := &runner.Command{
		Path: c.Path, Args: c.Args, Dir: c.Dir, Env: c.Env, Timeout: c.Timeout, Grace: bashGrace, MaxStdout: c.MaxStdout,
		Read: read, Write: write, Hide: guard.Hidden(folders, folders[1:]),
		Network: bashNetwork(cfg), Confine: runner.ConfineRequired,
	}
	guard.Protect(cmd, write[2:], cfg.Agent.BashWrite)
	var own runner.Denied
	own.Read, own.Write = w.gate.current().DeniedFiles()
	if err := own.Deny(cmd, folders, nil); err != nil {
		return nil, err
	}
	return cmd, denied.Deny(cmd, folders, nil)
}

func bashNetwork(cfg *config.Config) runner.Network {
	hosts := cfg.Agent.BashNetwork
	if slices.Contains(hosts, "all") {
		return runner.Network{All: true}
	}
	return runner.Network{Hosts: hosts, Private: hosts}
}

// gitConfig returns the user's settings of git, "" without any. Commands that commit need the name in it.
func gitConfig(home string) string {
	file := filepath.Join(home, ".gitconfig")
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return file
}

// withHome returns an environment with another home and folder for temporary files.
func withHome(env []string, home, temp, own string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "HOME=") || strings.HasPrefix(kv, "TMPDIR=") })
	out = append(out, "HOME="+home, "TMPDIR="+temp)
	if file := gitConfig(own); file != "" {
		out = append(out, "GIT_CONFIG_GLOBAL="+file)
	}
	return out
}
