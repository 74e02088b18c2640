package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// ask returns "" if the session lets the tool be called with a command, and otherwise the error.
func ask(t *testing.T, s *Session, tool, command string) string {
	t.Helper()
	args := json.RawMessage("{}")
	if command != "" {
		args, _ = json.Marshal(map[string]string{"command": command})
	}
	if err := s.Check(t.Context(), allow.Call{Tool: tool, Args: args}); err != nil {
		return err.Error()
	}
	return ""
}

// enter activates skills in a session.
func enter(t *testing.T, s *Session, skills ...*skill.Skill) []Token {
	t.Helper()
	var out []Token
	for _, k := range skills {
		token, err := s.Activate(t.Context(), k, "")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, token)
	}
	return out
}

// R120, R121, C11, R133: what is not on the list of the active skill is refused, in any spelling of a tool's name, and the
// text says what is allowed.
func TestCheck(t *testing.T) {
	s := New(nil)
	if got := ask(t, s, "bash", "ls"); got != "" {
		t.Errorf("without a skill: %s", got)
	}
	enter(t, s, load(t, "bound|Read, Bash(git status:*)")...)
	for _, tt := range []struct{ tool, command, why string }{
		{"read_file", "", ""},
		{"READ_FILE", "", ""},
		{"bash", "git status -s", ""},
		{"bash", "rm -rf .", ": no rule covers the command"},
		{"write_file", "", "-"},
		{"bash2", "", "-"},
	} {
		got := ask(t, s, tt.tool, tt.command)
		want := "[SKILL_TOOL_NOT_ALLOWED] Tool '" + tt.tool + "' not allowed by skill 'bound'. Allowed tools: Read, Bash(git status:*) (not in allowed-tools list)" + strings.TrimPrefix(tt.why, "-")
		if tt.why == "" && got != "" || tt.why != "" && (!strings.HasPrefix(got, want) || !strings.HasSuffix(got, "(skill=bound, tool="+tt.tool+")")) {
			t.Errorf("%s %q: got %q, want %q", tt.tool, tt.command, got, want)
		}
	}
	var v *Violation
	if err := s.Check(t.Context(), allow.Call{Tool: "LLM"}); !errors.As(err, &v) ||
		v.Message() != "Tool 'LLM' not allowed by skill 'bound'. Allowed tools: Read, Bash(git status:*) (not in allowed-tools list)" {
		t.Errorf("the message is %q", v.Message())
	}
}

// C8, security 2.11 #170: an empty list allows nothing, no list allows everything.
func TestEmptyListAllowsNothing(t *testing.T) {
	s := New(nil)
	k := load(t, "none|[]", "free")
	tokens := enter(t, s, k[0])
	if got := ask(t, s, "read_file", ""); !strings.Contains(got, "Allowed tools: none (not in allowed-tools list)") {
		t.Errorf("an empty list: %q", got)
	}
	if err := s.Deactivate(t.Context(), tokens[0]); err != nil {
		t.Fatal(err)
	}
	enter(t, s, k[1])
	if got := ask(t, s, "anything", ""); got != "" {
		t.Errorf("without a list: %q", got)
	}
}

// C9, R122, security 2.12 #173: all active skills must allow a call; with the policy top, the last one decides. After each
// step what is left restricts.
func TestStackPolicies(t *testing.T) {
	for _, tt := range []struct {
		policy StackPolicy
		want   string // after each activation and then after each deactivation: which of Read, Write, Grep are allowed
	}{
		{"", "read_file write_file | read_file | read_file | read_file | read_file write_file | all"},
		{PolicyTop, "read_file write_file | read_file grep | all | read_file grep | read_file write_file | all"},
	} {
		s := New(&Options{Policy: tt.policy})
		k := load(t, "a|Read Write", "b|Read Grep", "free")
		var got []string
		look := func() {
			var names []string
			for _, tool := range []string{"read_file", "write_file", "grep"} {
				if ask(t, s, tool, "") == "" {
					names = append(names, tool)
				}
			}
			if len(names) == 3 {
				names = []string{"all"}
			}
			got = append(got, strings.Join(names, " "))
		}
		for _, one := range k {
			enter(t, s, one)
			look()
		}
		for range k {
			if _, err := s.DeactivateName(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			look()
		}
		if text := strings.Join(got, " | "); text != tt.want {
			t.Errorf("policy %q:\ngot  %s\nwant %s", tt.policy, text, tt.want)
		}
	}
}

// R123: a group of tools is named with its star, what two skills allow is common to both, and what is forbidden is missing.
func TestAllowedGroups(t *testing.T) {
	for _, tt := range []struct {
		skills []string
		want   string
	}{
		{[]string{"a|mcp__github__*"}, "[mcp__github__*]"},
		{[]string{"a|mcp__github__* Read", "b|mcp__github__search"}, "[mcp__github__search]"},
		{[]string{"a|mcp__github__search", "b|mcp__github__* Read"}, "[mcp__github__search]"},
		{[]string{"a|mcp__github__*", "b|mcp__git*"}, "[mcp__github__*]"},
		{[]string{"a|mcp__github__*", "b|mcp__gitlab__*"}, "[]"},
		{[]string{"a|Read Write Bash(git:*)", "b||Write"}, "[bash read_file]"},
		{[]string{"a|Read Write", "b||Write(secret/**)"}, "[read_file write_file]"},
		{[]string{"a|mcp__github__search Read", "b||mcp__github__*"}, "[read_file]"},
	} {
		s := New(nil)
		for _, one := range load(t, tt.skills...) {
			enter(t, s, one)
		}
		if got := fmt.Sprint(s.Restriction().AllowedToolNames()); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.skills, got, tt.want)
		}
	}
}

// R123: a restriction says whether it restricts and what it allows.
func TestRestriction(t *testing.T) {
	s := New(nil)
	if r := s.Restriction(); r.IsRestricted() || r.AllowedToolNames() != nil || r.Skills() != nil {
		t.Errorf("without a skill: %+v", r)
	}
	k := load(t, "free", "a|Read Bash(git:*) Write", "b|bash view", "none|[]")
	for i, want := range []string{"false [] []", "true [bash read_file write_file] [a]", "true [bash read_file] [a b]", "true [] [a b none]"} {
		enter(t, s, k[i])
		r := s.Restriction()
		if got := fmt.Sprint(r.IsRestricted(), r.AllowedToolNames(), r.Skills()); got != want {
			t.Errorf("after %s: got %s, want %s", k[i].Name(), got, want)
		}
		if i == 0 != (r.AllowedToolNames() == nil) {
			t.Errorf("after %s: nil is %v", k[i].Name(), r.AllowedToolNames())
		}
	}
}

// forbidding returns a skill with disallowed-tools.
func forbidding(t *testing.T, front string) *skill.Skill {
	t.Helper()
	files := fstest.MapFS{"f/SKILL.md": &fstest.MapFile{Data: []byte("---\nname: f\ndescription: Does things\n" + front + "---\nBody\n")}}
	return open(t, catalog(t, skill.FS(files, nil)), "f")
}

// What disallowed-tools names is refused, also if it is allowed; a list that cannot be read allows nothing.
func TestDisallowed(t *testing.T) {
	for _, tt := range []struct{ front, tool, command, want string }{
		{"disallowed-tools: Write\n", "read_file", "", ""},
		{"disallowed-tools: Write\n", "write_file", "", "Tool 'write_file' not allowed by skill 'f'. Allowed tools: all others (not in allowed-tools list): disallowed-tools has Write"},
		{"allowed-tools: Bash\ndisallowed-tools: Bash(git push:*)\n", "bash", "git status", ""},
		{"allowed-tools: Bash\ndisallowed-tools: Bash(git push:*)\n", "bash", "cd x && git push", "disallowed-tools has Bash(git push:*)"},
		{"allowed-tools: [Read, Write]\ndisallowed-tools: Write(../x)\n", "read_file", "", ""},
		{"allowed-tools: [Read, Write]\ndisallowed-tools: Write(../x)\n", "write_file", "", "disallowed-tools has Write(../x)"},
		{"allowed-tools: Read\ndisallowed-tools: '*'\n", "read_file", "", "not allowed by skill 'f'"},
		{"allowed-tools: Read\ndisallowed-tools: Edti(docs/**)\n", "read_file", "", "not allowed by skill 'f'"},
		{"allowed-tools: Read\ndisallowed-tools: deploy(prod)\n", "read_file", "", ""},
		{"disallowed-tools: Write\ndisallowed-tools: Bash\nallowed-tools: Read\n", "read_file", "", "not allowed by skill 'f'"},
		{"disallowed-tools: {Write: true}\n", "read_file", "", "not allowed by skill 'f'"},
		{"disallowed-tools: []\n", "read_file", "", ""},
	} {
		s := New(nil)
		enter(t, s, forbidding(t, tt.front))
		if got := ask(t, s, tt.tool, tt.command); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%q, %s %s: got %q, want %q", tt.front, tt.tool, tt.command, got, tt.want)
		}
	}
}

// R123, R130, R186: each call in a skill is an event at debug, each violation one at warn; without a skill there is none.
func TestCallsAreTraced(t *testing.T) {
	var got []string
	record := trace.TracerFunc(func(_ context.Context, e trace.Event) {
		line := fmt.Sprintf("%s %s %s %s %s", e.Level, e.Kind, e.Skill, e.Tool, e.Message)
		if e.Err != nil {
			line += ": " + e.Err.Error()
		}
		for _, a := range e.Attrs {
			line += " " + a.String()
		}
		got = append(got, line)
	})
	for _, mode := range []Enforce{"", EnforceWarn, EnforceOff} {
		s := New(&Options{Trace: record, Enforce: mode})
		ask(t, s, "LLM", "")
		k := load(t, "bound|Read", "free")
		enter(t, s, k...)
		got = nil
		s.Permit(t.Context(), "skill")
		ask(t, s, "read_file", "")
		refused := ask(t, s, "LLM", "") != ""
		want := []string{
			"DEBUG tool_execution_in_skill free skill Tool 'skill' is called in skill 'free'",
			"DEBUG tool_execution_in_skill free read_file Tool 'read_file' is called in skill 'free'",
			fmt.Sprintf("WARN tool_restriction_violated bound LLM Tool 'LLM' not allowed by skill 'bound': Tool 'LLM' not in allowed-tools list allowed_tools=[Read] enforced=%v", mode == ""),
		}
		if mode == EnforceOff {
			want[2] = "DEBUG tool_execution_in_skill free LLM Tool 'LLM' is called in skill 'free'"
		}
		if refused != (mode == "") || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q: refused %v, got\n%s\nwant\n%s", mode, refused, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// R130, R168: an activation that is not new says so.
func TestChangesAreTraced(t *testing.T) {
	var got []string
	record := trace.TracerFunc(func(_ context.Context, e trace.Event) { got = append(got, fmt.Sprint(e.Message, e.Attrs)) })
	f := folder{t.TempDir()}
	f.write(t, "a", "allowed-tools: Read\n", "A")
	s := New(&Options{Trace: record})
	token := enter(t, s, f.load(t, "a"))[0]
	if err := s.Renew(t.Context(), token, f.load(t, "a"), "x"); err != nil {
		t.Fatal(err)
	}
	New(&Options{Trace: record}).Restore(t.Context(), f.catalog(t), s.State())
	want := "Activated skill 'a'[allowed_tools=[Read]] Renewed skill 'a'[allowed_tools=[Read] change=renewed] Restored skill 'a'[allowed_tools=[Read] change=restored]"
	id, err := f.load(t, "a").ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := " skill_path=" + filepath.Join(f.root, "a", "SKILL.md") + " layer=" + id.Layer + " digest=" + id.Digest
	if text := strings.ReplaceAll(strings.Join(got, " "), path, ""); text != want || strings.Count(strings.Join(got, " "), path) != 3 {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// A held restriction outlives the skill's deactivation and its renewal with other rules, until Release.
func TestHold(t *testing.T) {
	f := folder{t.TempDir()}
	f.write(t, "a", "allowed-tools: Read\n", "A")
	for _, how := range []string{"hold", "all", "left alone"} {
		s := New(&Options{HoldAll: how == "all"})
		token := enter(t, s, f.load(t, "a"))[0]
		s.Hold(token + 1) // unknown
		if how == "hold" {
			s.Hold(token)
		}
		held := how != "left alone"
		if err := s.Deactivate(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, s, "bash", "ls"); (got != "") != held {
			t.Errorf("%s: after leaving: %q", how, got)
		}
		enter(t, s, load(t, "free")...)
		if got := ask(t, s, "bash", "ls"); (got != "") != held {
			t.Errorf("%s: in another skill: %q", how, got)
		}
		if s.Release(); ask(t, s, "bash", "ls") != "" {
			t.Errorf("%s: still restricted after Release", how)
		}
	}
	s := New(nil)
	token := enter(t, s, f.load(t, "a"))[0]
	s.Hold(token)
	f.write(t, "a", "", "A, for everything")
	if err := s.Renew(t.Context(), token, f.load(t, "a"), ""); err != nil {
		t.Fatal(err)
	}
	if ask(t, s, "bash", "ls") == "" {
		t.Error("renewing lifted a held restriction")
	}
	if s.End(t.Context()); ask(t, s, "bash", "ls") != "" {
		t.Error("a hold outlived the task")
	}
}

// R129: what a sub-agent may do is never more than what the conversation that started it may, whatever either does later.
func TestSub(t *testing.T) {
	k := load(t, "a|Read Write", "b|Write Bash", "free")
	s := New(nil)
	enter(t, s, k[0])
	sub := s.Sub()
	s.End(t.Context())
	enter(t, sub, k[1], k[2])
	for tool, want := range map[string]bool{"read_file": false, "write_file": true, "bash": false, "grep": false} {
		if got := ask(t, sub, tool, ""); (got == "") != want {
			t.Errorf("%s: %q", tool, got)
		}
	}
	if sub.End(t.Context()); ask(t, sub, "bash", "ls") == "" || ask(t, sub, "read_file", "") != "" {
		t.Error("the end of its skills changed what the parent allows")
	}
	if ask(t, s, "bash", "ls") != "" {
		t.Error("the sub-agent restricts its parent")
	}
	lifted := New(&Options{Policy: PolicyTop})
	enter(t, lifted, k[0], k[2])
	if ask(t, lifted.Sub(), "bash", "ls") != "" {
		t.Error("the sub-agent is bound by what its parent is not")
	}
}

// security 2.12 #174: two sessions share nothing, and one is used from several goroutines at once. Run with -race.
func TestSessionsAreSeparate(t *testing.T) {
	ks := load(t, "a|Read", "b|Write")
	var wg sync.WaitGroup
	for i, want := range []string{"read_file", "write_file"} {
		s := New(nil)
		enter(t, s, ks[i])
		for range 4 {
			wg.Go(func() {
				for range 200 {
					for _, tool := range []string{"read_file", "write_file"} {
						if err := s.Check(t.Context(), allow.Call{Tool: tool}); (err == nil) != (tool == want) {
							t.Errorf("%s in the session of %s: %v", tool, want, err)
							return
						}
					}
				}
			})
		}
	}
	wg.Wait()
}

// security 2.12 #173: a task that panics or is cancelled ends its skills; one that leaks them stays restricted.
func TestFramesEndWithTheTask(t *testing.T) {
	s := New(nil)
	k := load(t, "a|Read")[0]
	func() {
		defer func() { _ = recover() }()
		defer s.End(t.Context())
		enter(t, s, k)
		panic("the task failed")
	}()
	if len(s.Active()) != 0 || ask(t, s, "bash", "ls") != "" {
		t.Error("the panic left a skill active")
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.Activate(ctx, k, ""); err != nil {
		t.Fatal(err)
	}
	cancel()
	if ask(t, s, "bash", "ls") == "" {
		t.Error("the end of a context lifted a restriction")
	}
	if s.End(ctx); ask(t, s, "bash", "ls") != "" {
		t.Error("a context that is done keeps a skill active")
	}
}
