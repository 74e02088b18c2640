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

// The answers that are more than yes and no.
const (
	forNow = "c" // yes, for this conversation
	always = "a" // yes, and a rule that is kept
)

// approve asks the user about a call of the agent's own tools.
func (g *gate) approve(ctx context.Context, r *hosttool.Request) (hosttool.Answer, error) {
	if isTyped(ctx) {
		return hosttool.Answer{Allowed: true}, nil
	}
	proposal, ok := g.current().Propose(r.Call)
	if r.Decision.Rule.Text != "" || r.Call.Kind == permit.Command && r.Call.Special != "" || g.current().Doubt() {
		ok = false // a rule that allows would not hold
	}
	q := question(r)
	q.Choices = g.choices(r, &proposal, ok)
	answer, err := g.approver.Answer(ctx, q)
	if err != nil {
		return hosttool.Answer{}, err
	}
	switch answer {
	case "y":
		return hosttool.Answer{Allowed: true}, nil
	case forNow:
		return hosttool.Answer{Allowed: true, For: "conversation"}, g.allowForNow(r, proposal.Rule)
	case always, always + inProject, always + everywhere:
		return g.allowAlways(ctx, r, proposal, strings.TrimPrefix(answer, always))
	case "n":
		return g.why(ctx)
	}
	return hosttool.Answer{}, nil
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

// choices returns the answers to a question. p is the rule that could be added, if ruled.
func (g *gate) choices(r *hosttool.Request, p *permit.Proposal, ruled bool) []ui.Choice {
	out := []ui.Choice{{Key: "y", Label: "yes"}}
	plain := r.Call.Kind == permit.Edit && r.Call.Special == "" && r.Decision.Rule.Text == ""
	switch {
	case plain && !g.current().Doubt():
		out = append(out, ui.Choice{Key: forNow, Label: "yes, and all changes of files in this conversation"})
	case ruled:
		out = append(out, ui.Choice{Key: forNow, Label: "yes, and " + p.Rule + " in this conversation" + held(r, p)})
	}
	if ruled && (g.mayKeep() || g.keepsEverywhere()) {
		out = append(out, ui.Choice{Key: always, Label: "always: keep a rule", Then: g.keeps(r, p)})
	}
	return append(out, ui.Choice{Key: "n", Label: "no"})
}

// held says how far a rule for the conversation reaches.
func held(r *hosttool.Request, p *permit.Proposal) string {
	switch {
	case r.Call.Confined:
		return ", in the sandbox"
	case p.Reach != "":
		return ": any code can run"
	}
	return ""
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

// keeps are the answers that keep a rule at once, where a question shows all answers together.
func (g *gate) keeps(r *hosttool.Request, p *permit.Proposal) []ui.Choice {
	reach := ""
	if r.Call.Confined {
		reach = ", outside the sandbox too"
	}
	if p.Reach != "" {
		reach += ": any code can run, " + p.Reach
	}
	out := g.places()
	out = out[:len(out)-3] // the others write another rule, or none
	for i := range out {
		out[i].Label = "always allow " + p.Rule + " " + out[i].Label + reach
	}
	return out
}

// allowAlways shows the rule, and keeps it for this project or for all of them if the user says so; where says which if that is known.
func (g *gate) allowAlways(ctx context.Context, r *hosttool.Request, p permit.Proposal, where string) (hosttool.Answer, error) {
	for ; ; where = "" {
		details := []string{"permissions:", "  allow:", "    - " + p.Rule}
		if r.Call.Confined {
			details = append(details, "", "This allows the command outside the sandbox too.")
		}
		if p.Reach != "" {
			details = append(details, "", "This allows any code to run: "+p.Reach+".")
		}
		answer, err := where, error(nil)
		if where == "" {
			answer, err = g.approver.Answer(ctx, &ui.Question{Text: "Where does this rule hold?", Details: details, Choices: g.places()})
		}
		switch {
		case err != nil:
			return hosttool.Answer{}, err
		case answer == "e":
			if p, err = g.another(ctx, p); err != nil {
				return hosttool.Answer{}, err
			}
			continue
		case answer == inProject:
			return hosttool.Answer{Allowed: true, For: "project"}, g.keep(ctx, p.Rule)
		case answer == everywhere:
			path := g.s.Settings.Config().Paths.UserConfig()
			if _, err := config.Permit(ctx, path, p.Rule); err != nil {
				return hosttool.Answer{}, err
			}
			return hosttool.Answer{Allowed: true, For: "always"}, g.add(permit.Rule{Text: p.Rule, Origin: path})
		case answer == "n":
			return g.why(ctx)
		}
		return hosttool.Answer{Allowed: answer == "o"}, nil
	}
}

// The answers that keep a rule.
const (
	inProject  = "p"
	everywhere = "y"
)

// places are the answers about a rule that is kept.
func (g *gate) places() []ui.Choice {
	var out []ui.Choice
	if g.mayKeep() {
		out = append(out, ui.Choice{Key: inProject, Label: "in this project"})
	}
	if g.keepsEverywhere() {
		out = append(out, ui.Choice{Key: everywhere, Label: "in every project: it is added to " + g.s.Settings.Config().Paths.UserConfig()})
	}
	return append(out, ui.Choice{Key: "e", Label: "write another rule"}, ui.Choice{Key: "o", Label: "no rule, only this once"}, ui.Choice{Key: "n", Label: "no"})
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
	answer, err := g.approver.Answer(ctx, &ui.Question{Text: text, Details: details, Choices: []ui.Choice{{Key: "y", Label: "yes"}, {Key: "n", Label: "no"}}})
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
