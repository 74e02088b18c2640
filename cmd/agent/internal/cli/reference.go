package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// exits has the meaning of each exit code, for the reference.
var exits = [...]struct {
	code  failure.Exit
	about string
}{
	{failure.ExitOK, "success"},
	{failure.ExitFailure, "failure; a script that fails; a finding of `agent skill scan`; a replay that stops; `agent --check` and `agent doctor` if something is broken"},
	{failure.ExitUsage, "wrong usage; an invalid name; too many or too long arguments of a script"},
	{failure.ExitNotFound, "no such skill, script or file"},
	{failure.ExitInvalid, "a skill that cannot be used, or does not pass `agent skill validate`"},
	{failure.ExitDenied, "not allowed; a skill that is not trusted"},
	{failure.ExitConflict, "something already exists, or another command holds the lock"},
	{failure.ExitIntegrity, "content differs from what was expected"},
	{failure.ExitUpdate, "an update is available"},
	{failure.ExitIncomplete, "`agent skill scan` could not read all of a skill"},
	{failure.ExitTimeout, "a script took too long"},
	{failure.ExitInterrupted, "interrupted"},
}

// Reference writes the Markdown page about all commands, with their use, flags and examples in the order of the help, the
// exit codes and the codes of errors. It is the same on every machine.
func Reference(w io.Writer) error {
	out := bufio.NewWriter(w)
	root := newRootCommand(app.New(&setup.System{}, &setup.Flags{}, &ui.Streams{}))
	fmt.Fprintf(out, "%s\n\n", paragraph(root.Long))
	writeExamples(out, root)
	fmt.Fprint(out, "`agent help COMMAND` and `--help` explain a command. `-h` is short for `--help`.\n\n## Flags of every command\n\n")
	writeFlags(out, root.PersistentFlags())
	fmt.Fprint(out, "## Flags of `agent` alone\n\n")
	writeFlags(out, root.LocalNonPersistentFlags())
	writeBelow(out, root, 2)
	fmt.Fprint(out, "## Exit codes\n\n| code | meaning |\n|---:|---|\n")
	for _, e := range exits {
		fmt.Fprintf(out, "| %d | %s |\n", e.code, e.about)
	}
	fmt.Fprint(out, "\n## Codes of errors\n\nWith `--json`, `error.code` is one of these.\n\n| code | exit code | meaning |\n|---|---:|---|\n")
	for _, c := range failure.Codes() {
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", c.Code, strings.Join(c.ExitTexts(), " or "), c.About)
	}
	return out.Flush()
}

// writeBelow writes the commands of a command in the order of its help: by group, and by name inside.
func writeBelow(out *bufio.Writer, c *cobra.Command, depth int) {
	ids := []string{}
	for _, g := range c.Groups() {
		ids = append(ids, g.ID)
	}
	for _, id := range append(ids, "") {
		for _, sub := range c.Commands() {
			if sub.GroupID == id && sub.IsAvailableCommand() {
				writeCommand(out, sub, depth)
			}
		}
	}
}

func writeCommand(out *bufio.Writer, c *cobra.Command, depth int) {
	fmt.Fprintf(out, "%s `%s`\n\n", strings.Repeat("#", min(depth, 4)), c.CommandPath())
	if !c.HasSubCommands() {
		fmt.Fprintf(out, "`%s`\n\n", strings.TrimSuffix(c.UseLine(), " [flags]"))
	}
	if same := sameAs(c); same != nil {
		path := same.CommandPath()
		fmt.Fprintf(out, "The same as [`%s`](#%s).\n\n", path, strings.ReplaceAll(path, " ", "-"))
		return
	}
	text := c.Short + "."
	if c.Long != "" {
		text = c.Long
	}
	fmt.Fprintf(out, "%s\n\n", paragraph(text))
	writeFlags(out, c.LocalNonPersistentFlags())
	writeExamples(out, c)
	writeBelow(out, c, depth+1)
}

// sameAs returns the command above c of which c is another name, or nil.
func sameAs(c *cobra.Command) *cobra.Command {
	for above := c.Parent().Parent(); above != nil; above = above.Parent() {
		for _, other := range above.Commands() {
			if other.Use == c.Use && other.Long == c.Long && other.Short == c.Short {
				return other
			}
		}
	}
	return nil
}

func writeExamples(out *bufio.Writer, c *cobra.Command) {
	if c.Example == "" {
		return
	}
	lines := strings.Split(c.Example, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	fmt.Fprintf(out, "```sh\n%s\n```\n\n", strings.Join(lines, "\n"))
}

// writeFlags writes a table of flags, or nothing without flags.
func writeFlags(out *bufio.Writer, flags *pflag.FlagSet) {
	var rows []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := strings.TrimSuffix("--"+f.Name+" "+value, " ")
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		switch f.DefValue {
		case "", "false", "0", "0s", "[]":
		default:
			usage += " (default: " + f.DefValue + ")"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s |\n", name, strings.ReplaceAll(paragraph(usage), "|", "\\|")))
	})
	if len(rows) > 0 {
		fmt.Fprintf(out, "| flag | meaning |\n|---|---|\n%s\n", strings.Join(rows, ""))
	}
}

// paragraph converts a text for the terminal to Markdown: quoted text becomes code.
func paragraph(text string) string {
	parts := strings.Split(text, `"`)
	if len(parts)%2 == 0 { // a quote that is not closed
		return text
	}
	return strings.Join(parts, "`")
}
