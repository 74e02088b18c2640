package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/diff"
	"github.com/agent-base/agent-base/internal/hosttool"
)

// Bounds of a diff in a question. A special file is shown whole.
const (
	maxShown = 200 // lines
	maxWide  = 500 // bytes of a line
)

// The answers that are more than yes and no. A key means the same in every question.
const (
	forNow     = "c" // yes, for this conversation
	inProject  = "p" // yes, and a rule that is kept for this project
	everywhere = "a" // yes, and a rule that is kept for all of them
	another    = "e" // another rule
)

// approve asks the user about a call of the agent's own tools.
func (g *gate) approve(ctx context.Context, r *hosttool.Request) (hosttool.Answer, error) {
	if isTyped(ctx) {
		return hosttool.Answer{Allowed: true}, nil
	}
	p, ok := g.current().Propose(r.Call)
	if r.Decision.Rule.Text != "" || r.Call.Kind == permit.Command && r.Call.Special != "" || g.current().Doubt() {
		ok = false // a rule that allows would not hold
	}
	for {
		q := question(r)
		q.Choices = g.choices(r, ok)
		if ok {
			q.Note = ruleNote(&p)
		}
		answer, err := g.approver.Answer(ctx, q)
		switch {
		case err != nil:
			return hosttool.Answer{}, err
		case answer == forNow:
			return hosttool.Answer{Allowed: true, For: "conversation"}, g.allowForNow(r, p.Rule)
		case answer == inProject:
			return hosttool.Answer{Allowed: true, For: "project"}, g.keep(ctx, p.Rule)
		case answer == everywhere:
			return hosttool.Answer{Allowed: true, For: "always"}, g.keepEverywhere(ctx, p.Rule)
		case answer == "n":
			return g.why(ctx)
		case answer != another:
			return hosttool.Answer{Allowed: answer == "y"}, nil
		}
		if p, err = g.another(ctx, p); err != nil {
			return hosttool.Answer{}, err
		}
	}
}

// question returns what the user is asked about a call, without the answers.
func question(r *hosttool.Request) *ui.Question {
	because := ""
	if r.Decision.Rule.Text != "" || r.Call.Special != "" || r.Decision.Doubt {
		because = " " + sentence(r.Decision.Reason)
	}
	switch r.Call.Kind {
	case permit.Command:
		text := "Run this command as you, outside any sandbox?"
		if r.Call.Confined {
			text = "Run this command in the sandbox, where it can change files of the project?"
		}
		if r.Call.Special != "" { // who may use the keys is asked each time
			text = "Run this command in the sandbox, where it can change files of the project, and use your keys?"
		}
		if r.Background {
			text = strings.Replace(text, "this command", "this command in the background", 1)
		}
		return &ui.Question{Text: text + because, Details: commandLines(r.Command)}
	case permit.Edit:
		o := diff.Options{Lines: maxShown, Width: maxWide}
		if r.Call.Special != "" {
			o = diff.Options{}
		}
		d := diff.Of(r.Before, r.After, o)
		verb := "Create"
		if r.Existed {
			verb = "Change"
		}
		return &ui.Question{Text: fmt.Sprintf("%s %q? (%s)%s", verb, r.Path, d.Summary(), because), Details: diffLines(d.Lines), Diff: true,
			Change: &ui.Change{Path: r.Call.Path, Existed: r.Existed, Before: r.Before, After: r.After}}
	case permit.Server:
		return &ui.Question{Text: fmt.Sprintf("Let the model call %s? %s", r.Call.Tool, sentence(r.Decision.Reason)), Details: commandLines(string(r.Call.Args))}
	}
	return &ui.Question{Text: fmt.Sprintf("Let the model read %q?%s", r.Path, because)}
}

// ruleNote shows the rule that choices name. It is the model's text, and ends the note.
func ruleNote(p *permit.Proposal) string {
	if p.Reach != "" {
		return "The rule, by which any code can run (" + p.Reach + "): " + ui.Exact(p.Rule)
	}
	return "The rule: " + ui.Exact(p.Rule)
}

// choices returns the answers to a question. ruled says that a rule can be added. This project comes before all of them.
func (g *gate) choices(r *hosttool.Request, ruled bool) []ui.Choice {
	out := []ui.Choice{{Key: "y", Label: "yes"}}
	add := func(key, label string) { out = append(out, ui.Choice{Key: key, Label: label, Lasts: true}) }
	reach, inside := "", ""
	if r.Call.Confined {
		reach, inside = ", outside the sandbox too", ", in the sandbox"
	}
	plain := r.Call.Kind == permit.Edit && r.Call.Special == "" && r.Decision.Rule.Text == ""
	switch {
	case plain && !g.current().Doubt():
		add(forNow, "yes, and all changes of files in this conversation")
	case ruled:
		add(forNow, "yes, and the rule in this conversation"+inside)
	}
	project, all := ruled && g.mayKeep(), ruled && g.keepsEverywhere()
	if project {
		add(inProject, "yes, and the rule always in this project"+reach)
	}
	if all {
		add(everywhere, "yes, and the rule always in every project"+reach)
	}
	if project || all {
		out = append(out, ui.Choice{Key: another, Label: "write another rule", Writes: true})
	}
	return append(out, ui.Choice{Key: "n", Label: "no"})
}

// allowForNow does what the answer for this conversation says.
func (g *gate) allowForNow(r *hosttool.Request, rule string) error {
	if r.Call.Kind == permit.Edit && r.Call.Special == "" {
		return g.setMode(permit.AcceptEdits)
	}
	g.note(allowedRule, rule, r.Call.Confined)
	return g.add(permit.Rule{Text: rule, Origin: "this conversation", Confined: r.Call.Confined})
}

// keepsEverywhere reports whether a rule can be added to the user's settings, which hold for every tenant.
func (g *gate) keepsEverywhere() bool {
	cfg := g.s.Settings.Config()
	return cfg.Paths.UserConfig() != "" && cfg.Tenant == ""
}

// keepEverywhere keeps a rule in the user's settings.
func (g *gate) keepEverywhere(ctx context.Context, rule string) error {
	path := g.s.Settings.Config().Paths.UserConfig()
	if _, err := config.Permit(ctx, path, rule); err != nil {
		return err
	}
	return g.add(permit.Rule{Text: rule, Origin: path})
}

// keep keeps rules for this project.
func (g *gate) keep(ctx context.Context, rules ...string) error {
	store := g.s.Settings.ProjectRules()
	if err := store.Add(ctx, rules...); err != nil {
		return err
	}
	var failed []error
	for _, rule := range rules {
		failed = append(failed, g.add(permit.Rule{Text: rule, Origin: store.File()}))
	}
	return errors.Join(failed...)
}

// mayKeep reports whether rules can be kept for the project, and would hold.
func (g *gate) mayKeep() bool {
	return g.s.Settings.ProjectRules().File() != "" && !g.current().Doubt()
}

// another asks for a rule until it can be read. An empty answer keeps p.
func (g *gate) another(ctx context.Context, p permit.Proposal) (permit.Proposal, error) {
	details := []string{}
	for {
		text, err := g.approver.Answer(ctx, &ui.Question{Text: "Which rule, such as " + p.Rule + "?", Details: details, Free: true})
		if text = strings.TrimSpace(text); err != nil || text == "" {
			return p, err
		}
		if _, err = g.current().WithAllow(permit.Rule{Text: text}); err == nil {
			return permit.Proposal{Rule: text, Reach: permit.Reach(text)}, nil
		}
		details = []string{err.Error()}
	}
}

// why asks what the model is told about a refusal.
func (g *gate) why(ctx context.Context) (hosttool.Answer, error) {
	text, err := g.approver.Answer(ctx, &ui.Question{Text: "Why not? The model gets your answer; Enter gives no reason.", Free: true})
	return hosttool.Answer{Why: text}, err
}

// askOnce asks a question whose only answers are yes and no.
func (g *gate) askOnce(ctx context.Context, text string, details []string) (hosttool.Answer, error) {
	answer, err := g.approver.Answer(ctx, &ui.Question{Text: text, Details: details})
	switch {
	case err != nil:
		return hosttool.Answer{}, err
	case answer == "n":
		return g.why(ctx)
	}
	return hosttool.Answer{Allowed: answer == "y"}, nil
}

// sentence makes a sentence of a clause.
func sentence(clause string) string {
	first, size := utf8.DecodeRuneInString(clause)
	return string(unicode.ToUpper(first)) + clause[size:] + "."
}

// commandLines returns a command as a question shows it. Whatever looks like a space is a space.
func commandLines(command string) []string {
	return strings.Split(ui.Exact(command), "\n")
}

// diffLines returns the lines of a diff as a question shows them.
func diffLines(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = ui.DiffLine(line)
	}
	return out
}
