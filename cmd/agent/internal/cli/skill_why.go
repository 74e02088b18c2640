package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

func whyCommand(a *app) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use:   "why NAME",
		Short: "Explain why a skill is loaded, or is not",
		Long: `Explain on one screen whether a skill is loaded and what decided it, which file it is, which others of its name
it hides, whether its scripts may run, which of its fields count, and what it costs. Nothing is executed.`,
		Example:           `  agent skill why kalshi-markets`,
		Args:              arguments(1, 1, "the name of a skill"),
		ValidArgsFunction: a.completeSkills,
		RunE:              func(c *cobra.Command, args []string) error { return a.why(c.Context(), args[0], json) },
	}
	c.Flags().BoolVar(&json, "json", false, "print JSON")
	return c
}

func (a *app) why(ctx context.Context, name string, json bool) error {
	d, err := a.lookup(ctx, name)
	if err != nil {
		return err
	}
	if json {
		return a.printJSON(map[string]*details{"skill": d})
	}
	a.ui.Printf("%s %s %s\n\n", a.mark(d.State), d.Name, verdict(d))
	a.facts([][2]string{
		{"because", d.Reason},
		{"decided by", d.DecidedBy},
		{"file", place(d.Location, d.Path)},
		{"source", d.Source},
		{"hides", shadowsText(d)},
		{"trust", trustText(d)},
		{"tokens", tokensText(d)},
		{"enforced", fieldsText(d, manifest.StandingEnforced)},
		{"only shown", fieldsText(d, manifest.StandingInformational)},
		{"rejected", fieldsText(d, manifest.StandingRejected)},
	})
	a.someProblems(ownProblems(d))
	return nil
}

// verdict says in a few words what the state means.
func verdict(d *details) string {
	switch d.State {
	case skill.StateEnabled.String():
		return "is loaded"
	case skill.StateHidden.String():
		return "is loaded, but hidden from models"
	case skill.StateDisabled.String():
		return "is not loaded: it is disabled"
	case skill.StateUnavailable.String():
		return "is not loaded: it is unavailable"
	}
	return "cannot be loaded"
}

func place(location, path string) string {
	if location == "" {
		return path + "/SKILL.md (embedded)"
	}
	return location
}

func fieldsText(d *details, s manifest.Standing) string {
	var out []string
	for _, f := range d.Fields {
		if f.Standing == s.String() {
			out = append(out, fmt.Sprintf("%s (line %d)", f.Key, f.Line))
		}
	}
	return strings.Join(out, ", ")
}
