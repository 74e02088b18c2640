package confine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/script/confine/internal/stage"
	"github.com/agent-base/agent-base/script/runner"
)

// Run executes c in the strongest sandbox that the machine has. With c.Confine ConfineRequired it returns a *runner.SandboxError
// instead of running where files or network cannot be confined; with ConfineOff it confines neither. Output.Sandbox says what held.
func (r *Runner) Run(ctx context.Context, c *runner.Command) (*runner.Output, error) {
	defer c.CloseIn()
	if err := c.Check(); err != nil {
		return nil, err
	}
	c = c.Asking()
	for tries := 0; ; tries++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := r.plan(c)
		if err != nil {
			return nil, err
		}
		out, err := r.attempt(ctx, p)
		var lost *lostLayer
		if errors.As(err, &lost) && (r.lose(lost) || tries < mostTries) {
			continue // nothing has run
		}
		return out, err
	}
}

// mostTries is how often a command is tried again for layers that another one has lost at the same time.
const mostTries = 4

// attempt runs the command as planned.
func (r *Runner) attempt(ctx context.Context, p *plan) (*runner.Output, error) {
	begun := time.Now()
	streams := proc.NewStreams(p.c.MaxStdout, p.c.StopAtMax)
	t := &tree{plan: p, lookout: &r.lookout}
	defer t.release()
	if err := t.prepare(r); err != nil {
		return nil, err
	}
	t.held = r.describe(p)
	if err := t.start(streams); err != nil {
		return nil, err
	}
	end, err := proc.Supervise(ctx, t, &proc.Bounds{
		Timeout: p.c.Timeout, Clock: p.c.Clock, Grace: p.c.Grace, Full: streams.Full,
		Room: proc.Room{Folders: p.folders(), Stored: p.c.Stored, Bytes: p.c.Limits.Disk, Files: p.c.Limits.Files},
	})
	t.input.End()
	undone := append(t.watch.end(), t.lookout.end(p.c.Seen)...)
	if t.failed != nil {
		return nil, t.failed
	}
	crowded := t.crowded()
	if !t.started && !crowded && err == nil && !end.TimedOut && !end.Filled { // a command that filled its folders was started
		return nil, errNotStarted
	}
	out := &runner.Output{
		Stdout: streams.Stdout.Bytes(), Total: streams.Stdout.Total(), Truncated: streams.Stdout.Truncated(), Stderr: streams.Stderr.Bytes(),
		TimedOut: end.TimedOut, Stopped: end.Stopped, Filled: end.Filled, Crowded: crowded, Outgrown: t.outgrown || t.group.outgrown(),
		Duration: time.Since(begun) - p.c.Clock.Stood(), Sandbox: t.held, Undone: undone,
	}
	out.ExitCode, out.Signal = 128+int(unix.SIGKILL), unix.SIGKILL.String()
	if t.ended {
		out.ExitCode = t.status.ExitStatus()
		out.Signal = ""
		if t.status.Signaled() {
			out.ExitCode, out.Signal = 128+int(t.status.Signal()), t.status.Signal().String()
		}
	}
	t.plan.relay.end(ctx, out)
	return out, err
}

// exitOfGo is the exit code of a Go program that cannot go on, such as a stage that may start no thread any more.
const exitOfGo = 2

// crowded reports whether the command had as many processes as it may have, and asked for more. Without a cgroup it is known only if the
// stage ended because of it.
func (t *tree) crowded() bool {
	if t.plan.cgroup {
		return t.group.refused()
	}
	return t.plan.c.Limits.Processes > 0 && !t.ended && t.cmd.ProcessState.ExitCode() == exitOfGo
}

// folders are those whose files are limited together.
func (p *plan) folders() []string {
	if p.c.Layer == nil {
		return p.c.Own
	}
	return append(slices.Clip(p.c.Own), p.c.Layer.Upper)
}

// errNotStarted is the error for a stage that ended without a word: killed, or without memory.
var errNotStarted = errors.New("the sandbox ended before it started the command")

// tree is a stage with all the processes of a command.
type tree struct {
	plan    *plan
	group   *cgroup // may be nil
	holds   []*placeholder
	watch   watch
	lookout *lookout
	held    *runner.Sandbox // what confines the command
	cmd     *exec.Cmd
	input   *proc.Input
	conn    *net.UnixConn
	ops     *stage.Program

	reported chan struct{} // closed when there are no more reports
	runs     chan struct{} // closed when the command runs
	started  bool          // that it did
	outgrown bool          // the stage ended the command because of its memory
	ended    bool
	status   syscall.WaitStatus
	failed   error // why the command was not started
}

// stageEnv is the whole environment of a stage. It needs one processor, so Go need not ask the cgroup for their number, and collects no
// garbage: it makes little and starts no thread later, which a command that uses up all processes could refuse it.
var stageEnv = []string{stage.Marker, "GOGC=off", "GOMAXPROCS=1", "GODEBUG=containermaxprocs=0"}

// prepare makes what the command needs outside of its sandbox.
func (t *tree) prepare(r *Runner) error {
	p := t.plan
	if l := p.c.Limits; l.Memory > 0 || l.Processes > 0 {
		t.group = r.newCgroup(l)
		p.cgroup = t.group != nil
	}
	if p.layers.namespaces {
		t.holds = append(p.keep(), p.mounts()...)
		if err := p.clearTemp(); err != nil {
			return err
		}
	} else {
		p.missing = append(p.missing, p.closed()...)
	}
	t.watch = p.watchPaths(&r.watcher)
	if p.c.Confine != runner.ConfineOff {
		t.lookout.begin(p.c.Seen)
	}
	if p.hosts {
		return p.relay.open(r.o.Proxy, &p.c.Network, p.layers.namespaces)
	}
	return nil
}

// release removes what prepare made. The processes of the command are gone.
func (t *tree) release() {
	t.plan.relay.close()
	t.group.remove()
	t.watch.end()
	t.lookout.end(t.plan.c.Seen)
	for _, h := range t.holds {
		h.release()
	}
}

func (t *tree) start(streams *proc.Streams) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	theirs := os.NewFile(uintptr(pair[1]), "stage")
	defer theirs.Close()
	t.conn, err = connect(pair[0])
	if err != nil {
		return err
	}
	t.reported, t.runs = make(chan struct{}), make(chan struct{})
	t.cmd = &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{"sandbox"}, Env: stageEnv, ExtraFiles: []*os.File{theirs},
		Stdin: t.plan.c.Input(), Stdout: streams.Into(t.output()), Stderr: streams.ErrInto(t.plan.c.Err), WaitDelay: drainTime, SysProcAttr: t.plan.attributes(),
	}
	t.input = proc.NewInput(t.cmd, t.plan.c.In)
	if err := t.cmd.Start(); err != nil {
		t.conn.Close()
		if t.plan.layers.namespaces {
			return &lostLayer{layer: Namespaces, err: noNamespaces(err)}
		}
		return err
	}
	theirs.Close()
	if err := t.group.add(t.cmd.Process.Pid); err != nil { // it waits for its program: nothing has run
		t.conn.Close()
		close(t.reported)
		_ = t.cmd.Process.Kill()
		_ = t.cmd.Wait()
		return &runner.SandboxError{Layer: memory, Err: err}
	}
	t.ops = t.plan.program()
	go t.read()
	if _, err := t.conn.Write(t.ops.Encode()); err != nil {
		_ = t.cmd.Process.Kill() // the reports say why, if there are any
	}
	return nil
}

// drainTime is how long the rest of the output may take when the stage has ended. No process is left then that could hold it back: only a busy
// machine does, and what it does not read is lost.
const drainTime = 30 * time.Second

// output returns what gets the command's standard output, nil if nothing does.
func (t *tree) output() io.WriteCloser {
	if t.plan.c.Out == nil {
		return nil
	}
	return &output{t.plan.c.Out, t}
}

// output passes the end of the output on, unless the command never ran: then it may be tried again.
type output struct {
	io.WriteCloser
	t *tree
}

func (o *output) Close() error {
	select {
	case <-o.t.runs:
	case <-o.t.reported:
		if !o.t.started {
			return nil
		}
	}
	return o.WriteCloser.Close()
}

// connect returns the connection of a descriptor, which it takes over.
func connect(fd int) (*net.UnixConn, error) {
	f := os.NewFile(uintptr(fd), "stage")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return c.(*net.UnixConn), nil
}

// attributes returns how the stage is started.
func (p *plan) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if !p.layers.namespaces {
		return attr
	}
	attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if !p.c.Network.All {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SETUID, unix.CAP_SETGID}
	if p.c.Layer != nil { // the kernel makes a folder for itself that even its owner may not use
		attr.AmbientCaps = append(attr.AmbientCaps, unix.CAP_DAC_OVERRIDE)
	}
	return attr
}

// read reads the reports of the stage until it is gone.
func (t *tree) read() {
	defer close(t.reported)
	for {
		r, fd, err := receive(t.conn)
		if err != nil {
			return
		}
		if fd != nil {
			t.plan.relay.serveFile(fd)
		}
		switch r.Kind {
		case stage.LeftOut:
			t.held.Missing = append(t.held.Missing, t.plan.leftOut(t.ops, r)...)
		case stage.SetupFailed:
			t.failed = t.plan.failure(t.ops.Setup[r.N], syscall.Errno(r.V))
		case stage.RestrictFailed:
			t.failed = t.plan.failure(t.ops.Restrict[r.N], syscall.Errno(r.V))
		case stage.StartFailed:
			t.failed = &fs.PathError{Op: "fork/exec", Path: t.plan.c.Path, Err: syscall.Errno(r.V)}
		case stage.Started:
			if !t.started {
				close(t.runs)
			}
			t.started = true
			if f := t.plan.c.Started; f != nil {
				f(t.held)
			}
			t.input.Begin() // not before: a stage that fails must not have read any of it
		case stage.OverMemory:
			t.outgrown = true
		case stage.Ended:
			t.ended, t.status = true, syscall.WaitStatus(r.V)
		}
	}
}

// receive reads one report, with the file that came with it.
func receive(conn *net.UnixConn) (stage.Report, *os.File, error) {
	var b [stage.ReportSize]byte
	rights := make([]byte, unix.CmsgSpace(4))
	var file *os.File
	for have := 0; have < len(b); {
		n, m, _, _, err := conn.ReadMsgUnix(b[have:], rights)
		if err != nil || n == 0 {
			return stage.Report{}, file, errors.Join(err, errGone)
		}
		have += n
		if m > 0 {
			file = received(rights[:m])
		}
	}
	return stage.DecodeReport(b[:]), file, nil
}

var errGone = errors.New("the stage is gone")

func received(rights []byte) *os.File {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) != 1 {
		return nil
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil
	}
	unix.CloseOnExec(fds[0])
	return os.NewFile(uintptr(fds[0]), "listener")
}

// Wait waits until no process of the tree is left.
func (t *tree) Wait() {
	_ = t.cmd.Wait() // the reports say how the command ended
	<-t.reported
	_ = t.conn.Close()
}

// Terminate sends the command SIGTERM.
func (t *tree) Terminate() { _, _ = t.conn.Write([]byte{stage.Terminate}) }

// killWait is how long a stage outside of a PID namespace may take to end its descendants.
const killWait = 10 * time.Second

// Kill ends the tree.
func (t *tree) Kill() {
	if t.plan.layers.namespaces {
		_ = t.cmd.Process.Kill() // the kernel ends the rest
		return
	}
	_, _ = t.conn.Write([]byte{stage.Kill})
	time.AfterFunc(killWait, func() { _ = t.cmd.Process.Kill() })
}

// noNamespaces returns the error of a system without user namespaces. Where it may have no more of them it speaks of disk space.
func noNamespaces(err error) error {
	if errors.Is(err, unix.ENOSPC) {
		return fmt.Errorf("no user namespace is left (sysctl user.max_user_namespaces): %w", err)
	}
	return err
}

// lostLayer is a layer that the machine turned out not to have.
type lostLayer struct {
	layer string
	err   error
}

func (e *lostLayer) Error() string { return fmt.Sprintf("%s: %s", e.layer, e.err) }

func (e *lostLayer) Unwrap() error { return e.err }

// failure returns what the failure of an operation means.
func (p *plan) failure(op stage.Op, errno syscall.Errno) error {
	switch op.Code {
	case stage.Chdir:
		return &fs.PathError{Op: "chdir", Path: op.A, Err: errno}
	case stage.Bind:
		if errno == unix.ELOOP {
			return fmt.Errorf("%s leads through a symbolic link, which a sandbox does not follow: give the path that it leads to", op.A)
		}
		if isOfPath(errno) {
			return &fs.PathError{Op: "mount", Path: op.A, Err: errno}
		}
	case stage.Tmpfs, stage.Cover, stage.ReadOnly, stage.Dir, stage.Symlink, stage.Text:
		if isOfPath(errno) {
			return &fs.PathError{Op: strings.TrimSpace(verbs[op.Code]), Path: op.A, Err: errno}
		}
	case stage.Overlay:
		return &lostLayer{layer: overlays, err: errno}
	case stage.Limit:
		return fmt.Errorf("set a limit of the command to %d: %w", op.M, errno)
	case stage.Ruleset, stage.Allow, stage.AllowPort, stage.Enforce:
		return &lostLayer{layer: Landlock, err: errno}
	case stage.NoNewPrivs, stage.Filter, stage.ProtectStage:
		return &lostLayer{layer: seccomp, err: errno}
	case stage.Subreaper:
		return &runner.SandboxError{Layer: wholeTree, Err: errno}
	}
	if p.layers.namespaces {
		return &lostLayer{layer: Namespaces, err: fmt.Errorf("%s%s: %w", verbs[op.Code], op.A, errno)}
	}
	return errno
}

// isOfPath reports whether the failure of an operation is about what lies at its path, and says nothing of the machine.
func isOfPath(errno syscall.Errno) bool {
	return slices.Contains([]syscall.Errno{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.EEXIST, unix.EACCES, unix.ENOSPC, unix.EDQUOT}, errno)
}

// leftOut says which path the command does not get, and why. Rules of the kernel come after mounts, and say nothing new of the same path.
func (p *plan) leftOut(ops *stage.Program, r stage.Report) []string {
	all := slices.Concat(ops.Setup, ops.Restrict)
	if int(r.N) >= len(all) || p.layers.namespaces && int(r.N) >= len(ops.Setup) {
		return nil
	}
	op, what, why := all[r.N], "read", paths.Why(syscall.Errno(r.V))
	if op.Code == stage.Bind && op.N == attrWritable || op.Code == stage.Allow && op.N&unix.LANDLOCK_ACCESS_FS_WRITE_FILE != 0 {
		what = "write"
	}
	if syscall.Errno(r.V) == unix.ELOOP {
		why = "leads through a symbolic link that was not there before"
	}
	return []string{what + ": " + op.A + " " + why}
}

// verbs says what an operation does, for errors.
var verbs = map[stage.Code]string{
	stage.WriteFile: "write ", stage.SlaveMount: "change mounts", stage.Loopback: "loopback device", stage.Listen: "listen", stage.Bind: "mount ",
	stage.Tmpfs: "mount ", stage.Cover: "mount ", stage.Proc: "mount ", stage.Symlink: "link ", stage.Dir: "make ", stage.Text: "make ", stage.ReadOnly: "protect ", stage.Root: "mount a root",
	stage.Enter: "enter the root", stage.DropCaps: "drop capabilities",
}

// plan returns how a command is confined with what the machine is known to have.
func (r *Runner) plan(c *runner.Command) (*plan, error) {
	have := r.layers()
	if c.Confine == runner.ConfineOff {
		have = layers{seccomp: have.seccomp}
	}
	if c.Confine == runner.ConfineRequired && !have.confines() {
		return nil, r.missing()
	}
	if c.Layer != nil && (!have.namespaces || r.hasLost(overlays)) {
		return nil, runner.ErrNoLayer
	}
	p := &plan{c: c, layers: have, abi: r.abi(), temp: r.o.temp}
	p.chooseNetwork(r.o.Proxy != nil)
	p.makeView(r.base())
	return p, nil
}
