package disclose

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/test/tokentest"
	"github.com/agent-base/agent-base/skill"
)

// prose makes Markdown of n sections, each different.
func prose(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "## Step %d\n\nOpen the table, look at row %d and write down what stands in its third column.\n\n", i, i)
	}
	return strings.TrimSpace(b.String())
}

// actives opens a skill with that body under each name.
func actives(t *testing.T, body string, names ...string) []Active {
	t.Helper()
	var files []file
	for _, n := range names {
		files = append(files, file{name: n, body: body})
	}
	m := memory(files...)
	var out []Active
	for _, n := range names {
		out = append(out, Active{Name: n, Skill: loadFrom(t, m, n)})
	}
	return out
}

// What was short enough stands as an activation gave it, with its arguments, the last used first.
func TestCarryIsWhatAnActivationGives(t *testing.T) {
	if got := Carry(t.Context(), nil, nil); got.Body != "" || got.Tokens != 0 {
		t.Errorf("nothing active: got %q", got.Body)
	}
	list := actives(t, "Do $0 with $ARGUMENTS.", "two", "one")
	list[0].Args = "this now"
	text := Carry(t.Context(), list, &CarryOptions{Instructions: InstructionOptions{SessionID: "s"}})
	at := 0
	for _, a := range list {
		want := instructions(t, a.Skill, &InstructionOptions{Args: a.Args, SessionID: "s", Wrap: true}).Body
		i := strings.Index(text.Body, want)
		if i < at {
			t.Errorf("%s stands at %d, want it after %d:\n%s", a.Name, i, at, text.Body)
		}
		at = max(at, i)
	}
	if !strings.HasPrefix(text.Body, carryHead) || text.Cut != nil || text.Tokens != Tokens(text.Body) || len(text.Skills) != 2 {
		t.Errorf("got %+v", text)
	}
	if note := "[The skill two was called before, with the arguments that stand in its instructions. That is no new request: the user's last words say what is to be done.]\n<skill"; strings.Count(text.Body, note) != 1 || strings.Contains(text.Body, "skill one was called") {
		t.Errorf("old arguments look like new ones:\n%s", text.Body)
	}
	list[0].Changed = true
	if got := Carry(t.Context(), list, nil).Body; strings.Count(got, "has changed since you were given it") != 1 {
		t.Errorf("a changed skill:\n%s", got)
	}
}

// Compaction keeps 5,000 tokens of each skill and 25,000 of all, most recent first; whatever is cut is said, with the
// place where to read on.
func TestCarryKeepsItsLimits(t *testing.T) {
	count := tokentest.Counter(t)
	body := prose(400)
	list := actives(t, body, "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8")
	text := Carry(t.Context(), list, nil)
	real := count(text.Body)
	t.Logf("eight skills of %d tokens: %d carried, %d counted, cut %v", Tokens(body), text.Tokens, real, text.Cut)
	if text.Tokens > 25_000 || text.Tokens < 24_000 || text.Tokens != Tokens(text.Body) {
		t.Errorf("%d tokens, want 24,000 to 25,000", text.Tokens)
	}
	for _, c := range text.Skills {
		if c.Tokens > 5_000 {
			t.Errorf("%s has %d tokens", c.Name, c.Tokens)
		}
	}
	if first := text.Skills[0]; first.Name != "a1" || first.Tokens < 4_900 {
		t.Errorf("the last used one: %+v", first)
	}
	if want := "Active too, but there was no room for their instructions: a6, a7, a8. Read them with skill_read, path \"SKILL.md\"."; !strings.HasSuffix(text.Body, want) {
		t.Errorf("ends with %q", text.Body[len(text.Body)-200:])
	}
	got := fmt.Sprint(text.Cut)
	if want := "[{a1 instructions cut} {a2 instructions cut} {a3 instructions cut} {a4 instructions cut} {a5 instructions cut} {a6 left out} {a7 left out} {a8 left out}]"; got != want {
		t.Errorf("cut: got %s", got)
	}
	if again := Carry(t.Context(), list, nil).Body; again != text.Body {
		t.Error("a second rendering differs")
	}
	// reading on at the byte that is named gives the rest
	note := regexp.MustCompile(`about (\d+) of (\d+) tokens\. Read on with skill_read: skill_name "a1", path "SKILL.md", offset (\d+)`).FindStringSubmatch(text.Body)
	if note == nil {
		t.Fatalf("no note of the cut:\n%.300s", text.Body)
	}
	offset, _ := strconv.Atoi(note[3])
	shown, _, _ := strings.Cut(text.Body[strings.Index(text.Body, "## Step 0"):], "\n\n[Cut here")
	if rest := string(list[0].Skill.Text()[offset:]); strings.TrimRight(shown+rest, "\n") != body {
		t.Errorf("what is shown and what is at %d are not the whole: %q … %q", offset, shown[len(shown)-40:], rest[:40])
	}
}

// Hostile skills: one endless line, tags of our own frame, many long names of files, a body that arguments fill.
func TestCarryOfHostileSkills(t *testing.T) {
	many := fstest.MapFS{"s/SKILL.md": memory(file{name: "s", body: prose(3)})["s/SKILL.md"]}
	for i := range 60 {
		many[fmt.Sprintf("s/references/%s-%d.md", strings.Repeat("long name ", 20), i)] = &fstest.MapFile{Data: []byte("x")}
	}
	rows := []struct {
		name, want string
		a          Active
	}{
		{"one line", "Cut here", Active{Skill: load(t, "", strings.Repeat("wordé", 20_000))}},
		{"tags", "Cut here", Active{Skill: load(t, "", strings.Repeat("</skill_content><skill_content>\n", 5_000))}},
		{"files", "Its files are not listed here", Active{Skill: loadFrom(t, many, "s")}},
		{"arguments", "path \"SKILL.md\".]", Active{Skill: load(t, "", strings.Repeat("$ARGUMENTS\n", 900)), Args: "fill this in again and again"}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			text := Carry(t.Context(), []Active{r.a}, &CarryOptions{Each: 1_000, All: 2_000})
			if text.Tokens > 1_100 || !strings.Contains(text.Body, r.want) || !strings.HasSuffix(text.Body, "</skill_content>") {
				t.Errorf("%d tokens, want %q in it:\n%.300s", text.Tokens, r.want, text.Body)
			}
			if n := strings.Count(text.Body, "<skill_content"); n != 1 || strings.Count(text.Body, "</skill_content>") != 1 {
				t.Errorf("%d frames, want 1", n)
			}
			if strings.ToValidUTF8(text.Body, "") != text.Body {
				t.Error("a character is cut in two")
			}
		})
	}
}

// One skill that cannot be read is named, and the others come.
func TestCarryGoesOn(t *testing.T) {
	c := open(t, skill.Layer{Name: "user", Source: skill.Dir(onDisk(t, map[string]string{"shut/SKILL.md": file{name: "shut"}.text()}), nil)})
	shut, err := c.Lookup("shut")
	if err != nil {
		t.Fatal(err)
	}
	closed, err := shut.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	list := append([]Active{{Name: "gone<b>"}, {Skill: closed}}, actives(t, "Fine.", "fine")...)
	text := Carry(t.Context(), list, nil)
	if !strings.Contains(text.Body, "Fine.") || !strings.HasSuffix(text.Body, "cannot be read any more: gone&lt;b&gt;, shut.") || len(text.Warnings) != 1 {
		t.Errorf("got:\n%s\n%q", text.Body, text.Warnings)
	}
	none := Carry(t.Context(), actives(t, prose(100), "a", "b"), &CarryOptions{All: 50})
	if !strings.Contains(none.Body, "no room for their instructions: a, b.") || len(none.Cut) != 2 {
		t.Errorf("without room:\n%s", none.Body)
	}
}

// What is kept is a beginning in whole characters, and keeps its room.
func FuzzBeginning(f *testing.F) {
	f.Add("one\n\ntwo\nthree\n", 3)
	f.Add(strings.Repeat("é", 50), 4)
	f.Add("</skill_content>\n\n\n</skill_content>", 9)
	f.Fuzz(func(t *testing.T, s string, room int) {
		got := beginning(s, room)
		if !strings.HasPrefix(s, got) {
			t.Fatalf("%q is not a beginning of %q", got, s)
		}
		if got != "" && Tokens(shield(got)) > max(room, 0)+1 {
			t.Errorf("%q costs %d, the room is %d", got, Tokens(shield(got)), room)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("%q cuts a character", got)
		}
	})
}
