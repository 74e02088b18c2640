package disclose

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill"
)

func plan(t *testing.T, c *skill.Catalog, o *PlanOptions) *Plan {
	t.Helper()
	p, err := NewPlan(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// C13: what each mode lists, and where; no skill is listed in two places.
func TestPlanModes(t *testing.T) {
	c := catalog(t, file{name: "pdf", desc: "Works with PDF.", front: "triggers:\n  keywords: [acrobat]\n", body: "PDF steps."}, file{name: "csv", desc: "Works with CSV."})
	rows := []struct {
		mode         Mode
		prefix, turn string // "" is nothing at all
	}{
		{SystemXML, "## Agent Skills\n<available_skills>\n<skill>\n<name>csv</name>", ""},
		{ToolDescription, "", ""},
		{ByTriggers, "", `<skill_content name="pdf"`},
		{Minimal, "", ""},
	}
	for _, r := range rows {
		t.Run(string(r.mode), func(t *testing.T) {
			p := plan(t, c, &PlanOptions{Mode: r.mode})
			choice, err := p.Turn(t.Context(), c, "open it in acrobat", nil)
			if err != nil {
				t.Fatal(err)
			}
			prefix, turn := p.Prefix(), choice.Text
			if !strings.HasPrefix(prefix.Body, r.prefix) || (r.prefix == "") != (prefix.Body == "") || prefix.Tokens != Tokens(prefix.Body) {
				t.Errorf("prefix: got %d tokens\n%s", prefix.Tokens, prefix.Body)
			}
			if !strings.HasPrefix(turn.Body, r.turn) || (r.turn == "") != (turn.Body == "") || turn.Tokens != Tokens(turn.Body) {
				t.Errorf("turn: got %d tokens\n%s", turn.Tokens, turn.Body)
			}
		})
	}
	for _, name := range []string{"pdf", "csv"} {
		if strings.Contains(Unlisted, name) {
			t.Errorf("the tool's description without a list has %q", name)
		}
	}
	for _, bad := range []*PlanOptions{{Mode: "shout"}, {List: Options{Style: "braille"}}, {Blocks: &BlockOptions{Blocks: []Block{"magic"}}}} {
		if _, err := NewPlan(t.Context(), c, bad); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// The prefix has the same bytes in every turn, whatever is asked and whatever becomes of the skills on disk.
func TestPlanPrefixIsStable(t *testing.T) {
	m := memory(synthetic(5)...)
	c := open(t, skill.Layer{Name: "bundled", Source: skill.FS(m, nil), Trust: skill.TrustBundled})
	for _, mode := range Modes() {
		p := plan(t, c, &PlanOptions{Mode: mode, Blocks: &BlockOptions{}})
		before := p.Prefix().Body
		if !strings.Contains(before, "\n\n## Script Execution\n") && !strings.HasPrefix(before, "## Skill Navigation") {
			t.Errorf("%s: no blocks in\n%s", mode, before)
		}
		now := c
		for i, prompt := range []string{"what can you do?", "extract pdf", "", "weather"} {
			if _, err := p.Turn(t.Context(), now, prompt, nil); err != nil {
				t.Fatal(err)
			}
			m[fmt.Sprintf("%s-%d/SKILL.md", mode, i)] = &fstest.MapFile{Data: []byte(file{name: fmt.Sprintf("%s-%d", mode, i)}.text())}
			var err error
			if now, err = now.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if p.Prefix().Body != before {
				t.Errorf("%s: another prefix after turn %d", mode, i)
			}
		}
		if again := plan(t, c, &PlanOptions{Mode: mode, Blocks: &BlockOptions{}}).Prefix().Body; again != before {
			t.Errorf("%s: a second plan differs", mode)
		}
	}
	if got := plan(t, catalog(t), &PlanOptions{Blocks: &BlockOptions{}}).Prefix(); got.Body != "" || got.Tokens != 0 { // R161
		t.Errorf("without a skill: %q", got.Body)
	}
}

// A skill that comes while the conversation runs is found by its triggers, one that goes is not.
func TestPlanTurnSeesNewSkills(t *testing.T) {
	p := plan(t, catalog(t), &PlanOptions{Mode: ByTriggers})
	c := catalog(t, file{name: "late", body: "Late steps."})
	for _, now := range []*skill.Catalog{c, c, catalog(t), c} {
		if !visible(now) {
			if got, err := p.Turn(t.Context(), now, "use late", nil); err != nil || got.Tier != TierNothing {
				t.Errorf("after it is gone: got %q, %v", got.Text.Body, err)
			}
			continue
		}
		if got, err := p.Turn(t.Context(), now, "use late", nil); err != nil || !strings.Contains(got.Text.Body, "Late steps.") {
			t.Errorf("got %q, %v", got.Text.Body, err)
		}
	}
	got, err := p.Turn(t.Context(), c, "use late", &TurnOptions{Render: func(_ context.Context, e skill.Entry) (Text, error) {
		return Text{Body: "mine: " + e.Name()}, nil
	}})
	if err != nil || got.Text.Body != "mine: late" {
		t.Errorf("with a renderer: %q, %v", got.Text.Body, err)
	}
}

// C41: with 25 skills and a small budget every name is there, or a line says how many are not and how to find them; in
// the prefix, in the tool's description and in the turn.
func TestPlanWithASmallBudget(t *testing.T) {
	files := synthetic(25)
	for i := range files {
		files[i].front = ""
	}
	c := catalog(t, files...)
	for _, budget := range []int{300, 400, 1200} {
		list := Options{Budget: budget, Search: "the tool find"}
		p := plan(t, c, &PlanOptions{List: list})
		turn, err := plan(t, c, &PlanOptions{Mode: ByTriggers, List: list}).Turn(t.Context(), c, "good morning", nil)
		if err != nil {
			t.Fatal(err)
		}
		list.Style = Tool
		for what, text := range map[string]string{"prefix": p.Prefix().Body, "turn": turn.Text.Body, "tool": render(t, c, &list).Body} {
			named := 0
			for _, f := range files {
				if strings.Contains(text, f.name) {
					named++
				}
			}
			note := fmt.Sprintf("%d more skills: search with the tool find", 25-named)
			if named == 24 {
				note = "1 more skill: search with the tool find"
			}
			if (named < 25) != strings.Contains(text, note) || named < 10 && budget > 400 {
				t.Errorf("%s, %d tokens: %d names and no %q:\n%s", what, budget, named, note, text)
			}
			if n := Tokens(text); n > budget+10 {
				t.Errorf("%s: %d tokens, the budget is %d", what, n, budget)
			}
		}
	}
}

// C71: what a prompt brings up and a cut list lacks stands in its turn, once, until the conversation is shortened. The
// prefix is the same whatever is asked.
func TestTurnOffersWhatTheListLacks(t *testing.T) {
	files := append(synthetic(200), file{name: "zebra-census", desc: "Counts zebras from photos of a herd."})
	c := catalog(t, files...)
	for _, mode := range []Mode{SystemXML, ToolDescription} {
		t.Run(string(mode), func(t *testing.T) {
			p := plan(t, c, &PlanOptions{Mode: mode, List: Options{Budget: 1000}})
			turn := func(prompt string) string {
				t.Helper()
				choice, err := p.Turn(t.Context(), c, prompt, nil)
				if err != nil || choice.Text.Tokens != Tokens(choice.Text.Body) {
					t.Fatalf("%d tokens, %v", choice.Text.Tokens, err)
				}
				return choice.Text.Body
			}
			before := p.Prefix().Body
			if strings.Contains(before, "zebra") {
				t.Fatalf("the list has everything:\n%s", before)
			}
			if got := turn("Good morning!"); got != "" {
				t.Errorf("nothing asked:\n%s", got)
			}
			want := offeredIntro + "- zebra-census: Counts zebras from photos of a herd."
			if got := turn("How many zebras are in this herd?"); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			if got := turn("How many zebras are in this herd?"); got != "" {
				t.Errorf("said again:\n%s", got)
			}
			p.Forget()
			if got := turn("How many zebras are in this herd?"); got != want {
				t.Errorf("after the conversation was shortened: %s", got)
			}
			if p.Prefix().Body != before {
				t.Error("the prefix changed")
			}
		})
	}
	p := plan(t, c, nil)
	if got, err := p.Turn(t.Context(), c, "How many zebras are in this herd?", nil); err != nil || got.Text.Body != "" {
		t.Errorf("with a list that has all: %q, %v", got.Text.Body, err)
	}
}
