package servers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/want"
)

// OfEditor returns the servers that an editor names.
func (m *Servers) OfEditor(ctx context.Context) []*Entry {
	list, _ := m.List(ctx)
	return slices.DeleteFunc(list, func(e *Entry) bool { return !e.ofEditor() })
}

func (e *Entry) ofEditor() bool {
	return e.Origin.Rank == config.Project && e.Origin.Name == setup.ByEditor
}

// withRegistry is the answer that also opens the registry of the server's package.
const withRegistry = "r"

// Question is what the user is asked before a server is approved.
func (e *Entry) Question(text string, details []string) *ui.Question {
	q := &ui.Question{Text: text, Details: details}
	if hosts := e.Needs(); len(hosts) > 0 {
		q.Choices = []ui.Choice{{Key: withRegistry, Label: "yes, and let it fetch its package from " + strings.Join(hosts.Named(want.Host), ", ")},
			{Key: "y", Label: "yes, without that"}, {Key: "n", Label: "no"}}
	}
	return q
}

// Approved reports whether an answer to the question is a yes, and returns what the program gets with it.
func (e *Entry) Approved(answer string, given want.Set) (want.Set, bool) {
	if answer == withRegistry {
		given = given.Add(e.Needs()...)
	}
	return given, answer == "y" || answer == withRegistry
}

// Facts are lines that show what is started or reached. Of variables and headers they have the names alone.
func (e *Entry) Facts() []string {
	lines := []string{e.What()}
	for name, of := range map[string]map[string]string{"variables": e.Env, "headers": e.Headers} {
		if len(of) > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s", name, strings.Join(slices.Sorted(maps.Keys(of)), ", ")))
		}
	}
	return lines
}
