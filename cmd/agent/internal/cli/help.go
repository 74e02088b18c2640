package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// helpText returns what prints a command's help: in a terminal as wide as that, so no word is broken.
func helpText(out *output.Printer) func(*cobra.Command, []string) {
	return func(c *cobra.Command, _ []string) {
		text := c.Long
		if text == "" {
			text = c.Short
		}
		usage := c.UsageString()
		if out.Width > 0 {
			text, usage = reflow(text, out.Width), hang(usage, out.Width)
		}
		fmt.Fprintf(out.Out, "%s\n\n%s", strings.TrimSpace(text), usage)
	}
}

// reflow wraps each paragraph again.
func reflow(text string, width int) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = breakLine(strings.Join(strings.Fields(p), " "), width, "")
	}
	return strings.Join(paragraphs, "\n\n")
}

// hang breaks the lines that are too long. What follows is indented as far as the text after the last wide gap.
func hang(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if ui.Width(line) <= width {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if at := strings.LastIndex(line, "   "); at >= indent && at+3 < width*2/3 {
			indent = at + 3
		}
		lines[i] = breakLine(line, width, strings.Repeat(" ", indent))
	}
	return strings.Join(lines, "\n")
}

// breakLine breaks one line between words. A word that is longer than a line stays whole.
func breakLine(line string, width int, indent string) string {
	var done []string
	for ui.Width(line) > width {
		least := len(line) - len(strings.TrimLeft(line, " "))
		at := strings.LastIndexByte(line[:min(width+1, len(line))], ' ')
		if at <= max(least, len(indent)) {
			next := strings.IndexByte(line[max(least, len(indent)):], ' ')
			if next < 0 {
				break
			}
			at = max(least, len(indent)) + next
		}
		done = append(done, strings.TrimRight(line[:at], " "))
		line = indent + strings.TrimLeft(line[at:], " ")
	}
	return strings.Join(append(done, line), "\n")
}
