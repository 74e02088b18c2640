package servers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

// Options says what the servers of a conversation get.
type Options struct {
	Only   string                                                            // the label of the one server that is used; "" means all
	Elicit func(context.Context, *mcphost.Question) (*mcphost.Answer, error) // nil: every question is declined
	Denied func() runner.Denied                                              // further rules about files, such as those of active skills; may be nil

	// Ask decides about a host that the program of a server was not given, while that waits. nil refuses it.
	Ask func(ctx context.Context, label, host string) runner.Verdict
}

// Open returns the servers that may be started: those of the user, and those of the project that the user approved as they are. The
// caller closes the Host. The problems are about servers that are not among them, each with the command that helps. It starts nothing.
func (m *Servers) Open(ctx context.Context, o *Options) (*mcphost.Host, []manifest.Problem, error) {
	if o == nil {
		o = &Options{}
	}
	list, problems := m.List(ctx)
	host := &mcphost.HostOptions{Elicit: o.Elicit, Trace: m.Observe.Tracer(), MaxResult: m.Settings.Config().MaxScriptOutput, Record: m.folder("known")}
	for _, e := range list {
		if !e.State.Starts() || o.Only != "" && o.Only != e.Label {
			continue
		}
		filled, err := m.fill(e)
		if err != nil {
			continue // it is among the problems
		}
		one := mcphost.Server{Label: e.Label, Tools: e.Tools, Timeout: e.Timeout, Entry: e.Digest, Redact: filled.redactor().String}
		if e.URL != "" {
			one.URL, one.Client = filled.URL, m.client(filled)
		} else {
			one.Start = starts(filled.path)
			one.Run = func(ctx context.Context, p *mcphost.Pipes) error { return m.run(ctx, e, o, p) }
		}
		host.Servers = append(host.Servers, one)
	}
	h, err := mcphost.NewHost(host)
	return h, problems, err
}

// programName returns the name of a program by its path.
func programName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }

// starts returns how long the start of a program may take: more where a package is fetched first; 0 means the usual time.
func starts(path string) time.Duration {
	if hostname.RegistryOf(programName(path)) != nil {
		return 4 * mcphost.DefaultStart
	}
	return 0
}

// Needs returns the hosts that the program of a server fetches its package from, as far as it does not reach them.
func (e *Entry) Needs() want.Set {
	if e.URL != "" || e.Open {
		return nil
	}
	return want.Each(want.Host, want.User, hostname.RegistryOf(programName(e.Command))...).Minus(e.Opened())
}

// folder returns the folder in which something is kept for the servers of the project, "" without a home.
func (m *Servers) folder(names ...string) string {
	state := m.Settings.Config().Paths.State()
	if state == "" {
		return ""
	}
	project := sha256.Sum256([]byte(paths.Real(m.Settings.Config().Paths.Project)))
	return filepath.Join(append([]string{state, "mcp", fmt.Sprintf("%x", project[:8])}, names...)...)
}

// serverLife is how long a server may run.
const serverLife = script.DefaultLife

const (
	serverGrace     = 2 * time.Second // between asking the program of a server to end and killing it
	serverOpenFiles = 4096            // of each of its processes
	serverFileSize  = 1 << 30         // bytes of a file that it writes
)

// run runs the program of a server until it ends or ctx is done.
func (m *Servers) run(ctx context.Context, e *Entry, o *Options, p *mcphost.Pipes) error {
	if err := m.unchanged(ctx, e); err != nil {
		return &mcphost.ServerError{Label: e.Label, Kind: mcphost.KindStart, Message: err.Error() + ": " + failure.Explain(err).Hint, Err: err}
	}
	sandbox, err := m.Sandbox.Runner()
	if err != nil {
		return err
	}
	s, err := m.fill(e)
	if err != nil {
		return err
	}
	home, done, err := m.home(ctx, e)
	if err != nil {
		return fmt.Errorf("it has no home: %w", err)
	}
	defer done()
	cmd, err := m.command(ctx, e, s, o, home)
	if err != nil {
		return err
	}
	cmd.In, cmd.Out, cmd.Err = p.In, p.Out, p.Err
	p.Started()
	out, err := sandbox.Run(ctx, cmd)
	if out == nil {
		return err
	}
	return m.ended(ctx, e, s, cmd, out)
}

// homeLock is the lock of the home of a server, which its program holds. Its time says when one was last started.
const homeLock = "lock"

// homeName names the folder of a server in that of each project. It is short: the name of a unix socket has 107 bytes.
func homeName(e *Entry) string {
	sum := sha256.Sum256([]byte(e.Origin.Rank.String() + " " + e.Label))
	return fmt.Sprintf("%x", sum[:8])
}

// serverHome is where the program of a server writes, as absolute paths.
type serverHome struct{ home, temp string }

// home returns the folders of a server, which each project has for itself. done says that it has ended.
func (m *Servers) home(ctx context.Context, e *Entry) (h serverHome, done func(), err error) {
	dir := m.folder(homeName(e))
	if dir == "" {
		return h, nil, m.Settings.NeedHome()
	}
	h = serverHome{filepath.Join(dir, "home"), filepath.Join(dir, "tmp")}
	for _, d := range []string{h.home, h.temp} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return h, nil, err
		}
	}
	where := filepath.Join(filepath.Dir(dir), projectFile)
	if _, err := os.Lstat(where); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(where, []byte(m.Settings.Config().Paths.Project), 0o600); err != nil {
			return h, nil, err
		}
	}
	lock := filepath.Join(dir, homeLock)
	if free, err := lockfile.Lock(ctx, lock, time.Nanosecond); err == nil { // no other process of it runs
		ondisk.Empty(h.temp)
		free()
	}
	if done, err = lockfile.Share(ctx, lock, time.Second); err == nil {
		now := m.Sys.Now()
		err = os.Chtimes(lock, now, now)
	}
	return h, done, err
}

// command returns the command of the program of a server: it reads the project, has a home of its own, and reaches, reads and writes
// beyond that what its entry and its approval name.
func (m *Servers) command(ctx context.Context, e *Entry, s *filledServer, o *Options, at serverHome) (*runner.Command, error) {
	cfg, dir := m.Settings.Config(), m.dir(&e.Server)
	path, _ := m.Settings.ScriptPath()
	policy, _ := m.Settings.Permissions()
	read, write := policy.DeniedFiles()
	reach := &runner.Reach{
		Guard: runner.Guard{Home: m.Sys.Home, Private: m.Settings.Private(), Keep: m.Settings.Kept(m.roots(ctx))},
		Home:  at.home, Temp: at.temp, Path: path, Getenv: m.Sys.Getenv, Programs: []string{s.path},
		GrantRead: e.Opened().Named(want.Read), GrantWrite: e.Opened().Named(want.Write),
		Denied: []runner.Denied{{Read: read, Write: write}}, Network: m.network(ctx, e, o, policy), Confine: runner.Confinement(m.Settings.SandboxMode()),
		Limits: runner.Limits{FileSize: serverFileSize, OpenFiles: serverOpenFiles, Memory: uint64(cfg.ScriptMemory), Processes: uint64(cfg.ScriptProcesses), Disk: uint64(cfg.ScriptDisk), Files: uint64(cfg.ScriptFiles)},
	}
	if o.Denied != nil {
		reach.Denied = append(reach.Denied, o.Denied())
	}
	for _, here := range []string{cfg.Paths.Project, dir} {
		if here != "" && filepath.Dir(here) != here {
			reach.Here = append(reach.Here, here)
		}
	}
	if e.Open {
		reach.Confine, reach.Home, reach.Temp, reach.Limits = runner.ConfineOff, "", "", runner.Limits{}
	}
	cmd, err := reach.Command(runner.Command{Path: s.path, Args: append([]string{s.path}, s.Args...), Dir: dir, Env: m.environment(e, s, path),
		Clock: &runner.Clock{}, Timeout: serverLife, Grace: serverGrace})
	if err != nil {
		return nil, err
	}
	cmd.Args[0] = cmd.Path
	return cmd, nil
}

// roots returns the folders that the user trusts.
func (m *Servers) roots(ctx context.Context) []string {
	set, _ := m.Trust.Load(ctx) // none if it cannot be read
	return set.Roots()
}

// environment returns what the program of a server has of the user's variables, and those of its entry.
func (m *Servers) environment(e *Entry, s *filledServer, path []string) []string {
	env := map[string]string{"PATH": strings.Join(path, string(filepath.ListSeparator))}
	for _, kv := range m.Sys.Environ {
		name, value, _ := strings.Cut(kv, "=")
		if script.AlwaysPasses(name) || e.Open && slices.Contains([]string{"HOME", "USER", "LOGNAME", "SHELL", "PATH", "TMPDIR", "USERPROFILE", "TEMP", "TMP"}, name) {
			env[name] = value
		}
	}
	for name, value := range s.Env {
		env[name] = value
	}
	return program.Pairs(env)
}

// network returns what the program of a server may reach. Only hosts that the user named may have private addresses: of those that a
// project proposes, the ones that show it.
func (m *Servers) network(ctx context.Context, e *Entry, o *Options, policy *permit.Policy) runner.Network {
	hosts := e.Opened().Named(want.Host)
	if slices.Contains(hosts, want.Any) {
		return runner.Network{All: true}
	}
	n := runner.Network{Hosts: hosts, Denied: func(host string) bool { return policy.Host(host).Verdict == permit.Denied }}
	for _, host := range hosts {
		p, err := hostname.Parse(host)
		if e.State == Own || err == nil && hostname.IsLocal(p.Host) {
			n.Private = append(n.Private, host)
		}
	}
	if o.Ask != nil {
		n.Waits = true
		n.Ask = func(life context.Context, host string) runner.Verdict {
			asked, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(life, cancel)()
			return o.Ask(asked, e.Label, host)
		}
	}
	return n
}

// LackError has what the program of a server lacked when it ended.
type LackError struct{ Wants want.Set }

// Error says that it lacked something.
func (e *LackError) Error() string { return "it lacked something in the sandbox" }

// ended says why the program of a server ended: what it lacked, with the command that gives it, or its exit code; nil if it ended well.
func (m *Servers) ended(ctx context.Context, e *Entry, s *filledServer, cmd *runner.Command, out *runner.Output) error {
	wants, says := script.Lacks(cmd, out)
	failed := &mcphost.ServerError{Label: e.Label, Kind: mcphost.KindCrash, Err: &LackError{wants}}
	switch passed := out.Passed(&cmd.Limits); {
	case len(says) > 0:
		failed.Message = strings.Join(says, "; ")
		if help := m.Settings.Cures().Server(e.Label, wants).Advice(); help != "" {
			failed.Message += ". " + help
		}
	case ctx.Err() != nil: // it was asked to end
		return nil
	case passed != "":
		failed.Message = "it was ended: " + passed
	case out.ExitCode == 0:
		return nil
	case out.Signal != "":
		failed.Message = "it was ended by the signal " + out.Signal
	default:
		failed.Message = fmt.Sprintf("it ended with exit code %d", out.ExitCode)
	}
	failed.Trace = s.redactor().String(mcphost.LastLines(out.Stderr))
	return failed
}
