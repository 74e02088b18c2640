package worker

import (
	"context"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/saved"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// What the user allowed for the rest of a conversation is noted with it. When the conversation continues it holds again only if the
// user says so: a file gives no right.

// The kinds of what is allowed.
const (
	allowedMode = "mode"
	allowedRule = "rule"
	allowedHost = "host"          // for commands and pages
	scriptsHost = "scripts' host" // SKILL HOST
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

// allowedBefore returns what the user had allowed, without the mode if they have chosen another since then.
func (w *worker) allowedBefore() []saved.Approval {
	now, chosen := w.gate.mode()
	return slices.DeleteFunc(lastMode(w.keep.allowed, now), func(a saved.Approval) bool { return chosen && a.Kind == allowedMode })
}

// before says what the user had allowed before the conversation continued, or "" for nothing.
func (w *worker) before(what string) string {
	var texts []string
	for _, a := range w.allowedBefore() {
		texts = append(texts, describe(a))
	}
	if len(texts) == 0 {
		return ""
	}
	return "you had allowed, and are asked " + what + ": " + strings.Join(texts, ", ")
}

// offer asks once whether that holds again. It returns what cannot be allowed any more.
func (w *worker) offer(ctx context.Context) []string {
	list := w.allowedBefore()
	w.keep.allowed = nil
	if len(list) == 0 {
		return nil
	}
	q := &ui.Question{Text: "Allow again what you had allowed for this conversation?",
		Choices: []ui.Choice{{Key: "y", Label: "yes, all of it"}, {Key: "n", Label: "no: ask me again"}}}
	for _, a := range list {
		q.Details = append(q.Details, describe(a))
	}
	if answer, err := w.approver.Answer(ctx, q); err != nil || answer != "y" {
		return nil
	}
	return w.again(list)
}

// describe says what an approval is about.
func describe(a saved.Approval) string {
	switch {
	case a.Kind == allowedMode:
		return "the mode " + a.Text
	case a.Kind == allowedHost:
		return "commands and pages reach " + a.Text
	case a.Kind == scriptsHost:
		whose, host, _ := strings.Cut(a.Text, " ")
		return "scripts of " + whose + " reach " + host
	case a.Confined:
		return a.Text + ", in the sandbox"
	}
	return a.Text
}

// again allows what was allowed before. It returns what cannot be allowed any more.
func (w *worker) again(list []saved.Approval) (lost []string) {
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
			w.hosts.allow("", a.Text)
		case scriptsHost:
			if whose, host, ok := strings.Cut(a.Text, " "); ok && whose != "" {
				w.hosts.allow(whose, host)
			}
		}
		if err != nil {
			lost = append(lost, describe(a)+" is not allowed again: "+err.Error())
		}
	}
	return lost
}
