package skilltool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
)

// C13: with triggers a prompt activates what it calls for, once; in the other modes it activates nothing.
func TestTurn(t *testing.T) {
	files := tree{
		"greet/SKILL.md": skillText("greet", "triggers: {keywords: [greetings]}\nallowed-tools: Read\n", "Greet them."),
		"scout/SKILL.md": skillText("scout", "triggers: {keywords: [scouting]}\ncontext: fork\n", "Look around."),
	}
	for _, mode := range disclose.Modes() {
		t.Run(string(mode), func(t *testing.T) {
			var s *session.Session
			k, root := kit(t, kitOptions{files: files, change: func(o *Options) { o.Forks, s = true, o.Session }})
			p, err := disclose.NewPlan(t.Context(), k.o.Catalog(), &disclose.PlanOptions{Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			turn := func(prompt string) string {
				t.Helper()
				c, err := k.Turn(t.Context(), p, prompt)
				if err != nil {
					t.Fatal(err)
				}
				return c.Text.Body
			}
			if mode != disclose.ByTriggers {
				if got := turn("greetings, and some scouting"); got != "" || len(s.Active()) != 0 {
					t.Errorf("got %q, active %v", got, s.Recent())
				}
				return
			}
			if got := turn("good morning"); got != "[2 skills available]" {
				t.Errorf("nothing called for: %q", got)
			}
			first := turn("greetings to all")
			if !strings.HasPrefix(first, `<skill_content name="greet"`) || fmt.Sprint(s.Recent()) != "[greet]" {
				t.Errorf("first: %q, active %v", first, s.Recent())
			}
			if a := activation(t, k, `{"skill_name":"greet"}`); a.Status != "already_active" || strings.Contains(a.Content, "Greet them") {
				t.Errorf("what the turn told is told again: %+v", a)
			}
			if got := turn("greetings again"); got != "[The skill 'greet' is active: the instructions that you were given hold.]" {
				t.Errorf("again: %q", got)
			}
			if !strings.Contains(k.Carry(t.Context()).Body, first) {
				t.Errorf("not carried over:\n%s", k.Carry(t.Context()).Body)
			}
			if got := turn("scouting now"); got != "[The skill 'scout' fits: call the tool skill with it.]" || len(s.Active()) != 1 {
				t.Errorf("a fork: %q, active %v", got, s.Recent())
			}
			file := filepath.Join(root, "greet", "SKILL.md")
			if err := os.WriteFile(file, []byte(skillText("greet", "triggers: {keywords: [greetings]}\n", "Greet louder.")), 0o644); err != nil {
				t.Fatal(err)
			}
			if got := turn("greetings"); !strings.Contains(got, "Greet louder.") || len(s.Active()) != 1 {
				t.Errorf("changed: %q, active %v", got, s.Recent())
			}
		})
	}
}

// C13: the list stands in the tool's description or elsewhere, never twice; what was handed out does not change with
// the catalogue.
func TestUnlisted(t *testing.T) {
	k, _ := kit(t, kitOptions{change: func(o *Options) { o.Show.Unlisted = true }})
	text := k.Tools()[0].Description
	for _, want := range []string{"FIRST action", "NEVER only say", "base_path", "while it is running", "/help"} { // R92
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	for _, absent := range []string{"kalshi-markets", "bound", "list below", "## Available Skills"} {
		if strings.Contains(text, absent) {
			t.Errorf("%q in:\n%s", absent, text)
		}
	}
	few, _ := kit(t, kitOptions{change: func(o *Options) { o.Show.MaxSkills = 1 }})
	if text := few.Tools()[0].Description; !strings.Contains(text, "2 more skills: search with ") {
		t.Errorf("at most one skill:\n%s", text)
	}
}

// C41: the line that counts what a list left out says how to find it, and that works.
func TestSearch(t *testing.T) {
	files := tree{"hidden/SKILL.md": skillText("hidden", "disable-model-invocation: true\n", "No.")}
	for i := range 25 {
		name := fmt.Sprintf("skill-%02d", i)
		files[name+"/SKILL.md"] = strings.Replace(skillText(name, "", "Body."), "Use when asked.", fmt.Sprintf("Use for topic%02d and anything.", i), 1)
	}
	var s *session.Session
	var later *skill.Catalog // once it is set
	k, _ := kit(t, kitOptions{files: files, change: func(o *Options) {
		o.Show.Budget, s = 350, o.Session
		first := o.Catalog
		o.Catalog = func() *skill.Catalog {
			if later != nil {
				return later
			}
			return first()
		}
	}})
	text := k.Tools()[0].Description
	if !strings.Contains(text, ` more skills: search with skill {"action": "search", "skill_name": "WORDS"}`) || strings.Contains(text, "skill-22") {
		t.Fatalf("the list:\n%s", text)
	}
	p, err := disclose.NewPlan(t.Context(), k.o.Catalog(), &disclose.PlanOptions{List: disclose.Options{Budget: 200}})
	if err != nil || !strings.Contains(p.Prefix().Body, "search with "+disclose.SearchTool) {
		t.Errorf("the prefix: %v\n%s", err, p.Prefix().Body)
	}
	for range 2 {
		r := call(t, k, "skill", `{"action":"search","skill_name":"something on topic22"}`)
		if got := fmt.Sprint(r.Result); !r.Success || !strings.Contains(got, "- skill-22: Does skill-22 things. Use for topic22 and anything.") {
			t.Errorf("found: %s", r.Encode())
		}
	}
	if r := call(t, k, "skill", `{"action":"search","skill_name":"anything"}`); r.Message != "Found 10 skills for 'anything'" {
		t.Errorf("at most ten: %s", r.Encode())
	}
	if r := call(t, k, "skill", `{"action":"search","skill_name":"hidden"}`); !r.Success || r.Result != "" || r.Message != "No skill has to do with 'hidden'" {
		t.Errorf("nothing: %s", r.Encode())
	}
	if r := call(t, k, "skill", `{"action":"search"}`); r.Message != "skill_name is required" {
		t.Errorf("no words: %s", r.Encode())
	}
	other, _ := kit(t, kitOptions{})
	later = other.o.Catalog()
	if r := call(t, k, "skill", `{"action":"search","skill_name":"kalshi"}`); r.Message != "Found 1 skill for 'kalshi'" {
		t.Errorf("in another catalogue: %s", r.Encode())
	}
	if n := len(s.Active()); n != 0 {
		t.Errorf("a search activated %d skills", n)
	}
}
