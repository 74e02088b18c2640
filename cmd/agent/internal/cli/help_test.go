package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// P16: in a terminal the help of each command fits, and no word of it is broken or lost.
func TestHelpFits(t *testing.T) {
	for _, width := range []int{80, 50} {
		streams, _, out, _ := ui.Test()
		root := newRootCommand(app.New(&setup.System{}, &setup.Flags{}, streams))
		var visit func(*cobra.Command)
		visit = func(c *cobra.Command) {
			words := func(columns int) string {
				out.Reset()
				streams.Width = columns
				if err := c.Help(); err != nil {
					t.Fatal(err)
				}
				return out.String()
			}
			wide, fitted := words(0), words(width)
			if a, b := strings.Join(strings.Fields(wide), " "), strings.Join(strings.Fields(fitted), " "); a != b {
				t.Errorf("%s at %d: the words are not the same:\n%s\n%s", c.CommandPath(), width, a, b)
			}
			for line := range strings.Lines(fitted) {
				if text := strings.TrimSpace(line); ui.Width(strings.TrimRight(line, "\n")) > width && strings.Contains(text, " ") && len(text) < width {
					t.Errorf("%s at %d: too long: %q", c.CommandPath(), width, line)
				}
			}
			for _, sub := range c.Commands() {
				visit(sub)
			}
		}
		visit(root)
	}
}
