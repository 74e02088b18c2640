package hosttool

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/tool"
)

// A Runner runs what the model asked for, with one output, and its result says what confined it.
func TestBashRunner(t *testing.T) {
	var got *Command
	var fails error
	timedOut := false
	k := newKit(t, func(o *Options) {
		allow(o)
		o.Runner = func(ctx context.Context, c *Command) (*Output, error) {
			got = c
			cmd := exec.CommandContext(ctx, c.Path, c.Args[1:]...)
			cmd.Args, cmd.Dir, cmd.Env = c.Args, c.Dir, c.Env
			b, _ := cmd.Output()
			return &Output{Stdout: b, Total: int64(len(b)), ExitCode: cmd.ProcessState.ExitCode(), TimedOut: timedOut, Sandbox: "held"}, fails
		}
	})
	for _, row := range []struct{ command, want string }{
		{`echo $GREETING; echo err >&2; pwd`, `{"success":true,"result":{"output":"hi\nerr\n` + k.ws + `\n","exit_code":0},"message":"The command ended"`},
		{`echo said; exit 3`, `{"success":false,"error":"execution_failed","message":"The command ended with exit code 3","result":{"output":"said\n","exit_code":3}`},
		{`echo 'a \"b\" $(echo c)' \"$0\"`, `{"success":true,"result":{"output":"a \"b\" $(echo c) `},
	} {
		k.want("bash", `{"command":"`+row.command+`"}`, row.want)
	}
	if got.Timeout != usualTimeout || got.Dir != k.ws {
		t.Errorf("got %+v", got)
	}
	long := k.call("bash", `{"command":"i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"}`).Result.(Ran)
	if long.Bytes != 208890 || !strings.HasSuffix(long.Output, "line 19999\n") {
		t.Errorf("got %d bytes, %q", long.Bytes, long.Output[len(long.Output)-40:])
	}
	timedOut = true
	if r := k.call("bash", `{"command":"echo x","timeout_ms":50}`); r.Error != tool.Timeout || r.Message != "The command was stopped after 50ms" || r.Result.(Ran).Output != "x\n" {
		t.Errorf("got %s", text(r))
	}
	fails = errors.New("no sandbox")
	k.want("bash", `{"command":"true"}`, `{"success":false,"error":"execution_failed","message":"The command could not be started: no sandbox"`)
}

// A change that was taken back fails the command, also one that ended well, and the result says what may have denied it.
func TestBashSaysWhatWasTakenBack(t *testing.T) {
	k := newKit(t, func(o *Options) {
		allow(o)
		o.Runner = func(context.Context, *Command) (*Output, error) {
			return &Output{Undone: "The command changed docs", Why: "a rule denies that"}, nil
		}
	})
	k.want("bash", `{"command":"true"}`, `{"success":false,"error":"execution_failed","message":"The command changed docs; a rule denies that","result":{"output":"","exit_code":0}`)
}
