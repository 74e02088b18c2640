package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skill"
)

type promptOptions struct {
	out      *app.Printer
	settings *app.Settings
	skills   *app.Library

	style, query string
	budget       int
	tokens, json bool
}

func newPromptCommand(s *app.Services, run func(context.Context, *promptOptions) error) *cobra.Command {
	o := &promptOptions{out: s.Out, settings: s.Settings, skills: s.Skills}
	c := &cobra.Command{
		Use:   "prompt",
		Short: "Print what a model is told of the skills",
		Long: `Print the list of skills as a model gets it, and nothing else.

With --query it is what the model gets beside that message, when skills are offered by their triggers;
nothing where the disclosure is minimal.
With --tokens it is what each skill costs instead. Tokens are estimated.`,
		Example: `  agent skill prompt
  agent skill prompt --tokens
  agent skill prompt --style registry --budget 500
  agent skill prompt --query "what are the odds of rain?"`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.style, "style", "", "`STYLE` of the list: "+strings.Join(styles(), ", "))
	f.StringVar(&o.query, "query", "", "a user's `TEXT`: what its words bring up")
	f.IntVar(&o.budget, "budget", 0, "most `TOKENS`; longer lists are shortened, and it is said what was cut")
	f.BoolVar(&o.tokens, "tokens", false, "print what each skill costs instead")
	f.BoolVar(&o.json, "json", false, "print JSON")
	_ = c.RegisterFlagCompletionFunc("style", cobra.FixedCompletions(styles(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func styles() []string {
	var names []string
	for _, s := range disclose.Styles() {
		names = append(names, string(s))
	}
	return names
}

func runPrompt(ctx context.Context, o *promptOptions) error {
	if o.style != "" && !slices.Contains(styles(), o.style) {
		return app.Usage(fmt.Errorf("unknown style %q", o.style), "one of "+strings.Join(styles(), ", "))
	}
	if o.budget < 0 {
		return app.Usage(fmt.Errorf("a budget of %d tokens", o.budget), "0 means no limit")
	}
	cat, err := o.skills.Open(ctx)
	if err != nil {
		return err
	}
	text, err := o.disclosed(ctx, cat)
	if err != nil {
		return err
	}
	switch {
	case o.json:
		return o.out.JSON(map[string]any{"prompt": promptJSON(text)})
	case o.tokens:
		return o.costs(text)
	}
	if text.Body != "" {
		text.Body += "\n"
	}
	if err := o.out.Foreign(text.Body); err != nil {
		return err
	}
	o.mentionCuts(text)
	return nil
}

func promptJSON(t disclose.Text) any {
	skills, cut := t.Skills, t.Cut
	if skills == nil {
		skills = []disclose.Cost{}
	}
	if cut == nil {
		cut = []disclose.Cut{}
	}
	return struct {
		Text   string          `json:"text"`
		Tokens int             `json:"tokens"`
		Skills []disclose.Cost `json:"skills"`
		Cut    []disclose.Cut  `json:"cut"`
	}{t.Body, t.Tokens, skills, cut}
}

// costs prints what each skill costs, the dearest first, and the whole.
func (o *promptOptions) costs(t disclose.Text) error {
	skills := slices.Clone(t.Skills)
	slices.SortStableFunc(skills, func(x, y disclose.Cost) int { return y.Tokens - x.Tokens })
	rows := make([][]string, 0, len(skills)+2)
	sum := 0
	for _, s := range skills {
		rows = append(rows, []string{strconv.Itoa(s.Tokens), s.Name})
		sum += s.Tokens
	}
	if rest := t.Tokens - sum; len(skills) > 0 && rest > 0 {
		rows = append(rows, []string{strconv.Itoa(rest), "(the text around them)"})
	}
	rows = append(rows, []string{strconv.Itoa(t.Tokens), "in all"})
	width := len(strconv.Itoa(t.Tokens))
	for _, row := range rows {
		row[0] = fmt.Sprintf("%*s", max(width, len("TOKENS")), row[0])
	}
	if err := o.out.Table([]string{"TOKENS", "SKILL"}, rows); err != nil {
		return err
	}
	o.mentionCuts(t)
	return nil
}

// mentionCuts says on stderr what is wrong with the text, and that a limit has cut something: nothing is lost
// silently.
func (o *promptOptions) mentionCuts(t disclose.Text) {
	for _, w := range t.Warnings {
		o.out.Warn(w)
	}
	if o.out.Quiet() || len(t.Cut) == 0 {
		return
	}
	what := map[string]int{}
	for _, c := range t.Cut {
		what[c.What]++
	}
	for _, kind := range []string{disclose.Shortened, disclose.NameOnly, disclose.LeftOut} {
		if n := what[kind]; n > 0 {
			o.out.Warn(fmt.Sprintf("%s: %s, to keep the budget", app.Count(n, "skill"), kind))
		}
	}
}

// disclosed renders what the flags ask for, else what the settings make of the catalogue.
func (o *promptOptions) disclosed(ctx context.Context, cat *skill.Catalog) (disclose.Text, error) {
	cfg := o.settings.Config()
	budget := o.budget
	if budget == 0 {
		budget = cfg.Budget
	}
	switch {
	case o.style != "":
		return o.inStyle(ctx, cat, budget)
	case cfg.Disclosure == "minimal": // whatever the query says
		return disclose.Text{}, nil
	case o.query != "" || cfg.Disclosure == "triggers":
		c, err := o.index(cat).Choose(ctx, o.query, &disclose.ChooseOptions{MaxSkills: cfg.MaxSkills, Budget: budget, Search: searchHint})
		return c.Text, err
	case cfg.Disclosure == "tool-description":
		return disclose.Catalog(ctx, cat, &disclose.Options{Style: disclose.Tool, Budget: budget, MaxSkills: cfg.MaxSkills, Search: searchHint})
	}
	return disclose.Catalog(ctx, cat, &disclose.Options{Style: disclose.Style(cfg.XMLStyle), Location: disclose.Location(cfg.Location),
		Activation: disclose.Activation(cfg.ActivationText), Budget: budget, MaxSkills: cfg.MaxSkills, Search: searchHint})
}

// searchHint is how a list says that a skill it left out is found.
const searchHint = "agent skill search WORDS"

// index is what a query is held against, with a warning for each trigger that is off.
func (o *promptOptions) index(cat *skill.Catalog) *disclose.Index {
	x := disclose.NewIndex(cat)
	for _, p := range x.Problems() {
		o.out.WarnProblem(p)
	}
	return x
}

// inStyle renders the list in one style, with a query only the skills that it brings up.
func (o *promptOptions) inStyle(ctx context.Context, cat *skill.Catalog, budget int) (disclose.Text, error) {
	cfg := o.settings.Config()
	d := &disclose.Options{Style: disclose.Style(o.style), Activation: disclose.Activation(cfg.ActivationText), Budget: budget, Search: searchHint}
	if o.query != "" {
		d.Entries = []skill.Entry{}
		for _, m := range o.index(cat).Match(o.query, &disclose.MatchOptions{Max: cfg.MaxSkills}) {
			d.Entries = append(d.Entries, m.Entry)
		}
	}
	return disclose.Catalog(ctx, cat, d)
}
