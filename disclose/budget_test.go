package disclose

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var moreRE = regexp.MustCompile(`(?m)(?:^|"more":)(\d+)(?: more skills?: search with|,"search")`)

// counted returns how many skills the text says are not in it.
func counted(body string) int {
	m := moreRE.FindStringSubmatch(body)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// C41: whatever the budget, the text keeps it and no skill is lost silently.
func TestBudgetProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(rt, "skills")
		files := synthetic(n)
		for i := range files {
			files[i].desc += rapid.StringMatching(`( [a-zA-Z0-9 .<&é"-]{0,200})?`).Draw(rt, "desc")
		}
		c := catalog(t, files...)
		style := rapid.SampledFrom(slices.DeleteFunc(Styles(), func(s Style) bool { return s == Breadcrumb })).Draw(rt, "style")
		budget := rapid.IntRange(1, 4000).Draw(rt, "budget")
		o := &Options{Style: style, Budget: budget, MaxSkills: rapid.SampledFrom([]int{0, 0, 3, 17}).Draw(rt, "max")}
		text, err := Catalog(t.Context(), c, o)
		if err != nil {
			rt.Fatal(err)
		}
		if text.Tokens != Tokens(text.Body) {
			rt.Fatalf("says %d tokens, has %d", text.Tokens, Tokens(text.Body))
		}
		closing := string(styleOf(style).closing(nil, n, ""+SearchTool))
		if text.Tokens > budget && text.Body != closing {
			rt.Fatalf("%d tokens exceed %d:\n%s", text.Tokens, budget, text.Body)
		}
		if got := len(text.Skills) + counted(text.Body); got != n {
			rt.Fatalf("%d skills in the text and %d counted, want %d together:\n%s", len(text.Skills), counted(text.Body), n, text.Body)
		}
		for _, s := range text.Skills {
			if !strings.Contains(text.Body, s.Name) {
				rt.Fatalf("%q is missing in:\n%s", s.Name, text.Body)
			}
		}
		left := 0
		for _, cut := range text.Cut {
			if cut.What == LeftOut {
				left++
			}
		}
		if left != counted(text.Body) {
			rt.Fatalf("Cut has %d left out, the text counts %d", left, counted(text.Body))
		}
		o.Budget += rapid.IntRange(1, 300).Draw(rt, "more")
		wider, _ := Catalog(t.Context(), c, o)
		if wider.Tokens < text.Tokens && text.Body != closing || len(wider.Skills) < len(text.Skills) {
			rt.Fatalf("budget %d: %d tokens, %d skills; budget %d: %d tokens, %d skills", budget, text.Tokens, len(text.Skills), o.Budget, wider.Tokens, len(wider.Skills))
		}
	})
}

// C41: the order in which a shrinking budget takes things away.
func TestBudgetSteps(t *testing.T) {
	c := catalog(t, synthetic(12)...)
	whole := render(t, c, &Options{})
	if len(whole.Cut) != 0 {
		t.Fatalf("cut without a budget: %v", whole.Cut)
	}
	worst := func(text Text) string {
		rank := []string{"", Shortened, NameOnly, LeftOut}
		at := 0
		for _, cut := range text.Cut {
			at = max(at, slices.Index(rank, cut.What))
		}
		return rank[at]
	}
	var steps []string
	for budget := whole.Tokens; budget > 0; budget-- {
		text := render(t, c, &Options{Budget: budget})
		if w := worst(text); len(steps) == 0 || steps[len(steps)-1] != w {
			steps = append(steps, w)
		}
	}
	if want := []string{"", Shortened, NameOnly, LeftOut}; !slices.Equal(steps, want) {
		t.Errorf("got %q, want %q", steps, want)
	}
	if got, want := render(t, c, &Options{Budget: 1}).Body, "12 more skills: search with "+SearchTool; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// C41: every budget there is, in the styles whose items differ most at their ends.
func TestBudgetHoldsEverywhere(t *testing.T) {
	c := catalog(t, synthetic(12)...)
	for _, style := range []Style{JSON, Tool, SkillsRef} {
		before := -1
		for budget := render(t, c, &Options{Style: style}).Tokens; budget > 60; budget -= 3 {
			text := render(t, c, &Options{Style: style, Budget: budget})
			if text.Tokens > budget && len(text.Skills) > 0 {
				t.Fatalf("%s: %d tokens exceed %d:\n%s", style, text.Tokens, budget, text.Body)
			}
			if before >= 0 && len(text.Skills) > before {
				t.Fatalf("%s: %d skills at %d tokens, fewer with more", style, len(text.Skills), budget)
			}
			before = len(text.Skills)
		}
	}
}

// C41: room that names leave goes to brief forms, of the most wanted skills first.
func TestBudgetUsesItsRoom(t *testing.T) {
	files := synthetic(40)
	files[22].front += "priority: 5\n"
	c := catalog(t, files...)
	names := render(t, c, &Options{Style: Harness, Budget: 1300})
	if len(names.Skills) != 40 || names.Tokens < 1250 {
		t.Errorf("got %d skills and %d tokens of 1300", len(names.Skills), names.Tokens)
	}
	for _, cut := range names.Cut {
		if cut.Name == files[22].name && cut.What != Shortened {
			t.Errorf("the skill of the highest priority: %s", cut.What)
		}
	}
}

// C41: descriptions are shortened to one common length, so that no skill pays for another.
func TestBudgetIsFair(t *testing.T) {
	long := strings.Repeat("sorts the books of the library by colour ", 12)
	c := catalog(t, file{name: "a", desc: long}, file{name: "b", desc: long}, file{name: "c", desc: "Short one."})
	text := render(t, c, &Options{Style: Markdown, Budget: 150})
	lines := strings.Split(text.Body, "\n")
	if len(lines[0]) != len(lines[1]) || len(lines[0]) < 100 || !strings.HasSuffix(lines[0], "...") {
		t.Errorf("got %q and %q", lines[0], lines[1])
	}
	if lines[2] != "- c: Short one." {
		t.Errorf("got %q", lines[2])
	}
	if got, want := fmt.Sprint(text.Cut), "[{a description shortened} {b description shortened}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// R81 R82 R83: what a normal skill costs in each list.
func TestCostPerSkill(t *testing.T) {
	c := catalog(t, synthetic(200)...)
	limits := map[Style]int{Wink: 100, Harness: 100, Tool: 100, Markdown: 100, JSON: 100, Registry: 22, WinkNames: 12}
	for style, limit := range limits {
		text := render(t, c, &Options{Style: style})
		sum := 0
		for _, s := range text.Skills {
			sum += s.Tokens
		}
		if mean := sum / len(text.Skills); mean > limit {
			t.Errorf("%s: %d tokens a skill, want at most %d", style, mean, limit)
		}
	}
	if text := render(t, c, &Options{Style: Breadcrumb}); text.Body != "[200 skills available]" || text.Tokens > 10 {
		t.Errorf("breadcrumb: %q, %d tokens", text.Body, text.Tokens)
	}
}

func TestMaxSkills(t *testing.T) {
	c := catalog(t, file{name: "a"}, file{name: "b"}, file{name: "c"})
	text := render(t, c, &Options{Style: Markdown, MaxSkills: 2, Search: "skill_search"})
	if want := "- a: Does a.\n- b: Does b.\n1 more skill: search with skill_search"; text.Body != want {
		t.Errorf("got %q, want %q", text.Body, want)
	}
	if want := []Cut{{"c", LeftOut}}; !slices.Equal(text.Cut, want) {
		t.Errorf("got %v, want %v", text.Cut, want)
	}
}
