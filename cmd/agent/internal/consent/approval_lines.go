package consent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/want"
)

// mostFiles is how many files that are only read, or folders of them, a question names. It counts the others. It names
// every file that may run.
const mostFiles = 20

// Lines describes all that the approval is about. The lines hold foreign text.
func (p *Proposal) Lines() []string {
	lines := append(p.head(p.approval.Dir), p.renewalLines()...)
	lines = append(lines, p.askedLines()...)
	lines = append(lines, p.contentLine())
	lines = append(lines, fileLines(p.files())...)
	lines = append(lines, p.droppedLines()...)
	for _, v := range p.variables {
		lines = append(lines, "  "+v.Text())
	}
	contacts, _ := p.contactLines(1 << 20)
	return slices.Concat(lines, contacts, p.reachLines(), p.homeLines(), nonEmpty(p.sandboxLine()))
}

// reachLines say what the skill could do in addition to what its scripts read and contact.
func (p *Proposal) reachLines() []string {
	var out []string
	hosts := p.seen.Wants().Kind(want.Host)
	for _, k := range want.Kinds() {
		if names := p.reach.Minus(hosts).Named(k); len(names) > 0 {
			out = append(out, "  "+k.Title(want.Seen)+": "+strings.Join(names, ", "))
		}
	}
	return out
}

func (p *Proposal) head(dir string) []string {
	where := p.from
	if where == "" {
		where = "in " + dir
	}
	return append([]string{
		fmt.Sprintf("Skill %q %s", p.approval.Name, where),
		"  sha256  " + strings.TrimPrefix(p.approval.Digest, dirhash.Prefix),
	}, p.notes...)
}

// neverApproved ends what is said of the files of a skill of which no content was approved.
const neverApproved = ", never approved before"

// sandboxLine says how far the scripts are confined, "" where a sandbox confines files and network.
func (p *Proposal) sandboxLine() string {
	if p.sandbox == nil {
		return ""
	}
	have := &runner.Sandbox{Tier: p.sandbox.Tier}
	switch files, network := have.ConfinesFiles(), have.ConfinesNetwork(); {
	case files && network:
		return ""
	case network:
		return "  no sandbox for files here: its scripts read and write what you can"
	case files:
		return "  no sandbox for the network here: its scripts reach every host"
	}
	return "  no sandbox here: its scripts read, write and reach what you can"
}

// contactLines say which hosts the scripts' texts name, all of them or as many as fit the columns.
func (p *Proposal) contactLines(columns int) (lines []string, complete bool) {
	if !p.seen.Network || p.sandbox == nil || !(&runner.Sandbox{Tier: p.sandbox.Tier}).ConfinesNetwork() {
		return nil, true
	}
	hosts := p.seen.Wants().Hosts()
	if len(hosts) == 0 {
		return []string{"  uses the network, perhaps; no host is in its text (net: every host)"}, true
	}
	if before := p.before; before != nil && len(before.Wants.From(want.Seen).Kind(want.Host)) > 0 {
		before := before.Wants.From(want.Seen).Named(want.Host)
		for i, host := range hosts {
			if !slices.Contains(before, host) {
				hosts[i] += " (new)"
			}
		}
		slices.SortStableFunc(hosts, func(a, b string) int { return news(b) - news(a) })
	}
	return namesRow("  its scripts contact: ", hosts, columns)
}

// news returns 1 for an item that is marked as new, and 0 for others.
func news(item string) int {
	if strings.HasSuffix(item, " (new)") {
		return 1
	}
	return 0
}

// contentLine counts the files.
func (p *Proposal) contentLine() string {
	if p.before == nil {
		return "  " + output.Count(len(p.approval.Files), "file") + neverApproved + ":"
	}
	if p.renewal != nil && !p.approvedBefore {
		return "  changed since the installed version, which was never approved: " + output.Count(len(p.changes), "file")
	}
	return fmt.Sprintf("  changed since it was approved on %s: %s", p.before.ApprovedAt.Format("2006-01-02 15:04"), output.Count(len(p.changes), "file"))
}

// nonEmpty returns a text as a list, which is empty for "".
func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// homeLines says that a former content left files in the private home.
func (p *Proposal) homeLines() []string {
	if p.home == nil || p.before == nil || len(p.changes) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("  its home has %s of the former content; clear-home empties it", output.Count(p.home.Files, "file"))}
}

// proposed is a file that an approval is about.
type proposed struct {
	path, line string
	runs       bool // it may run, or define what runs
}

// files returns the files that are new or changed, or all of them without an earlier approval, ordered by path.
func (p *Proposal) files() []proposed {
	links := map[string]bool{}
	for _, f := range p.approval.Files {
		links[f.Path] = f.Link
	}
	out := []proposed{}
	if p.before == nil {
		for _, f := range p.approval.Files {
			out = append(out, proposed{f.Path, fmt.Sprintf("%s (%s)", f.Path, output.Count(int(p.sizes[f.Path]), "byte")), grants.MayRun(f.Path) || f.Link})
		}
		return out
	}
	for _, c := range p.changes {
		out = append(out, proposed{c.Path, fmt.Sprintf("%s %s%s", c.Kind, c.Path, p.counts(c.Path)), grants.MayRun(c.Path) || links[c.Path]})
	}
	return out
}

// fileLines names all files that may run, and names them first: a mass of other files cannot push a script out of sight.
// It names other files if they are few, and otherwise counts them by folder.
func fileLines(files []proposed) []string {
	var lines, rest []string
	folders := map[string]int{}
	for _, f := range files {
		if f.runs {
			lines = append(lines, "    "+f.line)
			continue
		}
		rest = append(rest, "    "+f.line)
		top, _, below := strings.Cut(f.path, "/")
		if !below {
			top = "."
		}
		folders[top]++
	}
	if len(rest) <= mostFiles {
		return append(lines, rest...)
	}
	left, named := len(rest), 0
	for _, top := range slices.Sorted(maps.Keys(folders)) {
		if named++; named > mostFiles {
			break
		}
		left -= folders[top]
		lines = append(lines, fmt.Sprintf("    and %s in %s/", output.Count(folders[top], "file"), top))
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("    and %s elsewhere", output.Count(left, "file")))
	}
	return lines
}
