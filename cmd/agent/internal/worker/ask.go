package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// ask answers a prompt. What the typed part asks for besides comes first, see typed. Piped input asks for nothing. The model is shown what with has. What the session holds, it holds until the answer.
func (w *worker) ask(ctx context.Context, prompt, typed string, with ...llm.Media) iter.Seq2[agent.Step, error] {
	return func(yield func(agent.Step, error) bool) {
		defer w.session.Release()
		w.prompts++
		ctx := trace.WithIdentity(w.as(ctx), trace.Identity{Correlation: fmt.Sprintf("%s-%d", w.id, w.prompts)})
		w.shown = nil
		result, said, err := w.typed(ctx, typed)
		for _, m := range with {
			err = cmp.Or(err, w.take(m))
		}
		if err != nil {
			yield(agent.Step{Done: &agent.Answer{Stop: agent.Failed}}, err)
			return
		}
		for _, notice := range said {
			if !yield(agent.Step{Notice: notice}, nil) {
				return
			}
		}
		if result != nil && (!yield(agent.Step{Call: result.Call}, nil) || !yield(agent.Step{Result: result}, nil)) {
			return
		}
		if err := w.s.Settings.Policy().Err(); err != nil {
			yield(agent.Step{Done: &agent.Answer{Stop: agent.Failed}}, err)
			return
		}
		w.keep.begin(ctx, w, prompt)
		defer w.keep.end(w, nil, nil)
		if w.journal != nil {
			w.journal.Begin(typed, w.prompts)
		}
		for step, err := range w.conversation.Ask(ctx, prompt, w.shown...) {
			if step.Done != nil {
				w.keep.end(w, step.Done, err)
			}
			if notice := w.keep.failure(); notice != "" && !yield(agent.Step{Notice: notice}, nil) {
				return
			}
			if !yield(step, err) {
				return
			}
			for _, notice := range w.notices(step) {
				if !yield(agent.Step{Notice: notice}, nil) {
					return
				}
			}
		}
	}
}

// typed does what the user typed besides a text: "/NAME ARGUMENTS" activates a skill, which is shown as a call; "/LABEL:NAME ARGUMENTS" takes
// a prompt of an MCP server, "@LABEL:URI" a resource and "@PATH" a file, for the next turn. said is a row about each file.
func (w *worker) typed(ctx context.Context, text string) (shown *agent.Result, said []string, err error) {
	files := w.attach(ctx, chat.Mentions(text))
	w.attached = files.text
	name, args, ok := chat.CutCommand(text)
	if !ok {
		return nil, files.said, nil
	}
	prompt, ok, err := w.servers.prompt(ctx, name, args)
	if ok {
		w.attached = disclose.Join(w.attached, prompt)
		return nil, files.said, err
	}
	if _, err := w.catalog().Lookup(name); err != nil && strings.Contains(name, ":") {
		return nil, files.said, nil // neither a server nor a skill: a text
	}
	shown, err = w.invoke(ctx, name, args)
	return shown, files.said, err
}

// continued runs the hooks that want to know that the model has answered, and returns what else they want it to do.
func (w *worker) continued(ctx context.Context, kit *skilltool.Kit, before int) string {
	more, failures := kit.Stopped(ctx, before)
	if kit == w.kit { // the user's are about the conversation, and not about a sub-agent
		own, failed := w.hooks.stopped(ctx, before)
		more, failures = disclose.Join(append(own, more)...), append(failures, failed...)
	}
	for _, text := range failures {
		w.emit(ctx, slog.LevelWarn, text)
	}
	return more
}

// notices returns what the user should know after a step, and its result does not say.
func (w *worker) notices(step agent.Step) []string {
	if step.Result == nil {
		return w.takeKept()
	}
	out := w.jobs.Ended(true)
	if warning := w.unconfined(step); warning != "" {
		out = append(out, warning)
	}
	if broken := w.kit.Broken(); step.Result.Result.Success { // a failure says it itself
		out = append(out, broken...)
	}
	return out
}

// unconfined returns the warning that a script ran where files are not confined: the first time in a conversation, else "".
func (w *worker) unconfined(step agent.Step) string {
	if w.warned || step.Result == nil {
		return ""
	}
	warning := w.s.Sandbox.Warning(skilltool.Confined(&step.Result.Result))
	w.warned = warning != ""
	return warning
}

// invoke activates a skill that the user named, and keeps the text for the next turn.
func (w *worker) invoke(ctx context.Context, name, args string) (*agent.Result, error) {
	e, err := callable(w.catalog(), name)
	if err != nil {
		return nil, err
	}
	begun := w.s.Sys.Now()
	r, turn := w.kit.Invoke(ctx, name, args)
	if !r.Success {
		return nil, &failure.Error{Exit: failure.ScriptExit(r), Code: string(r.Error), Err: errors.New(r.Message)}
	}
	r.Duration = w.s.Sys.Now().Sub(begun)
	given := map[string]string{"skill_name": e.Name()}
	if args != "" {
		given["args"] = args
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	w.invoked, w.byUser = turn, &llm.Call{ID: "user", Name: "skill", Args: raw}
	return &agent.Result{Call: w.byUser, Result: r, Text: turn}, nil
}

// callable returns the skill that the user named. The error says why it cannot be activated, and what to do.
func callable(cat *skill.Catalog, name string) (skill.Entry, error) {
	e, err := cat.Lookup(name)
	var missing *skill.NotFoundError
	switch {
	case errors.As(err, &missing):
		return e, &failure.Error{Exit: failure.ExitNotFound, Code: string(tool.NotFound), Err: err,
			Hint: "a prompt that begins with \"/NAME\" activates a skill; agent skill list shows them"}
	case err != nil:
		return e, err
	case e.State() != skill.StateHidden:
		return e, library.MustBeVisible(cat, name)
	}
	return e, nil
}

// skills returns the skills that the user may name in a conversation.
func (t *talk) skills() []chat.Skill {
	var out []chat.Skill
	for e := range t.watch.Catalog().All() {
		there := e.State() == skill.StateEnabled || e.State() == skill.StateHidden
		out = append(out, chat.Skill{Name: e.Canonical(), About: e.Brief(), Refused: !there || !e.UserInvocable()})
	}
	return out
}
