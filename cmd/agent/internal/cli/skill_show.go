package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skill"
)

// showWidth is how much of a description show prints: it fits into 80 columns with its status.
const showWidth = 60

type showOptions struct {
	out      *app.Printer
	settings *app.Settings
	skills   *app.Library

	json bool
}

func newShowCommand(s *app.Services, run func(context.Context, *showOptions) error) *cobra.Command {
	o := &showOptions{out: s.Out, settings: s.Settings, skills: s.Skills}
	c := &cobra.Command{
		Use:     "show",
		Short:   "Show all skills with their status, by source",
		Example: "  agent skill show",
		Args:    arguments(0, 0, "no arguments"),
		RunE:    func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runShow(ctx context.Context, o *showOptions) error {
	cat, err := o.skills.Open(ctx)
	if err != nil {
		return err
	}
	if o.json {
		return app.PrintList(o.out, &app.List[skill.Entry]{Key: "skills", Items: slices.Collect(cat.All()),
			Append: func(b []byte, e skill.Entry) []byte {
				r := newRecord(o.settings, e)
				if other := replaced(ctx, e); other != nil {
					r.replaced(other)
				}
				return appendRecord(b, &r)
			}})
	}
	var layers []string
	byLayer := map[string][]skill.Entry{}
	for e := range cat.All() {
		if byLayer[e.Layer()] == nil {
			layers = append(layers, e.Layer())
		}
		byLayer[e.Layer()] = append(byLayer[e.Layer()], e)
	}
	slices.SortFunc(layers, func(x, y string) int { return rank(x) - rank(y) })
	for i, layer := range layers {
		if i > 0 {
			o.out.Printf("\n")
		}
		o.out.Printf("[%s Skills]\n", strings.ToUpper(layer[:1])+layer[1:])
		for _, e := range byLayer[layer] {
			o.one(ctx, e)
		}
	}
	if len(layers) == 0 {
		mentionRest(o.out, cat, nil)
	}
	return nil
}

// one prints two lines about a skill, and a third if its state has a reason.
func (o *showOptions) one(ctx context.Context, e skill.Entry) {
	state, reason := e.State().String(), e.Reason()
	if other := replaced(ctx, e); other != nil {
		state, reason = skill.StateUnavailable.String(), other.Reason()
	}
	o.out.Printf("  %s %s\n", o.out.Mark(state), e.Name())
	text := ui.Truncate(e.Description(), showWidth)
	if text == "" {
		text = "no description"
	}
	o.out.Printf("      %s (%s)\n", text, state)
	if reason != "" && e.State() != skill.StateDisabled {
		o.out.Printf("      %s\n", reason)
	}
}

// rank puts the sources into the order of show: the bundled ones first, as in its document, then the higher ones first.
func rank(layer string) int {
	i := slices.Index([]string{"bundled", "enterprise", "extra", "plugin", "project", "claude", "user"}, layer)
	if i < 0 {
		return 100
	}
	return i
}
