package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// typedKey marks the context of a call that the user typed: of a command, or of a resource of a server.
type typedKey struct{}

// isTyped reports whether the user typed the call that is decided about: it needs no question, and modes do not bind it. Rules
// that deny, and the policy of the organisation, do.
func isTyped(ctx context.Context) bool { return ctx.Value(typedKey{}) != nil }

// shellCommand reads a prompt that is a command: "!CMD" for the sandbox, "!!CMD" for outside it.
func shellCommand(prompt string) (command string, outside, ok bool) {
	command, ok = strings.CutPrefix(prompt, "!")
	if rest, twice := strings.CutPrefix(command, "!"); ok && twice {
		command, outside = rest, true
	}
	command = strings.TrimSpace(command)
	return command, outside, ok && command != ""
}

// mostTold is how much of the output of a user's command the model is told, in bytes.
const mostTold = 10_000

// userCall begins the ID of a call that the user made. A provider's begin otherwise.
const userCall = "user-"

// shell runs a command that the user typed, as the tool bash does, and shows it as a call. No model is asked; the next turn tells it.
func (t *talk) shell(ctx context.Context, command string, outside bool, yield func(agent.Step, error) bool) {
	w := t.w
	w.shells++
	args, err := json.Marshal(map[string]any{"command": command, "write": true, "outside": outside, "timeout_ms": 600_000})
	if err != nil {
		yield(agent.Step{}, err)
		return
	}
	call := &llm.Call{ID: fmt.Sprintf("%s%d", userCall, w.shells), Name: "bash", Args: args}
	if !yield(agent.Step{Call: call}, nil) {
		return
	}
	ctx = context.WithValue(tool.WithCall(tool.WithWatch(w.as(ctx), w.watched), call.ID, call.Name), typedKey{}, true)
	hooks := w.hooks
	if outside {
		hooks = nil // it is the user's own shell, as in another terminal
	}
	r, said := w.callForUser(ctx, call.Name, args, hooks)
	w.tell(disclose.Join(ranText(command, outside, &r), said))
	_ = yield(agent.Step{Result: &agent.Result{Call: call, Result: r, Text: string(r.Encode())}}, nil) && yield(agent.Step{Done: &agent.Answer{Stop: agent.End}}, nil)
}

// printed returns what a command that the user typed printed.
func printed(r *agent.Result) string {
	ran, ok := r.Result.Result.(hosttool.Ran)
	if !ok || !strings.HasPrefix(r.Call.ID, userCall) {
		return ""
	}
	return ran.Output
}

// ranText tells the model what the user ran.
func ranText(command string, outside bool, r *tool.Result) string {
	where := ""
	if outside {
		where = ", outside the sandbox"
	}
	text := fmt.Sprintf("The user ran a command%s: %s\n", where, command)
	ran, ok := r.Result.(hosttool.Ran)
	switch {
	case !ok:
		return text + "It did not run: " + r.Message
	case ran.Output == "":
		return text + fmt.Sprintf("It printed nothing and ended with exit code %d.", ran.ExitCode)
	}
	out := ran.Output
	if n := len(out); n > mostTold {
		out = strings.ToValidUTF8(out[:mostTold], "") + fmt.Sprintf("\n(the rest of %d bytes is left out)", n)
	}
	return text + fmt.Sprintf("It ended with exit code %d and printed:\n%s", ran.ExitCode, out)
}
