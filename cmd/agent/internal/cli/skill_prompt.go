package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skill"
)

type promptOptions struct {
	services *app.Services
	out      *output.Printer
	settings *setup.Settings

	style, query       string
	budget             int
	tokens, json, full bool
}

func newPromptCommand(s *app.Services, run func(context.Context, *promptOptions) error) *cobra.Command {
	o := &promptOptions{services: s, out: s.Out, settings: s.Settings}
	c := &cobra.Command{
		Use:   "prompt",
		Short: "Print the list of skills that a model gets",
		Long: `Print the list of skills as the agent sends it to a model, and nothing else. Without a budget in the flags or
the settings, the list has at most a twentieth of the context window.

With --query, print what goes with that message when skills are offered by their triggers: the skills that it triggers or,
if there are none, the list. If the list exceeds the budget, print only the skills that the message is about. If the
disclosure is minimal, print nothing.
With --full, print everything that each request begins with: the system text and the tools.
With --tokens, print the cost of each skill. Tokens are estimated.`,
		Example: `  agent skill prompt
  agent skill prompt --tokens
  agent skill prompt --full
  agent skill prompt --style registry --budget 500
  agent skill prompt --query "what are the odds of rain?"`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.style, "style", "", "`STYLE` of the list: "+strings.Join(styles(), ", "))
	f.StringVar(&o.query, "query", "", "`TEXT` of a user: print what it brings up")
	f.IntVar(&o.budget, "budget", 0, "limit of the list in `TOKENS`; a longer list is shortened, with a warning")
	f.BoolVar(&o.tokens, "tokens", false, "print the cost of each skill instead")
	f.BoolVar(&o.full, "full", false, "print the whole prefix: the system text and the tools with their cost")
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
		return failure.Usage(fmt.Errorf("unknown style %q", o.style), "one of "+strings.Join(styles(), ", "))
	}
	if o.full && (o.style != "" || o.tokens) {
		return failure.Usage(errors.New("--full cannot be used with --style or --tokens"), "--full prints the tokens too")
	}
	if o.budget < 0 {
		return failure.Usage(fmt.Errorf("invalid budget %d", o.budget), "0 means the setting budget, or a twentieth of the context window")
	}
	worker.HideExamples(o.services, o.settings.Config().Agent.Model, o.query)
	cat, err := o.services.Skills.Open(ctx)
	if err != nil {
		return err
	}
	preview, err := worker.NewPreview(ctx, o.services, cat, &worker.PreviewOptions{Budget: o.budget, Mode: o.mode()})
	if err != nil {
		return err
	}
	text, err := o.disclosed(ctx, cat, preview)
	if err != nil {
		return err
	}
	switch {
	case o.json:
		return o.out.JSON(map[string]any{"prompt": o.asJSON(text, preview)})
	case o.full:
		if err := o.printFull(text, preview); err != nil {
			return err
		}
	case o.tokens:
		if err := o.costs(text); err != nil {
			return err
		}
	case text.Body != "":
		if err := o.out.Foreign(text.Body + "\n"); err != nil {
			return err
		}
	}
	o.mentionBudget(text, preview)
	o.out.WarnCuts(text)
	return nil
}

// mode returns the disclosure. With a query it is by triggers, because only those depend on a message; --full shows what
// is really sent.
func (o *promptOptions) mode() disclose.Mode {
	mode := disclose.Mode(o.settings.Config().Disclosure)
	if o.query != "" && !o.full && mode != disclose.Minimal {
		return disclose.ByTriggers
	}
	return mode
}

// disclosed returns the text that the flags ask for: the list in one style, the text of a turn, or the list that the
// agent sends.
func (o *promptOptions) disclosed(ctx context.Context, cat *skill.Catalog, preview *worker.Preview) (disclose.Text, error) {
	switch {
	case o.style != "":
		return o.inStyle(ctx, cat, preview)
	case o.mode() == disclose.ByTriggers:
		o.index(cat)
		return preview.Turn(ctx, o.query)
	}
	return preview.Skills(ctx)
}

// inStyle renders the list in one style; with a query, only the skills that it triggers or, if it triggers none, those that
// it is about. If there are none of these either, it renders the whole list.
func (o *promptOptions) inStyle(ctx context.Context, cat *skill.Catalog, preview *worker.Preview) (disclose.Text, error) {
	cfg := o.settings.Config()
	d := &disclose.Options{Style: disclose.Style(o.style), Activation: disclose.Activation(cfg.ActivationText), Budget: preview.Budget(), Search: searchHint}
	if o.query == "" {
		return disclose.Catalog(ctx, cat, d)
	}
	index := o.index(cat)
	for _, m := range index.Match(o.query, &disclose.MatchOptions{Max: cfg.MaxSkills}) {
		d.Entries = append(d.Entries, m.Entry)
	}
	if d.Entries == nil {
		d.Entries = index.About(o.query, 0)
	}
	d.Ranked = d.Entries != nil
	return disclose.Catalog(ctx, cat, d)
}

// searchHint says how to find a skill that a list in another style left out.
const searchHint = "agent skill search WORDS"

// index returns the index of triggers. It prints a warning for each trigger that is off.
func (o *promptOptions) index(cat *skill.Catalog) *disclose.Index {
	x := disclose.NewIndex(cat)
	for _, p := range x.Problems() {
		o.out.WarnProblem(p)
	}
	return x
}

// promptJSON is the output of agent skill prompt --json.
type promptJSON struct {
	Text   string          `json:"text"`
	Tokens int             `json:"tokens"`
	Skills []disclose.Cost `json:"skills"`
	Cut    []disclose.Cut  `json:"cut"`
	Budget int             `json:"budget"`         // of the list
	Window int             `json:"context_window"` // assumed
	Full   *fullJSON       `json:"full,omitempty"`
}

// fullJSON is what each request begins with.
type fullJSON struct {
	System       string         `json:"system"`
	SystemTokens int            `json:"system_tokens"`
	Tools        []fullToolJSON `json:"tools"`
	ToolsTokens  int            `json:"tools_tokens"`
}

type fullToolJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input"`
	Tokens      int             `json:"tokens"`
}

func (o *promptOptions) asJSON(t disclose.Text, preview *worker.Preview) promptJSON {
	p := promptJSON{Text: t.Body, Tokens: t.Tokens, Skills: t.Skills, Cut: t.Cut, Budget: preview.Budget(), Window: preview.Window()}
	if p.Skills == nil {
		p.Skills = []disclose.Cost{}
	}
	if p.Cut == nil {
		p.Cut = []disclose.Cut{}
	}
	if o.full {
		p.Full = full(preview)
	}
	return p
}

func full(preview *worker.Preview) *fullJSON {
	f := &fullJSON{System: preview.System(), SystemTokens: disclose.Tokens(preview.System())}
	for _, t := range preview.Tools() {
		f.Tools = append(f.Tools, fullToolJSON{t.Name, t.Description, t.Input, worker.ToolTokens(t)})
		f.ToolsTokens += worker.ToolTokens(t)
	}
	return f
}

// printFull prints the system text, each tool with its description, and the text of the turn if there is one.
func (o *promptOptions) printFull(t disclose.Text, preview *worker.Preview) error {
	f := full(preview)
	var b strings.Builder
	fmt.Fprintf(&b, "# System (%s)\n\n%s\n\n# Tools (%s)\n", output.Count(f.SystemTokens, "token"), f.System, output.Count(f.ToolsTokens, "token"))
	for _, tl := range f.Tools {
		fmt.Fprintf(&b, "\n## %s (%s)\n\n%s\n", tl.Name, output.Count(tl.Tokens, "token"), strings.TrimRight(tl.Description, "\n"))
	}
	if o.mode() == disclose.ByTriggers && t.Body != "" {
		fmt.Fprintf(&b, "\n# With the prompt (%s)\n\n%s\n", output.Count(t.Tokens, "token"), t.Body)
	}
	return o.out.Foreign(b.String())
}

// costs prints the cost of each skill, the highest first, and the sum.
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
	o.out.WarnCuts(t)
	return nil
}

// mentionBudget prints to stderr the budget of the list and the context window that it was computed from: where a person
// reads it, or where the budget made a difference.
func (o *promptOptions) mentionBudget(t disclose.Text, preview *worker.Preview) {
	if o.out.Quiet() || t.Body == "" || !o.out.OutTerminal && !o.tokens && !o.full && len(t.Cut) == 0 {
		return
	}
	cfg, from := o.settings.Config(), "from --budget"
	switch {
	case o.budget > 0:
	case cfg.Budget > 0:
		from = "from the setting budget"
	default:
		from = "a twentieth of the context window of " + chat.Number(preview.Window())
		if preview.Window()/20 > worker.MostBudget {
			from += ", at most " + chat.Number(worker.MostBudget)
		}
	}
	o.out.Details([]string{fmt.Sprintf("budget: %s tokens, %s", chat.Number(preview.Budget()), from)})
}
