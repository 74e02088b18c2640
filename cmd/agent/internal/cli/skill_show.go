package cli

import (
	"cmp"
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

func newShowCommand(s *app.Services, run func(context.Context, *listOptions) error) *cobra.Command {
	c, _ := listing(s, run, &cobra.Command{Use: "show", Short: "Show all skills with their status, by source", Example: "  agent skill show"})
	return c
}

func runShow(ctx context.Context, o *listOptions) error {
	l, err := o.look(ctx)
	if err != nil {
		return err
	}
	if o.json {
		return l.print(l.cat.All())
	}
	var layers []string
	byLayer := map[string][]skill.Entry{}
	for e := range l.cat.All() {
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
			l.one(e)
		}
	}
	if len(layers) == 0 {
		l.mentionRest()
	}
	return nil
}

// one prints two lines about a skill, and a third if its state has a reason.
func (l *overview) one(e skill.Entry) {
	state, reason := l.state(e)
	l.out.Printf("  %s %s\n", l.out.Mark(state), e.Name())
	text := cmp.Or(ui.Line(e.Description()), "no description")
	if ui.Truncate(text, showWidth) != text {
		text = strings.TrimSuffix(ui.Truncate(text, showWidth-2), "…") + "..."
	}
	l.out.Printf("      %s (%s)\n", text, state)
	if reason != "" && e.State() != skill.StateDisabled {
		l.out.Printf("      %s\n", reason)
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
