package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skill"
)

// showWidth is how much of a description show prints: it fits into 80 columns with its status.
const showWidth = 60

func showCommand(a *app) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use:     "show",
		Short:   "Show all skills with their status, by source",
		Example: "  agent skill show",
		Args:    arguments(0, 0, "no argument"),
		RunE:    func(c *cobra.Command, _ []string) error { return a.show(c.Context(), json) },
	}
	c.Flags().BoolVar(&json, "json", false, "print JSON")
	return c
}

func (a *app) show(ctx context.Context, json bool) error {
	cat, err := a.catalog(ctx)
	if err != nil {
		return err
	}
	if json {
		return printJSONList(a, &jsonList[record]{key: "skills", items: func(yield func(record) bool) {
			for e := range cat.All() {
				if !yield(a.record(e)) {
					return
				}
			}
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
			a.ui.Printf("\n")
		}
		a.ui.Printf("[%s Skills]\n", strings.ToUpper(layer[:1])+layer[1:])
		for _, e := range byLayer[layer] {
			a.showOne(e)
		}
	}
	if len(layers) == 0 {
		a.mentionRest(cat)
	}
	return nil
}

// showOne prints R159's two lines of a skill, and a third where there is a reason.
func (a *app) showOne(e skill.Entry) {
	state := e.State().String()
	a.ui.Printf("  %s %s\n", a.mark(state), e.Name())
	text := ui.Truncate(e.Description(), showWidth)
	if text == "" {
		text = "no description"
	}
	a.ui.Printf("      %s (%s)\n", text, state)
	if e.Reason() != "" && e.State() != skill.StateDisabled {
		a.ui.Printf("      %s\n", e.Reason())
	}
}

// mark is the glyph of a state in its colour.
func (a *app) mark(state string) ui.Safe {
	switch state {
	case skill.StateEnabled.String(), skill.StateHidden.String():
		return a.ui.Paint(ui.Green, "✓")
	case skill.StateDisabled.String():
		return a.ui.Paint(ui.Dim, "○")
	}
	return a.ui.Paint(ui.Red, "✗")
}

// rank puts the sources into the order of show: the bundled ones first, as in its document, then the higher ones first.
func rank(layer string) int {
	i := slices.Index([]string{"bundled", "enterprise", "extra", "plugin", "project", "claude", "user"}, layer)
	if i < 0 {
		return 100
	}
	return i
}
