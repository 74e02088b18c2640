package hosttool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/agent-base/agent-base/tool"
)

// Ran is the result of bash.
type Ran struct {
	Output   string `json:"output"`          // what the command wrote to both of its outputs, in order
	ExitCode int    `json:"exit_code"`       // 128 and the signal's number for a signal
	Bytes    int64  `json:"bytes,omitempty"` // of the whole output, where it was cut
}

// Times of a command.
const (
	usualTimeout = 120 * time.Second
	maxTimeout   = 600 * time.Second
	drainTime    = 500 * time.Millisecond // for output that is still on its way when the command has ended
	maxCommand   = 100_000                // bytes
)

// errCommandTime is the cause of a context that ended because the command's own time was over, not the turn's.
var errCommandTime = errors.New("the time of the command is over")

var bashSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"command":{"type":"string","description":"Shell command"},` +
	`"timeout_ms":{"type":"integer","description":"Default 120000, at most 600000"}},"required":["command"]}`)

func (h *host) bashTool() tool.Tool {
	return tool.Tool{Name: "bash", Input: bashSchema, Call: call(h.bash),
		Description: "Run a shell command in the workspace. Each call starts anew there; what still runs at its end is killed. " +
			"The user may be asked first."}
}

type bashArguments struct {
	Command string
	Timeout int64 `json:"timeout_ms"`
}

func (h *host) bash(ctx context.Context, a *bashArguments) (tool.Result, string, error) {
	timeout := time.Duration(a.Timeout) * time.Millisecond
	switch {
	case a.Command == "":
		return tool.Result{}, "", unusable("command is required")
	case len(a.Command) > maxCommand:
		return tool.Result{}, "", &refusal{tool.ArgsTooLarge, "", fmt.Sprintf("command has %d bytes, at most %d are run; write a file and run it", len(a.Command), maxCommand)}
	case a.Timeout < 0 || a.Timeout > maxTimeout.Milliseconds():
		return tool.Result{}, "", unusable("timeout_ms must be between 1 and %d", maxTimeout.Milliseconds())
	case a.Timeout == 0:
		timeout = usualTimeout
	}
	if err := h.approve(ctx, a.Command); err != nil {
		return tool.Result{}, "bash", err
	}
	return h.run(ctx, a.Command, timeout)
}

func (h *host) approve(ctx context.Context, command string) error {
	if h.o.Approve == nil {
		cure := h.o.BashCure
		if cure == "" {
			cure = "start the agent with --allow-bash to let it run commands"
		}
		return denied("not_approved", "Commands are not run here: %s", cure)
	}
	ok, err := h.o.Approve(ctx, command)
	if err != nil {
		return denied("not_approved", "The command was not run, nobody could be asked: %v", err)
	}
	if !ok {
		return denied("not_approved", "The user did not allow this command")
	}
	return nil
}

func (h *host) run(ctx context.Context, command string, timeout time.Duration) (tool.Result, string, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, "bash", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errCommandTime)
	defer cancel()
	out, state, err := h.execute(ctx, command)
	if err != nil {
		return tool.Result{}, "bash", failed("", "The command cannot be started: %v", err)
	}
	ran := Ran{Output: out.text(), ExitCode: exitCode(state)}
	if out.cut() {
		ran.Bytes = out.total
	}
	if ctx.Err() != nil && ran.ExitCode != 0 {
		r := tool.Failure(tool.Timeout, "The command was ended because the turn was")
		if context.Cause(ctx) == errCommandTime {
			r.Message = fmt.Sprintf("The command was ended after %s", timeout)
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

// execute runs a command in a session of its own, without a terminal and with an empty input. At its end all that it
// started in this session is killed, also what would go on in the background.
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
		out.readFrom(r)
	}()
	_ = cmd.Wait()                                   // how it ended is in its ProcessState
	_ = killGroup(cmd.Process)                       // nobody left is no failure
	_ = r.SetReadDeadline(time.Now().Add(drainTime)) // for one that left the session and holds the pipe
	<-done
	return out, cmd.ProcessState, nil
}

// environment is never nil: that would hand over this process's own.
func (h *host) environment() []string { return append([]string{}, h.o.Env...) }
