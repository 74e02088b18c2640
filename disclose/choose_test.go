package disclose

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill"
)

func choose(t *testing.T, c *skill.Catalog, query string, o *ChooseOptions) Choice {
	t.Helper()
	choice, err := NewIndex(c).Choose(t.Context(), query, o)
	if err != nil {
		t.Fatal(err)
	}
	return choice
}

// R83 C56 C13: the tier for each kind of catalogue and query.
func TestChoose(t *testing.T) {
	pdf := file{name: "pdf", desc: "Works with PDF files. It does much more.", front: "triggers:\n  keywords: [acrobat]\n", body: "PDF steps."}
	csv := file{name: "csv", front: "triggers:\n  keywords: [comma]\n", body: "CSV steps."}
	plain := file{name: "plain", desc: "Has no triggers."}
	rows := []struct {
		name  string
		files []file
		query string
		tier  Tier
		body  string
	}{
		{"no skill", nil, "acrobat", TierNothing, ""},
		{"no match", []file{pdf, csv}, "good morning", TierBreadcrumb, "[2 skills available]"},
		{"one skill", []file{pdf}, "good morning", TierBreadcrumb, "[1 skill available]"},
		{"asked", []file{csv, pdf}, "What can you do?", TierRegistry, "## Available Skills\n\n- csv: Does csv.\n- pdf: Works with PDF files."},
		{"no triggers", []file{plain}, "good morning", TierRegistry, "## Available Skills\n\n- plain: Has no triggers."},
		{"mixed", []file{csv, pdf, plain}, "good morning", TierRegistry, "## Available Skills\n\n- plain: Has no triggers.\n\n[2 skills available]"},
		{"match", []file{csv, pdf, plain}, "open acrobat", TierInstructions, "PDF steps."},
		{"two match", []file{csv, pdf, plain}, "comma in acrobat", TierInstructions, "CSV steps.\n\nPDF steps."},
		{"name without triggers", []file{plain}, "use plain", TierInstructions, ""},
		{"asked, but about one", []file{csv, pdf}, "which skills does pdf need", TierInstructions, "PDF steps."},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := choose(t, catalog(t, r.files...), r.query, &ChooseOptions{Render: unframed})
			if got.Tier != r.tier || got.Text.Body != r.body {
				t.Errorf("got %s:\n%s\nwant %s:\n%s", got.Tier, got.Text.Body, r.tier, r.body)
			}
			if got.Text.Tokens != Tokens(got.Text.Body) {
				t.Errorf("got %d tokens, want %d", got.Text.Tokens, Tokens(got.Text.Body))
			}
		})
	}
}

// C71: of a registry that exceeds its budget a query gets the skills that it is about, and one that is about none gets the
// registry within the budget.
func TestChooseRanks(t *testing.T) {
	files := []file{{name: "alarm", front: "triggers:\n  keywords: [alarm]\n"}}
	for i := range 300 {
		files = append(files, file{name: fmt.Sprintf("plain-%03d", i), desc: fmt.Sprintf("Handles part%03d of the machine.", i)})
	}
	c := catalog(t, files...)
	got := choose(t, c, "is part250 or part007 of this machine broken?", &ChooseOptions{Budget: 400, Search: "x"})
	want := "## Available Skills\n\n- plain-007: Handles part007 of the machine.\n- plain-250: Handles part250 of the machine.\n" +
		"298 more skills: search with x\n\n[1 skill available]"
	if got.Tier != TierRegistry || got.Text.Body != want {
		t.Errorf("got %s:\n%s\nwant:\n%s", got.Tier, got.Text.Body, want)
	}
	for _, query := range []string{"good morning", "what can you do?"} {
		got := choose(t, c, query, &ChooseOptions{Budget: 400, Search: "x"}).Text
		if got.Tokens > 420 || !strings.Contains(got.Body, "- plain-000: Handles") || !strings.Contains(got.Body, " more skills: search with x") {
			t.Errorf("%q: %d tokens:\n%s", query, got.Tokens, got.Body)
		}
	}
	if got := choose(t, c, "is part250 broken?", nil).Text; len(got.Skills) != 300 {
		t.Errorf("without a budget: %d skills", len(got.Skills))
	}
}

// R78: max_skills is 3 unless said otherwise.
func TestChooseMax(t *testing.T) {
	var files []file
	for _, name := range []string{"a", "b", "c", "d"} {
		files = append(files, file{name: name + "-skill", front: "triggers:\n  verbs: [go]\n", body: name})
	}
	c := catalog(t, files...)
	if got := len(choose(t, c, "go", nil).Matches); got != 3 {
		t.Errorf("got %d, want 3", got)
	}
	if got := len(choose(t, c, "go", &ChooseOptions{MaxSkills: 4}).Matches); got != 4 {
		t.Errorf("got %d, want 4", got)
	}
	if body := choose(t, c, "go", nil).Text.Body; strings.Count(body, "<skill_content ") != 3 {
		t.Errorf("not framed:\n%s", body)
	}
}

// unframed renders the instructions of a skill alone.
func unframed(ctx context.Context, e skill.Entry) (Text, error) {
	s, err := e.Load(ctx)
	if err != nil {
		return Text{}, err
	}
	defer s.Close()
	return Instructions(ctx, s, nil)
}

// A skill that went away after the catalogue was made takes no other down.
func TestChooseSurvivesLoss(t *testing.T) {
	m := memory(file{name: "gone", front: "triggers:\n  verbs: [go]\n"}, file{name: "here", front: "triggers:\n  verbs: [go]\n", body: "Steps."})
	c := open(t, skill.Layer{Name: "bundled", Source: skill.FS(m, nil), Trust: skill.TrustBundled})
	x := NewIndex(c)
	m["gone/SKILL.md"] = &fstest.MapFile{Data: []byte("no front matter")}
	got, err := x.Choose(t.Context(), "go", &ChooseOptions{Render: unframed})
	if err != nil || got.Text.Body != "Steps." || len(got.Matches) != 1 || len(got.Text.Warnings) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	m["here/SKILL.md"] = m["gone/SKILL.md"]
	got, err = x.Choose(t.Context(), "go", nil)
	if err != nil || got.Tier != TierBreadcrumb || len(got.Text.Warnings) != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// R83: questions about the skills themselves.
func TestAsksForSkills(t *testing.T) {
	rows := map[string]bool{
		"what can you do?": true, "What could you do for me": true, "list skills": true, "list all available skills": true,
		"Show me your capabilities.": true, "which skills do you have": true, "what skills are there": true, "what can u do": true,
		"what can you do about the failing build": false, "skills": false, "do what you can": false, "": false, "list files": false,
		"what marketing skills should I put into my resume for this job": false, "tell me what you can do": true,
	}
	for query, want := range rows {
		if got := asksForSkills(query); got != want {
			t.Errorf("%q: got %v, want %v", query, got, want)
		}
	}
}
