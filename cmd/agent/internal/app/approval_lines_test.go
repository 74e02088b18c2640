package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/trust"
)

// C57: however many other files there are, each file that may run is named before anybody is asked, and nothing is left
// uncounted.
func TestProposalNamesWhatRuns(t *testing.T) {
	runs := []string{"SKILL.md", "scripts/x.py", "scripts/lib/data.json", "zz/module.pyc", "zz/program", "zz/link.txt"}
	p := &Proposal{sizes: map[string]int64{}}
	file := func(path string) {
		p.approval.Files = append(p.approval.Files, trust.File{Path: path, Link: strings.Contains(path, "link")})
		p.changes = append(p.changes, dirhash.Change{Path: path, Kind: dirhash.Changed})
	}
	for i := range 40 {
		file(fmt.Sprintf("a%02d/picture.png", i))
		file(fmt.Sprintf("assets/%02d.txt", i))
	}
	file("ABOUT.md")
	for _, path := range runs {
		file(path)
	}
	for _, c := range []struct {
		name   string
		before *trust.Approval
		form   string
	}{{"never approved", nil, "    %s (0 bytes)"}, {"changed", &trust.Approval{}, "    changed %s"}} {
		t.Run(c.name, func(t *testing.T) {
			p.before = c.before
			lines := p.Lines()
			first := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "    ") })
			for i, path := range runs {
				if want := fmt.Sprintf(c.form, path); lines[first+i] != want {
					t.Errorf("line %d: got %q, want %q", first+i, lines[first+i], want)
				}
			}
			for _, want := range []string{"    and 1 file in ./", "    and 1 file in a00/", "    and 61 files elsewhere"} {
				if !slices.Contains(lines, want) {
					t.Errorf("%q is missing:\n%s", want, strings.Join(lines, "\n"))
				}
			}
		})
	}
}

// F10: the question lists the variables that pass now, not only the pattern that was asked for.
func TestLinesListForwarded(t *testing.T) {
	p := &Proposal{approval: trust.Approval{Name: "x", Permissions: []string{"env: KALSHI_*"}}, forwarded: []string{"KALSHI_A", "KALSHI_B"}}
	if want := "  its scripts now get these variables: KALSHI_A KALSHI_B"; !slices.Contains(p.Lines(), want) {
		t.Errorf("got %q, want %q in it", p.Lines(), want)
	}
}
