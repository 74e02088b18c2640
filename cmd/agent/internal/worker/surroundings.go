package worker

import (
	"context"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/surroundings"
	"github.com/agent-base/agent-base/disclose"
)

// readContext returns the texts for agents of the user and of the project, none if the user does not want them.
func (w *worker) readContext() *surroundings.Texts {
	if w.bare {
		return &surroundings.Texts{}
	}
	return Texts(w.s, w.gate.current())
}

// Texts returns the texts for agents that a conversation begins with, without those that the rules of a policy keep from it.
func Texts(s *app.Services, policy *permit.Policy) *surroundings.Texts {
	cfg := s.Settings.Config()
	if !cfg.Agent.Context {
		return &surroundings.Texts{}
	}
	return surroundings.Read(readOptions(s, policy))
}

// readAgents returns the files of sub-agents, none if the user wants no texts for agents.
func (w *worker) readAgents() (agents []surroundings.Agent, notes []string) {
	if w.bare || !w.s.Settings.Config().Agent.Context {
		return nil, nil
	}
	agents, notes = surroundings.Agents(readOptions(w.s, w.gate.current()))
	return slices.DeleteFunc(agents, func(a surroundings.Agent) bool { // those of the program are what they are
		return slices.ContainsFunc(roles, func(r role) bool { return r.name == a.Name })
	}), notes
}

// textsBelow returns the paths of the texts for agents that are about a path of the project, without those that the conversation began with.
func (w *worker) textsBelow(path string) []string {
	if w.bare || !w.s.Settings.Config().Agent.Context {
		return nil
	}
	return surroundings.Below(readOptions(w.s, w.gate.current()), path)
}

// ReadsAgents reports whether files of sub-agents are read in a folder, which is a slash path below the project.
func ReadsAgents(s *app.Services, path string) bool {
	return s.Settings.Config().Agent.Context && surroundings.HasAgents(path)
}

// readOptions says whose texts are read, and which of them rules keep from agents.
func readOptions(s *app.Services, policy *permit.Policy) *surroundings.Options {
	cfg := s.Settings.Config()
	return &surroundings.Options{Home: cfg.Paths.Home, Agent: cfg.Paths.Agent, Root: cfg.Paths.Project, Dir: s.Sys.Dir,
		Denied: func(path string) bool {
			d := policy.Decide(&permit.Call{Tool: "read_file", Kind: permit.Read, Path: path})
			return d.Verdict == permit.Denied || d.Verdict == permit.Asked && d.Rule.Text != ""
		}}
}

// contextNews says which of the texts in the system text have changed since the model was last told, "" for none.
func (w *worker) contextNews() string {
	now := w.readContext()
	changed := w.context.Changed(now)
	if len(changed) == 0 {
		return ""
	}
	w.context = now
	return "[Changed since the beginning of this conversation: " + strings.Join(changed, ", ") + ". Read what matters for the task.]"
}

// sayContext tells the user what of the texts for agents was not read.
func (w *worker) sayContext() {
	for _, note := range append(slices.Clone(w.context.Notes), w.unread...) {
		w.s.Out.Warn(note)
	}
}

// change begins a change of the conversation, and returns the function that ends it.
func (t *talk) change() (end func()) {
	t.changing.Lock()
	t.measure()
	return t.changing.Unlock
}

// measure notes the estimated tokens of each part of the next request.
func (t *talk) measure() {
	w, found := t.w, t.model()
	texts, skills, p := disclose.Tokens(w.context.Body()), w.plan.Prefix().Tokens, w.prefix()
	all := w.conversation.Size()
	rows := [][]string{
		{"system text", chat.Number(max(p.System-texts-skills, 0))}, {"texts for agents", chat.Number(texts)}, {"list of skills", chat.Number(skills)},
		{"tools", chat.Number(p.Tools)}, {"date, system and git status", chat.Number(w.started)}, {"other messages", chat.Number(max(all-p.System-p.Tools-w.started, 0))}, {"together", chat.Number(all)},
		{"window of " + found.String(), chat.Number(window(w.s.Settings.Config(), &found.Facts))},
	}
	for _, f := range w.context.Files {
		rows = append(rows, []string{"  " + f.Path, chat.Number(disclose.Tokens(f.Text))})
	}
	t.parts.Store(&rows)
}

// contextCommand shows the estimated tokens of each part of the next request, or while the model works, of the last one.
func (t *talk) contextCommand(context.Context, string) (string, error) {
	if t.changing.TryLock() {
		t.measure()
		t.changing.Unlock()
	}
	return t.printed(func(s *app.Services) error { return s.Out.Table([]string{"PART", "TOKENS"}, *t.parts.Load()) })
}
