package worker

import (
	"strings"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/surroundings"
)

// readContext returns the texts for agents of the user and of the project, none if the user does not want them.
func (w *worker) readContext() *surroundings.Texts {
	cfg := w.s.Settings.Config()
	if !cfg.Agent.Context || w.bare {
		return &surroundings.Texts{}
	}
	return surroundings.Read(&surroundings.Options{Home: cfg.Paths.Home, Agent: cfg.Paths.Agent, Root: cfg.Paths.Project, Dir: w.s.Sys.Dir,
		Denied: func(path string) bool {
			d := w.gate.current().Decide(&permit.Call{Tool: "read_file", Kind: permit.Read, Path: path})
			return d.Verdict == permit.Denied || d.Verdict == permit.Asked && d.Rule.Text != ""
		}})
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
	for _, note := range w.context.Notes {
		w.s.Out.Warn(note)
	}
}
