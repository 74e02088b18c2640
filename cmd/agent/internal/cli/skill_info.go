package cli

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/want"
)

type infoOptions struct {
	inspector
	out *output.Printer

	name string
	json bool
}

func newInfoCommand(s *app.Services, run func(context.Context, *infoOptions) error) *cobra.Command {
	o := &infoOptions{inspector: newInspector(s), out: s.Out}
	c := &cobra.Command{
		Use:   "info NAME",
		Short: "Show a skill's manifest, scripts, toolsets, trust and cost",
		Long: `Show what a skill declares, and for each field of its front matter whether this version enforces it, only shows
it (informational), or rejects it. Also show what it could do, as a scan of its files shows it: variables, hosts, files, programs
and packages, and what was not read. Nothing of the skill is executed.`,
		Example: `  agent skill info kalshi-markets
  agent skill info kalshi-markets --json`,
		Args:              arguments(1, 1, "the name of a skill"),
		ValidArgsFunction: completeSkills(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runInfo(ctx context.Context, o *infoOptions) error {
	d, err := o.lookup(ctx, func(ctx context.Context) (*skill.Catalog, error) { return o.skills.OpenFor(ctx, o.name) }, o.name)
	if err != nil {
		return err
	}
	if o.json {
		return o.out.JSON(map[string]*details{"skill": d})
	}
	heading(o.out, d)
	because, decided := whyNot(d)
	facts := [][2]string{
		{"because", because}, {"decided by", decided},
		{"file", d.Location}, {"source", d.Source}, {"sha256", strings.TrimPrefix(d.Digest, dirhash.Prefix)}, {"trust", trustText(d)},
		{"tokens", tokensText(d)},
	}
	for _, f := range d.About {
		facts = append(facts, [2]string{f.Label, f.Text})
	}
	o.out.Facts(append(facts, [][2]string{
		{"requires", strings.Join(slices.Concat(d.Requires, d.RequiresEnv), " ")},
		{"requires one of", strings.Join(d.RequiresAny, " ")},
		{"made for", strings.Join(d.Systems, " ")},
		{"tools", d.Restricts}, {"any code", d.anyCodeText()}, {"dropped", strings.Join(d.DroppedTools, "; ")},
		{"env", strings.Join(d.Env, " ")}, {"asks for", permissionsText(d)}, {"reads", readsText(d)}, {"contacts", firstOf(d.Contacts, 2*mostShown)},
		{"could", reachText(d)}, {"not read", unreadText(d)}, {"granted", grantedText(d)},
		{"installed", installedText(d)}, {"commit", commitText(d.Installed)}, {"submodules", submodulesText(d.Installed)}, {"called", calledText(d.Installed)}, {"versions", versionsKept(d.Installed)},
		{"scripts", scriptsText(d)}, {"packages", o.out.Typed(packagesText(d))}, {"files", filesText(d)}, {"toolsets", toolsetsText(d)}, {"hides", shadowsText(d)},
	}...))
	if len(d.Fields) > 0 {
		o.out.Printf("\n")
		rows := make([][]string, len(d.Fields))
		for i, f := range d.Fields {
			rows[i] = []string{f.Key, f.Standing, strconv.Itoa(f.Line), f.Value}
		}
		if err := o.out.Table([]string{"FIELD", "STANDING", "LINE", "VALUE"}, rows); err != nil {
			return err
		}
	}
	if err := printTools(o.out, d); err != nil {
		return err
	}
	o.out.Problems(ownProblems(d))
	if d.Installed != nil && !d.Installed.Linked {
		o.out.Remark("agent skill outdated " + d.Canonical + " asks whether there is something newer")
	}
	return nil
}

// whyNot returns why models do not see a skill, and what decided it; nothing for a skill that is enabled.
func whyNot(d *details) (because, decided string) {
	if d.State == skill.StateEnabled.String() {
		return "", ""
	}
	return d.Reason, d.DecidedBy
}

// heading is the skill's name, version, state and description.
func heading(out *output.Printer, d *details) {
	out.Printf("%s %s", out.Mark(d.State), out.Paint(ui.Bold, d.Name))
	if d.Version != "" {
		out.Printf(" %s", d.Version)
	}
	out.Printf(" (%s)\n", d.State)
	if d.Description != "" {
		out.Printf("  %s\n", out.Wrapped(d.Description, 2))
	}
	out.Printf("\n")
}

func trustText(d *details) string {
	if d.ScriptsRun {
		return d.Trust + ": its scripts may run"
	}
	if d.NoDigest != "" {
		return fmt.Sprintf("%s: its scripts do not run, and cannot be approved: %s", d.Trust, d.NoDigest)
	}
	if d.Cure == "" {
		return d.Trust + ": its scripts do not run"
	}
	if d.Replaced {
		return fmt.Sprintf("changed since it was installed: it is not activated, and its scripts do not run, before %q", d.Cure)
	}
	return fmt.Sprintf("%s: its scripts do not run before %q", d.Trust, d.Cure)
}

func tokensText(d *details) string {
	if d.Tokens == (tokens{}) {
		return ""
	}
	text := fmt.Sprintf("about %d in the list, %d when activated", d.Tokens.Listing, d.Tokens.Instructions)
	if d.Tokens.Tools > 0 {
		text += fmt.Sprintf(", %d for its tools in each request then", d.Tokens.Tools)
	}
	return text
}

// readsText lists the variables that scripts read, and what becomes of each.
func readsText(d *details) string {
	var parts []string
	for _, v := range d.Variables {
		state := "not set"
		switch {
		case v.Set && v.Passes:
			state = "passes"
		case v.Set:
			state = "set, does not pass"
		}
		if len(parts) < 2*mostShown {
			parts = append(parts, fmt.Sprintf("%s (%s)", v.Name, state))
		}
	}
	if more := len(d.Variables) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}

// grantedText describes what a skill was granted.
func grantedText(d *details) string {
	switch {
	case d.Grants == nil:
		return ""
	case d.Grants.Lapsed:
		return "lapsed, because the content changed; again with: " + d.Grants.Repeat
	}
	return d.Grants.Text()
}

// permissionsText describes what the manifest requests in addition to variables.
func permissionsText(d *details) string { return strings.Join(d.Permissions, "; ") }

// reachText says what a skill could do in addition to what it reads of the environment and contacts.
func reachText(d *details) string {
	if d.Sheet == nil {
		return ""
	}
	var out []string
	for _, k := range want.Kinds() {
		if names := d.Sheet.reach.Named(k); len(names) > 0 && k != want.Host {
			out = append(out, k.Title(want.Seen)+" "+firstOf(names, 2*mostShown))
		}
	}
	return strings.Join(out, "; ")
}

// unreadText lists the files of which a scan could not read all.
func unreadText(d *details) string {
	if d.Sheet == nil {
		return ""
	}
	var out []string
	for _, f := range d.Sheet.Unread {
		out = append(out, fmt.Sprintf("%s (%s)", f.Path, f.Unread))
	}
	return firstOf(out, mostShown)
}

// firstOf joins the first of many words.
func firstOf(words []string, most int) string {
	if more := len(words) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), more)
	}
	return strings.Join(words, ", ")
}

func scriptsText(d *details) string {
	names := make([]string, len(d.Scripts))
	for i, s := range d.Scripts {
		names[i] = s.Name
	}
	text := fmt.Sprintf("%d: %s", len(names), firstOf(names, 4*mostShown))
	switch {
	case len(names) == 0 && d.MoreScripts == 0:
		return ""
	case len(names) == 0:
		return fmt.Sprintf("none listed; %s can be run by path", output.Count(d.MoreScripts, "file"))
	case d.MoreScripts > 0:
		return fmt.Sprintf("%s; %s can be run by path", text, output.Count(d.MoreScripts, "other file"))
	}
	return text
}

// filesText groups a skill's files by their folder, each with its size.
func filesText(d *details) string {
	folders, order := map[string][]string{}, []string{}
	for _, f := range d.Files {
		folder := path.Dir(f.Path)
		if folders[folder] == nil {
			order = append(order, folder)
		}
		folders[folder] = append(folders[folder], fmt.Sprintf("%s (%s)", path.Base(f.Path), bytesText(f.Size)))
	}
	var parts []string
	for _, folder := range order {
		where := folder + "/: "
		if folder == "." {
			where = ""
		}
		if len(parts) < mostShown {
			parts = append(parts, where+firstOf(folders[folder], mostShown))
		}
	}
	if n := len(order) - mostShown; n > 0 {
		parts = append(parts, fmt.Sprintf("and %s more", output.Count(n, "folder")))
	}
	if d.MoreFiles > 0 {
		parts = append(parts, fmt.Sprintf("and %s not listed here", output.Count(d.MoreFiles, "file")))
	}
	return strings.Join(parts, "; ")
}

// mostShown is how many files of a folder, and folders, a person is shown.
const mostShown = 8

// toolsetsText names the toolsets, and says which command shows their tools if they have not run yet.
func toolsetsText(d *details) string {
	text := strings.Join(d.Toolsets, ", ")
	if text != "" && !d.ToolsKnown {
		text += " (not started yet; \"agent skill tools " + d.Canonical + "\" starts them and lists their tools)"
	}
	return text
}

// printTools lists the tools that a skill's toolsets had when they last ran.
func printTools(out *output.Printer, d *details) error {
	if len(d.ToolSchemas) == 0 {
		return nil
	}
	out.Printf("\n")
	var rows [][]string
	for _, t := range d.ToolSchemas {
		rows = append(rows, []string{t.FullName, strings.Join(skilltool.Parameters(t.Input), ", "), strconv.Itoa(t.Tokens)})
	}
	return out.Table([]string{"TOOL", "ARGUMENTS", "TOKENS"}, rows)
}

func shadowsText(d *details) string {
	var out []string
	for _, s := range d.Shadows {
		out = append(out, s.text())
	}
	return strings.Join(out, ", ")
}
