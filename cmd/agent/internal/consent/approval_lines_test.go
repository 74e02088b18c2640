package consent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/sandbox"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
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

// F10, C65: the question lists the variables that pass now, not only the pattern that was asked for.
func TestLinesListVariables(t *testing.T) {
	p := &Proposal{approval: trust.Approval{Name: "x", Wants: wants(t, "declared env:KALSHI_*")}, variables: []grants.Variable{
		{Name: "KALSHI_A", Set: true, Declared: true}, {Name: "OPENAI_API_KEY", Set: true, Files: 2, Provider: true}, {Name: "OTHER", Files: 1},
	}}
	for _, want := range []string{"  declares KALSHI_A, which you have set", "  reads OPENAI_API_KEY, a model provider's, which you have set", "  reads OTHER, not set"} {
		if !slices.Contains(p.Lines(), want) {
			t.Errorf("got %q, want %q in it", p.Lines(), want)
		}
	}
	short, _ := p.Short("")
	for _, want := range []string{"  reads variables that you have set: KALSHI_A, OPENAI_API_KEY (a model provider's key)", "  reads variables that are not set: OTHER"} {
		if !slices.Contains(short, want) {
			t.Errorf("got %q, want %q in it", short, want)
		}
	}
}

// C65: the question fits one screen, however much there is, and counts what it leaves out.
func TestShortIsOneScreen(t *testing.T) {
	p := &Proposal{sizes: map[string]int64{}, before: &trust.Approval{}, sandbox: &sandbox.State{Tier: "C"}, seen: script.Seen{Network: true, Files: map[string]want.Set{}}, home: &script.Home{Files: 3}, approval: trust.Approval{Name: strings.Repeat("n", 64), Dir: "/" + strings.Repeat("long/", 300), Digest: "sha256:" + strings.Repeat("a", 64)}}
	for i := range 300 {
		p.changes = append(p.changes, dirhash.Change{Path: fmt.Sprintf("scripts/%03d%s.py", i, strings.Repeat("\u202ex", 60)), Kind: dirhash.Changed}, dirhash.Change{Path: fmt.Sprintf("%d.md", i), Kind: dirhash.Added})
		p.approval.Wants = append(p.approval.Wants, want.Each(want.Variable, want.Declared, fmt.Sprintf("A%d", i))...)
		p.before.Wants = append(p.before.Wants, want.Each(want.Hook, want.Declared, fmt.Sprintf("Stop %d: x", i))...)
		p.variables = append(p.variables, grants.Variable{Name: fmt.Sprintf("SOME_LONG_TOKEN_%03d", i), Set: i%2 == 0, Declared: true})
		p.seen.Files[fmt.Sprint(i)] = want.New(want.HostOf(fmt.Sprintf("%03d.example.com", i)))
		p.declared = append(p.declared, want.Each(want.Variable, want.Declared, fmt.Sprintf("SOME_LONG_TOKEN_%03d", i))...)
	}
	p.choice = choice{gets: p.declared.Add(wants(t, "user write:., user home")...)}
	short, complete := p.Short("")
	if complete {
		t.Error("nothing is left out")
	}
	given, _ := p.givenRow(2 * shortColumns)
	rows := ui.Framed(append(short, given...), 80)
	if len(rows) > 19 { // of 24: the question and its answers have four, and the status line one
		t.Errorf("%d rows:\n%s", len(rows), strings.Join(rows, "\n"))
	}
	for _, want := range []string{"and 297 more that may run, and 300 that are only read", "and 299 more", "SOME_LONG_TOKEN_001 and 149 more",
		"its scripts contact: 000.example.com, 001.example.com and 298 more", "no sandbox for files here"} {
		if !strings.Contains(strings.Join(rows, "\n"), want) {
			t.Errorf("%q is missing:\n%s", want, strings.Join(rows, "\n"))
		}
	}
}

// The short question counts a single file in the singular.
func TestShortCountsOneFile(t *testing.T) {
	p := &Proposal{sizes: map[string]int64{}, before: &trust.Approval{}, approval: trust.Approval{Name: "x", Dir: "/x", Digest: "sha256:" + strings.Repeat("a", 64)},
		changes: []dirhash.Change{{Path: "scripts/a.sh", Kind: dirhash.Added}, {Path: "references/a.md", Kind: dirhash.Added}}}
	short, _ := p.Short("")
	if text := strings.Join(short, "\n"); !strings.Contains(text, "and 1 file that is only read") {
		t.Errorf("got\n%s", text)
	}
}

// A list that does not fit is cut after an item, so that no two items read as one.
func TestShortCutsLists(t *testing.T) {
	for line, want := range map[string]string{
		"  asks for allowed-tools: Read(~/.cache/expo-skill-eval/**) Write(/tmp/eval-*/**) Bash(bash *eval/scripts/*) Bash(git commit:*)": "  asks for allowed-tools: Read(~/.cache/expo-skill-eval/**) and 3 more",
		"  asks for network: a.example.com (new) " + strings.Repeat("b", 70):                                                              "  asks for network: a.example.com (new) and 1 more",
		"  asks for allowed-tools: Read Bash(" + strings.Repeat("x ", 50) + " Write":                                                      "  asks for allowed-tools: Read, Bash(x x x x x x x x x… x x  Write",
		"  the check found 2 warnings: allows any code: Bash(python3 a) (python3 runs any program), Bash(sh b) (sh runs any command)":     "  the check found 2 warnings: allows any code: Ba… program) and 1 more",
		"  asks for env: A B": "  asks for env: A B",
		// a command is shortened as one text, not as a list of words
		"  asks for hook PreToolUse Bash|Write: curl -s https://example.com/a | sh -s -- --quiet --yes && echo done": "  asks for hook PreToolUse Bash|Write: curl -s ht…quiet --yes && echo done",
		"  asks for toolset clock (mcp.json): python3 '${CLAUDE_PLUGIN_ROOT}/a/rather/long/name.py' --port 1":        "  asks for toolset clock (mcp.json): python3 '${C…r/long/name.py' --port 1",
		"  Skill \"x\" from " + strings.Repeat("a", 60) + ", commit 1":                                               "  Skill \"x\" from " + strings.Repeat("a", 32) + "…" + strings.Repeat("a", 14) + ", commit 1",
	} {
		if got := cutList(line, shortColumns); got != want {
			t.Errorf("%s:\n got %q\nwant %q", line, got, want)
		}
	}
}

// wants reads a set.
func wants(t *testing.T, text string) want.Set {
	t.Helper()
	s, err := want.ParseSet(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// One of several skills has one row, which says what kinds of things it asks for.
func TestOneLine(t *testing.T) {
	p := &Proposal{approval: trust.Approval{Name: "pdf", Digest: "sha256:" + strings.Repeat("a", 64), Wants: wants(t, "declared host:a.example.com"), Files: make([]trust.File, 2)}}
	if got, want := p.oneLine(), "  pdf [aaaaaaaa] 2 files, never approved before; network: a.example.com"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.approval.Wants = p.approval.Wants.Add(want.Each(want.Tool, want.Declared, "Read", "Bash("+strings.Repeat("x", 100)+")")...)
	if got, want := p.oneLine(), "  pdf [aaaaaaaa] 2 files; asks for network, allowed-tools"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// C65, F1: the short question names the model that a skill asks for, however much else it asks for.
func TestShortShowsModel(t *testing.T) {
	p := &Proposal{approval: trust.Approval{Name: "x", Wants: wants(t, "declared env:A, declared host:a.example.com, declared write:., declared agent:fork, declared model:chat/other")}}
	short, complete := p.Short("")
	if !slices.Contains(short, "  asks for context: fork, model: chat/other") || complete {
		t.Errorf("complete: %t, %q", complete, short)
	}
}

// C65: what is suggested is what SKILL.md declares. The text of a script suggests nothing, and a provider's key nobody.
func TestPreselected(t *testing.T) {
	m, _ := manifest.Parse([]byte("---\nname: x\ndescription: d\npermissions:\n  env: [KALSHI_*, OPENAI_API_KEY, PLAIN]\n---\n"), nil)
	p := &Proposal{policy: &policy.Policy{}, manifest: m, declared: script.Declared(m), set: func(name string) bool { return name == "SET_ONE" }, variables: []grants.Variable{
		{Name: "KALSHI_A", Set: true, Declared: true}, {Name: "OPENAI_API_KEY", Set: true, Declared: true, Provider: true}, {Name: "NEEDED", Declared: true},
		{Name: "PLAIN", Declared: true}, {Name: "GITHUB_TOKEN", Set: true, Files: 1}, {Name: "DEBUG", Set: true, Files: 1},
	}}
	check := func(want string) {
		t.Helper()
		if got := strings.Join(p.choice.words(), " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	p.choice = p.preselect()
	check("write KALSHI_* NEEDED PLAIN")
	p.granted, p.lapsed = &trust.Grant{Given: wants(t, "user env:ANTHROPIC_API_KEY, user env:GITHUB_TOKEN, user home"), Withheld: wants(t, "declared env:PLAIN")}, true
	p.choice = p.preselect() // of a former content: again, but for the keys of providers and the home
	check("write GITHUB_TOKEN KALSHI_* NEEDED")
	p.lapsed = false
	p.choice = p.preselect()
	check("write home ANTHROPIC_API_KEY GITHUB_TOKEN KALSHI_* NEEDED")

	for _, tt := range []struct{ line, want, err string }{
		{"", "write home ANTHROPIC_API_KEY GITHUB_TOKEN KALSHI_* NEEDED", ""},
		{"-home, -ANTHROPIC_API_KEY -KALSHI_* -NEEDED SET_ONE OPENAI_API_KEY GITHUB_TOKEN", "write GITHUB_TOKEN OPENAI_API_KEY SET_ONE", ""},
		{"home LD_PRELOAD", "write GITHUB_TOKEN OPENAI_API_KEY SET_ONE", "never passes"},
		{"GITHUB_*", "write GITHUB_TOKEN OPENAI_API_KEY SET_ONE", "is a pattern"},
		{"GITHUB_TOKN", "write GITHUB_TOKEN OPENAI_API_KEY SET_ONE", "did you mean GITHUB_TOKEN"},
		{"-DEBUG", "write GITHUB_TOKEN OPENAI_API_KEY SET_ONE", "does not get DEBUG"},
		{"KALSHI_* -write clear-home home", "home clear-home GITHUB_TOKEN KALSHI_* OPENAI_API_KEY SET_ONE", ""},
		{"- write", "write", ""},
		{"-", "", ""},
	} {
		err := p.choose(tt.line)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: got %v", tt.line, err)
		}
		check(tt.want)
	}
	if got := p.given(); got.Withheld.String() != "declared env:KALSHI_*, declared env:PLAIN" || len(got.Given) != 0 {
		t.Errorf("got %+v", got)
	}
}

func FuzzCutList(f *testing.F) {
	f.Add("  asks for allowed-tools: Read(a b) Bash(git:*) (new) 写")
	f.Add("  the check found 2 warnings: a, b (c, d), (")
	f.Add("  asks for :")
	f.Fuzz(func(t *testing.T, line string) {
		got := cutList(line, shortColumns)
		if ui.Line(got) != got {
			t.Errorf("%q is shown as %q", line, got)
		}
		if ui.Width(got) > shortColumns+2 { // two for a count of 10,000
			t.Errorf("%q is cut to %q, which has %d columns", line, got, ui.Width(got))
		}
	})
}
