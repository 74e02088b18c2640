package worker

import (
	"context"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/agent/saved"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// What the user allowed for the rest of a conversation is noted with it. When the conversation continues it holds again only if the
// user says so: a file gives no right.

// The kinds of what is allowed.
const (
	allowedMode = "mode"
	allowedRule = "rule"
	allowedHost = "host" // for commands
)

// approve notes what the user allowed.
func (k *keeper) approve(kind, text string, confined bool) {
	if k.log != nil {
		k.log.Approve(&saved.Approval{Kind: kind, Text: text, Confined: confined})
	}
}

// lastMode leaves of the modes the last one, and nothing if that is the present one.
func lastMode(list []saved.Approval, now permit.Mode) []saved.Approval {
	last := ""
	for _, a := range list {
		if a.Kind == allowedMode {
			last = a.Text
		}
	}
	found := false
	return slices.DeleteFunc(slices.Clone(list), func(a saved.Approval) bool {
		if a.Kind != allowedMode {
			return false
		}
		again := found
		found = found || a.Text == last
		return again || a.Text != last || last == string(now)
	})
}

// offer asks with ask whether what was allowed before holds again, or says that it does not where nobody can be asked.
func (w *worker) offer(ctx context.Context, ask func(context.Context, *ui.Question) (string, error)) error {
	list := lastMode(w.keep.allowed, w.gate.current().Mode())
	if len(list) == 0 {
		return nil
	}
	var texts []string
	for _, a := range list {
		texts = append(texts, describe(a))
	}
	if ask != nil {
		answer, err := ask(ctx, &ui.Question{Text: "Allow again what you had allowed for this conversation?", Details: texts,
			Choices: []ui.Choice{{Key: "y", Label: "yes, all of it"}, {Key: "n", Label: "no: ask me again"}}})
		if err != nil {
			return err
		}
		if answer == "y" {
			w.again(list)
			return nil
		}
	}
	w.keep.said = append(w.keep.said, "you had allowed, and are asked again: "+strings.Join(texts, ", "))
	return nil
}

// describe says what an approval is about.
func describe(a saved.Approval) string {
	switch {
	case a.Kind == allowedMode:
		return "the mode " + a.Text
	case a.Kind == allowedHost:
		return "commands reach " + a.Text
	case a.Confined:
		return a.Text + ", in the sandbox"
	}
	return a.Text
}

// again allows what was allowed before. What cannot be allowed any more is said.
func (w *worker) again(list []saved.Approval) {
	for _, a := range list {
		var err error
		switch a.Kind {
		case allowedMode:
			if slices.Contains(permit.Modes(), permit.Mode(a.Text)) {
				err = w.gate.setMode(permit.Mode(a.Text))
			}
		case allowedRule:
			err = w.gate.add(permit.Rule{Text: a.Text, Origin: "this conversation", Confined: a.Confined})
		case allowedHost:
			w.hosts.mu.Lock()
			w.hosts.allowed[""] = append(w.hosts.allowed[""], a.Text)
			w.hosts.mu.Unlock()
		}
		if err != nil {
			w.keep.said = append(w.keep.said, describe(a)+" is not allowed again: "+err.Error())
		}
	}
}
