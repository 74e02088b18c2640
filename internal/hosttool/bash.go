package hosttool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/tool"
)

// Ran is the result of bash.
type Ran struct {
	Output   string `json:"output"`          // standard output and standard error, in the order of writing
	ExitCode int    `json:"exit_code"`       // 128 plus the number of the signal that ended it
	Bytes    int64  `json:"bytes,omitempty"` // size of the whole output, if Output was cut

	Hidden  []string `json:"hidden,omitempty"`  // files and folders that rules hide, and it could not read: those that the model does not know of, or the command met
	Refused []string `json:"refused,omitempty"` // hosts that it was not let to reach
}

// Limits of a command.
const (
	usualTimeout = 120 * time.Second
	maxTimeout   = 600 * time.Second
	drainTime    = 500 * time.Millisecond // to read what remains in the pipe after the command ended
	maxCommand   = maxApproved            // bytes
)

// errCommandTime is the cause of a context that is done because the command exceeded its own timeout.
var errCommandTime = errors.New("the command timed out")

// The arguments of bash: those that it always has, and those for a sandbox and for commands in the background.
const (
	bashKeys = `"command":{"type":"string","description":"Shell command"},` +
		`"timeout_ms":{"type":"integer","description":"Default 120000, at most 600000"}`
	confinedKeys = `,"write":{"type":"boolean","description":"The command changes files of the workspace; the user may be asked"},` +
		`"outside":{"type":"boolean","description":"Run it outside the sandbox; the user is asked"}`
	jobKeys = `,"background":{"type":"boolean","description":"Return at once, with a job for bash_job; the command ends with the conversation at the latest"}`
)

// bashSchema returns the schema of the arguments of bash.
func (h *host) bashSchema() json.RawMessage {
	keys := bashKeys
	if h.o.Confined {
		keys += confinedKeys
	}
	if h.o.Jobs != nil {
		keys += jobKeys
	}
	return json.RawMessage(`{"type":"object","properties":{` + keys + `},"required":["command"]}`)
}

func (h *host) bashTool() tool.Tool {
	if h.o.Confined {
		return tool.Tool{Name: "bash", Input: h.bashSchema(), Call: call(h.bash),
			Description: "Run a shell command in the workspace, in a sandbox; unless write is set it may not be able to change files there. It reaches hosts over HTTP and HTTPS alone, and the user may be asked about each. Each call starts there in a new shell; " +
				"processes that still run at its end are killed. Set outside for a command that fails because it needs more; the user is asked."}
	}
	return tool.Tool{Name: "bash", Input: h.bashSchema(), Call: call(h.bash),
		Description: "Run a shell command in the workspace. Each call starts there in a new shell; processes that still run at its end are killed. " +
			"The user may be asked first."}
}

type bashArguments struct {
	Command string
	Timeout int64 `json:"timeout_ms"`
	Write   bool
	Outside bool

	Background bool
}

func (h *host) bash(ctx context.Context, a *bashArguments) (tool.Result, string, error) {
	timeout, usual, most := time.Duration(a.Timeout)*time.Millisecond, usualTimeout, maxTimeout
	if a.Background {
		usual, most = maxJobTime, maxJobTime
	}
	switch {
	case a.Command == "":
		return tool.Result{}, "", unusable("command is required")
	case len(a.Command) > maxCommand:
		return tool.Result{}, "", &refusal{tool.ArgsTooLarge, "", fmt.Sprintf("command has %d bytes, the limit is %d; write a file and run it", len(a.Command), maxCommand)}
	case a.Background && h.o.Jobs == nil:
		return tool.Result{}, "", unusable("no command runs in the background here")
	case a.Timeout < 0 || a.Timeout > most.Milliseconds():
		return tool.Result{}, "", unusable("timeout_ms must be between 1 and %d", most.Milliseconds())
	case a.Timeout == 0:
		timeout = usual
	}
	confined := h.o.Confined && !a.Outside
	c := &permit.Call{Tool: "bash", Kind: permit.Command, Command: a.Command, Confined: confined, Writes: a.Write}
	if confined && a.Write {
		c.Special = h.o.Signs
	}
	d, err := h.permitCommand(ctx, c, a.Background)
	if err != nil {
		return tool.Result{}, "bash", err
	}
	if err := ctx.Err(); err != nil {
		return tool.Result{}, "bash", err
	}
	if !d.ReadOnly {
		h.o.Undo.Ran()
	}
	run := h.run
	if h.o.Runner != nil && confined == h.o.Confined {
		run = func(ctx context.Context, command string, timeout time.Duration) (tool.Result, string, error) {
			return h.runWith(ctx, command, timeout, d.ReadOnly, c.Special != "")
		}
	}
	whole := func(ctx context.Context) (tool.Result, string, error) { return h.finish(ctx, a.Command, timeout, run) }
	if !a.Background {
		return whole(ctx)
	}
	id, err := h.o.Jobs.start(ctx, a.Command, whole)
	if err != nil {
		return tool.Result{}, "bash", err
	}
	return tool.Success(JobStarted{id}, "The command runs in the background"), "", nil
}

// finish runs a command to its end, and returns its result as a model may see it.
func (h *host) finish(ctx context.Context, command string, timeout time.Duration, run func(context.Context, string, time.Duration) (tool.Result, string, error)) (tool.Result, string, error) {
	r, about, err := run(ctx, command, timeout)
	if ran, ok := r.Result.(Ran); ok {
		if !r.Success {
			r.Message += notMounted(ran.Output, h.o.Mounts(ctx))
		}
		if h.o.Clean != nil {
			ran.Output = h.o.Clean(ran.Output)
			r.Result = ran
		}
	}
	return r, about, err
}

// notMounted says where a skill lies for commands. It returns "" unless the output of a command says that the path of the file tools
// does not exist.
func notMounted(output string, mounts []Mount) string {
	for line := range strings.Lines(output) {
		if !strings.Contains(line, "No such file or directory") {
			continue
		}
		for i := range mounts {
			if m := &mounts[i]; !m.Hidden && strings.Contains(line, m.path()) {
				return fmt.Sprintf("; for commands '%s' is %s", m.path(), m.Dir)
			}
		}
	}
	return ""
}

// run runs a command as the user.
func (h *host) run(ctx context.Context, command string, timeout time.Duration) (tool.Result, string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errCommandTime)
	defer cancel()
	out, state, err := h.execute(ctx, command)
	if err != nil {
		return tool.Result{}, "bash", failed("", "The command could not be started: %v", err)
	}
	ran := Ran{Output: out.text(), ExitCode: exitCode(state)}
	if out.cut() {
		ran.Bytes = out.total
	}
	if ctx.Err() != nil && ran.ExitCode != 0 {
		r := tool.Interruption(ctx, "The command")
		if context.Cause(ctx) == errCommandTime {
			r.Message = fmt.Sprintf("The command was stopped after %s", timeout)
		}
		r.Result = ran
		return r, "", nil
	}
	if ran.ExitCode != 0 {
		r := tool.Failure(tool.ExecutionFailed, fmt.Sprintf("The command ended with exit code %d", ran.ExitCode))
		r.Result = ran
		return r, "", nil
	}
	return tool.Success(ran, "The command ended"), "", nil
}

// execute runs a command in its own session, without a terminal and with empty input. When the command ends, all
// processes of the session are killed, including those in the background.
func (h *host) execute(ctx context.Context, command string) (*headTail, *os.ProcessState, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	cmd := exec.CommandContext(ctx, h.o.Shell, "-c", command)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = h.real, h.environment(), w, w
	cmd.SysProcAttr = separate()
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, nil, err
	}
	out := &headTail{max: MaxOutput}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var from io.Reader = r
		if live := h.live(ctx); live != nil {
			from = io.TeeReader(r, live)
		}
		out.readFrom(from)
	}()
	_ = cmd.Wait()                                   // ProcessState says how it ended
	_ = killGroup(cmd.Process)                       // fails if no process is left
	_ = r.SetReadDeadline(time.Now().Add(drainTime)) // a process that left the session may hold the pipe
	<-done
	return out, cmd.ProcessState, nil
}

// live returns what gets the output of a command as it comes, nil if nobody watches the call.
func (h *host) live(ctx context.Context) io.Writer {
	w := tool.Output(ctx)
	if job, ok := ctx.Value(jobKey{}).(*jobWriter); ok {
		w = job
	}
	if w != nil && h.o.CleanTo != nil {
		return h.o.CleanTo(w)
	}
	return w
}

// environment returns the environment of commands. It is never nil, because exec.Cmd would then use the environment of this process.
func (h *host) environment() []string { return append([]string{}, h.o.Env...) }
