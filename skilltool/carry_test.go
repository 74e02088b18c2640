package skilltool

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/session"
)

// activation calls the tool skill and returns its result.
func activation(t *testing.T, k *Kit, args string) Activation {
	t.Helper()
	r := call(t, k, "skill", args)
	a, ok := r.Result.(Activation)
	if !ok || !r.Success {
		t.Fatalf("%s: %s", args, r.Encode())
	}
	return a
}

// What the model was given already is not given twice: only other arguments or another content bring the text again.
func TestActivatingTwice(t *testing.T) {
	var s *session.Session
	k, root := kit(t, kitOptions{change: func(o *Options) { s = o.Session }})
	first := activation(t, k, `{"skill_name":"bound","args":"a b"}`)
	again := activation(t, k, `{"skill_name":"BOUND","args":"a b"}`)
	if again.Status != "already_active" || strings.Contains(again.Content, "skill_content") || !strings.Contains(again.Content, "already active") {
		t.Errorf("the same again: %+v", again)
	}
	if again.BasePath != first.BasePath || len(again.Content) > 200 {
		t.Errorf("the note: %+v", again)
	}
	other := activation(t, k, `{"skill_name":"bound","args":"c"}`)
	if other.Status != "already_active" || !strings.Contains(other.Content, "Do c and c.") {
		t.Errorf("with other arguments: %+v", other)
	}
	file := filepath.Join(root, "bound", "SKILL.md")
	if err := os.WriteFile(file, []byte(skillText("bound", "allowed-tools: Read\n", "New $ARGUMENTS[0].")), 0o644); err != nil {
		t.Fatal(err)
	}
	if a := activation(t, k, `{"skill_name":"bound","args":"c"}`); !strings.Contains(a.Content, "New c.") {
		t.Errorf("changed: %+v", a)
	}
	if a, _ := s.Lookup("bound"); len(s.Active()) != 1 || a.Args != "c" || len(a.Tools.Rules) != 1 {
		t.Errorf("in the session: %+v", a)
	}
}

// The path that the note names can be read, whatever the manifest is called.
func TestActivatingTwiceNamesTheManifest(t *testing.T) {
	files := maps.Clone(demo)
	files["low/skill.md"] = skillText("low", "", "The text.")
	k, _ := kit(t, kitOptions{files: files})
	for _, name := range []string{"low", "bound"} {
		activation(t, k, `{"skill_name":"`+name+`"}`)
		again := activation(t, k, `{"skill_name":"`+name+`"}`)
		_, rest, _ := strings.Cut(again.Content, `path "`)
		file, _, _ := strings.Cut(rest, `"`)
		if r := call(t, k, "skill_read", `{"skill_name":"`+name+`","path":"`+file+`"}`); !r.Success {
			t.Errorf("%s: %q: %s", name, file, r.Encode())
		}
	}
}

// A shortened conversation keeps its active skills: as they were told, with their arguments, the last told first; the
// session's state is untouched, also through another process.
func TestCarry(t *testing.T) {
	var s *session.Session
	files := maps.Clone(demo)
	files["quiet/SKILL.md"] = skillText("quiet", "", "In ${CLAUDE_PROJECT_DIR}.")
	k, root := kit(t, kitOptions{files: files, change: func(o *Options) { s, o.Show.Instructions.ProjectDir = o.Session, "/project" }})
	if got := k.Carry(t.Context()).Body; got != "" {
		t.Errorf("nothing active: %q", got)
	}
	bound := activation(t, k, `{"skill_name":"bound","args":"a b"}`)
	quiet := activation(t, k, `{"skill_name":"quiet"}`)
	kalshi := activation(t, k, `{"skill_name":"kalshi-markets"}`)
	got := k.Carry(t.Context()).Body
	for _, pair := range [][2]Activation{{kalshi, quiet}, {quiet, bound}} {
		if i, j := strings.Index(got, pair[0].Content), strings.Index(got, pair[1].Content); i < 0 || j < i {
			t.Errorf("%s at %d, %s at %d in:\n%s", pair[0].SkillName, i, pair[1].SkillName, j, got)
		}
	}
	small := k.o
	small.Show.Carry.All = 200
	if text := New(&small).Carry(t.Context()); text.Tokens > 200 || len(text.Cut) == 0 || !strings.Contains(text.Body, "bound") {
		t.Errorf("for a small window: %d tokens, cut %v\n%s", text.Tokens, text.Cut, text.Body)
	}
	if again := k.Carry(t.Context()).Body; again != got {
		t.Error("a second text differs")
	}
	if a := activation(t, k, `{"skill_name":"bound","args":"a b"}`); a.Status != "already_active" || strings.Contains(a.Content, "skill_content") {
		t.Errorf("activated after shortening: %+v", a)
	}

	// another process, where one skill has changed and one is gone
	if err := os.RemoveAll(filepath.Join(root, "quiet")); err != nil {
		t.Fatal(err)
	}
	later := session.New(nil)
	for _, o := range later.Restore(t.Context(), k.o.Catalog(), s.State()) {
		if back := o.Err == nil; back == (o.Name == "quiet") {
			t.Errorf("%s: %v", o.Name, o.Err)
		}
	}
	o := k.o
	o.Session = later
	text := New(&o).Carry(t.Context()).Body
	if !strings.Contains(text, bound.Content) || !strings.Contains(text, kalshi.Content) || strings.Contains(text, "quiet") {
		t.Errorf("after a restart:\n%s", text)
	}
	if text := k.Carry(t.Context()).Body; !strings.Contains(text, "cannot be read any more: quiet") {
		t.Errorf("a skill that is gone:\n%s", text)
	}
}
