package skilltool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// checked returns a kit whose session knows the scripts of the kit's skills, and an executor with Kit.Check.
func checked(t *testing.T, files tree, o session.Options, change func(*Options)) (*Kit, *tool.Executor) {
	t.Helper()
	k, _ := kit(t, kitOptions{files: files, trust: skill.TrustRoot, change: func(ko *Options) {
		ko.Session = session.New(&o)
		if change != nil {
			change(ko)
		}
	}})
	set := &tool.Set{}
	for _, tl := range k.Tools() {
		if err := set.Add(tl); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"read_file", "bash", "write_file"} {
		if err := set.Add(tool.Tool{Name: name, Call: func(context.Context, json.RawMessage) tool.Result { return tool.Success(nil, "done") }}); err != nil {
			t.Fatal(err)
		}
	}
	return k, &tool.Executor{Tools: set, Check: k.Check}
}

// restricted is a skill with scripts, a reference and some allowed-tools.
func restricted(rules string) tree {
	return tree{
		"x/SKILL.md":           skillText("x", "allowed-tools: "+rules+"\n", "Body"),
		"x/references/a.md":    "Known.\n",
		"x/scripts/run.sh":     "#!/bin/sh\necho ran \"$@\"\n",
		"x/scripts/deep/in.sh": "#!/bin/sh\necho in\n",
		"y/SKILL.md":           skillText("y", "", "Other"),
		"y/references/b.md":    "Other.\n",
		"y/scripts/run.sh":     "#!/bin/sh\necho y\n",
	}
}

// C7, C8, C10, R120, R132: what a skill cannot be used without is always allowed: leaving it, listing, and reading its own files.
// Its scripts are run where a rule allows a command that runs them.
func TestCheck(t *testing.T) {
	const own, other = `{"skill_name":"x","script_name":"run"}`, `{"skill_name":"y","script_name":"run"}`
	for _, tt := range []struct{ rules, allowed string }{
		{"[]", "read own, list, search, activate"},
		{"Read", "read own, read other, list, search, activate, read_file"},
		{"Write", "read own, list, search, activate"},
		{"Bash, Read, Write", "read own, read other, list, search, activate, read_file, run, run other, help, bash"},
		{"Bash", "read own, list, search, activate, run, run other, help, bash"},
		{"script_run", "read own, list, search, activate, run, run other, help"},
		{"Bash(sh scripts/run.sh:*)", "read own, list, search, activate, run, help"},
		{"Bash(${CLAUDE_SKILL_DIR}/scripts/run.sh:*)", "read own, list, search, activate, run, help"},
		{"Bash({baseDir}/scripts/run.sh:*)", "read own, list, search, activate, run, help"},
		{"Bash(bash:*)", "read own, list, search, activate, run, run other, help"},
		{"Bash(git:*)", "read own, list, search, activate"},
		{"Bash(sh scripts/deep/in.sh:*)", "read own, list, search, activate"},
	} {
		k, e := checked(t, restricted(tt.rules), session.Options{}, nil)
		if r := k.Activate(t.Context(), "x", ""); !r.Success {
			t.Fatal(r.Message)
		}
		var got []string
		for _, c := range []struct{ what, tool, args string }{
			{"read own", "skill_read", `{"skill_name":"X","path":"references/a.md"}`},
			{"read other", "skill_read", `{"skill_name":"y","path":"references/b.md"}`},
			{"list", "script_list", `{}`}, {"search", "skill", `{"skill_name":"other","action":"search"}`},
			{"activate", "skill", `{"skill_name":"y"}`}, {"read_file", "read_file", `{"file_path":"a"}`},
			{"run", "script_run", own}, {"run other", "script_run", other}, {"help", "script_help", own}, {"bash", "bash", `{"command":"rm x"}`},
		} {
			switch r := e.Call(t.Context(), c.tool, json.RawMessage(c.args)); {
			case r.Success && c.what == "activate":
				got = append(got, c.what)
				if r := e.Call(t.Context(), "skill", json.RawMessage(`{"skill_name":"y","action":"deactivate"}`)); !r.Success {
					t.Errorf("%s: leaving: %s", tt.rules, r.Encode())
				}
			case r.Success:
				got = append(got, c.what)
			case r.Error != tool.PermissionDenied || r.Reason != "tool_not_allowed" || r.Duration != 0:
				t.Errorf("%s: %s: %s", tt.rules, c.what, r.Encode())
			}
		}
		if text := strings.Join(got, ", "); text != tt.allowed {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.rules, text, tt.allowed)
		}
		if r := e.Call(t.Context(), "skill", json.RawMessage(`{"skill_name":"x","action":"deactivate"}`)); !r.Success {
			t.Errorf("%s: leaving: %s", tt.rules, r.Encode())
		}
		if r := e.Call(t.Context(), "bash", nil); !r.Success {
			t.Errorf("%s: after leaving: %s", tt.rules, r.Encode())
		}
	}
}

// C10, C11: where only the top of the stack restricts, activating another skill needs a rule that allows it. The envelope is
// that of the profile.
func TestActivationUnderTop(t *testing.T) {
	for rules, want := range map[string]bool{"Read": false, "Read, Skill": true, "skill(y)": true, "Skill(z)": false} {
		k, e := checked(t, restricted(rules), session.Options{Policy: session.PolicyTop}, nil)
		e.ErrorText = true
		k.Activate(t.Context(), "x", "")
		r := e.Call(t.Context(), "skill", json.RawMessage(`{"skill_name":"y"}`))
		if r.Success != want {
			t.Errorf("%s: %s", rules, r.Encode())
		}
		if text := fmt.Sprintf(`{"success":false,"error":"Tool 'skill' not allowed by skill 'x'. Allowed tools: %s (not in allowed-tools list)`, rules); !want && !strings.HasPrefix(string(r.Encode()), text) {
			t.Errorf("%s: %s", rules, r.Encode())
		}
		if r := e.Call(t.Context(), "skill", json.RawMessage(`{"skill_name":"x","action":"deactivate"}`)); r.Success == want { // with y on top of x it is not the top
			t.Errorf("%s: leaving: %s", rules, r.Encode())
		}
	}
}

// C7: an activation by words or by a user's /NAME restricts as the model's own does; with Hold the user's cannot be left
// before the session is released.
func TestEveryActivationRestricts(t *testing.T) {
	k, e := checked(t, restricted("Read"), session.Options{}, func(o *Options) { o.Hold = true })
	const limits = "[While it is active, only these tools may be called: read_file; also skill, script_list, and skill_read for its files.]"
	if r, turn := k.Invoke(t.Context(), "x", ""); !r.Success || !strings.Contains(turn, limits) {
		t.Fatalf("%s, the turn is %q", r.Message, turn)
	}
	leave := json.RawMessage(`{"skill_name":"x","action":"deactivate"}`)
	if r := e.Call(t.Context(), "skill", leave); !r.Success || r.Message != "Deactivated skill 'x', but what it allows holds until the prompt is answered" {
		t.Errorf("leaving: %s", r.Encode())
	}
	if r := e.Call(t.Context(), "bash", nil); r.Success {
		t.Error("the user's skill was left")
	}
	k.o.Session.Release()
	if r := e.Call(t.Context(), "bash", nil); !r.Success {
		t.Errorf("released: %s", r.Encode())
	}
	e1, err := k.o.Catalog().Lookup("x")
	if err != nil {
		t.Fatal(err)
	}
	if text, _, err := k.offer(t.Context(), e1); err != nil || !strings.Contains(text.Body, limits) {
		t.Fatalf("%v, the text is %q", err, text.Body)
	}
	if r := e.Call(t.Context(), "bash", nil); r.Success {
		t.Error("an activation by words does not restrict")
	}
	if r := e.Call(t.Context(), "skill", leave); !r.Success || r.Message != "Deactivated skill 'x'" {
		t.Errorf("leaving: %s", r.Encode())
	}
	if r := e.Call(t.Context(), "bash", nil); !r.Success {
		t.Errorf("left: %s", r.Encode())
	}
}

// R129: a sub-agent may do no more than its parent, and its own skill cannot be left.
func TestSubIsRestricted(t *testing.T) {
	files := restricted("Read Bash(sh:*)")
	files["z/SKILL.md"] = skillText("z", "context: fork\nallowed-tools: Read Write\n", "Body")
	k, _ := checked(t, files, session.Options{}, func(o *Options) { o.Forks, o.Hold = true, true })
	k.Activate(t.Context(), "x", "")
	sub, err := k.Sub(t.Context(), tool.Fork{Skill: "z"})
	if err != nil {
		t.Fatal(err)
	}
	var denied *tool.Denial
	for name, want := range map[string]bool{"read_file": true, "write_file": false, "bash": false} {
		if err := sub.Check(t.Context(), name, json.RawMessage(`{"command":"sh x","file_path":"x"}`)); (err == nil) != want || err != nil && !errors.As(err, &denied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := sub.o.Session.DeactivateName(t.Context(), "z"); err != nil {
		t.Fatal(err)
	}
	if err := sub.Check(t.Context(), "bash", json.RawMessage(`{"command":"sh x"}`)); err == nil {
		t.Error("the sub-agent left its skill")
	}
	sub.End(t.Context())
	if err := k.Check(t.Context(), "bash", json.RawMessage(`{"command":"sh x"}`)); err != nil {
		t.Errorf("the parent is restricted by its sub-agent: %v", err)
	}
}

// security 2.12 #172: an activation that is there already moves nothing on the stack and restricts as before; a skill
// that calls for another one, which calls for it, ends there; and the stack has an end.
func TestCyclesEnd(t *testing.T) {
	k, e := checked(t, restricted("Read"), session.Options{}, nil)
	for range 10_000 / 4 {
		for _, name := range []string{"x", "y", "X", "y"} {
			if r := k.Activate(t.Context(), name, ""); !r.Success {
				t.Fatal(r.Message)
			}
		}
	}
	if got := fmt.Sprint(k.o.Session.Recent()); got != "[y x]" {
		t.Errorf("active: %s", got)
	}
	if r := e.Call(t.Context(), "bash", nil); r.Success {
		t.Error("a cycle lifted the restriction")
	}
	if r := e.Call(t.Context(), "skill", json.RawMessage(`{"skill_name":"x","action":"deactivate"}`)); r.Success || !strings.Contains(r.Message, "must be deactivated first") {
		t.Errorf("out of order: %s", r.Encode())
	}
	if r := e.Call(t.Context(), "skill", json.RawMessage(`{"skill_name":"z","action":"deactivate"}`)); r.Success || !strings.Contains(r.Message, "is not active") {
		t.Errorf("unknown: %s", r.Encode())
	}
}

// R120, R132: a kit says what the rules of its session refer to; the program says where the paths of its tools begin.
func TestRulesOfProgram(t *testing.T) {
	work := t.TempDir()
	program := func(context.Context, *skill.Skill) allow.Options { return allow.Options{Roots: []string{work}} }
	for _, tt := range []struct {
		rules   string
		program func(context.Context, *skill.Skill) allow.Options
		path    string
		want    bool
	}{
		{"allowed-tools: Read(notes/**)", program, "notes/a.md", true},
		{"allowed-tools: Read(notes/**)", program, filepath.Join(work, "notes/a.md"), true},
		{"allowed-tools: Read(notes/**)", program, "../notes/a.md", false},
		{"allowed-tools: Read(notes/**)", nil, "notes/a.md", false},
		{"allowed-tools: Read(notes/**)", nil, filepath.Join(work, "notes/a.md"), false},
		{"allowed-tools: Read(references/**)", nil, "references/a.md", false},
		{"allowed-tools: Read(references/**)", nil, "SKILL/references/a.md", true},
		{"allowed-tools: Read(references/**)", program, "SKILL/references/a.md", true},
		{"disallowed-tools: Read(notes/**)", program, "notes/a.md", false},
		{"disallowed-tools: Read(notes/**)", program, "other/a.md", true},
		{"disallowed-tools: Read(notes/**)", nil, "other/a.md", false},
	} {
		files := tree{"x/SKILL.md": skillText("x", tt.rules+"\n", "Body"), "x/references/a.md": "Known.\n"}
		k, e := checked(t, files, session.Options{}, func(o *Options) { o.Rules = tt.program })
		r := k.Activate(t.Context(), "x", "")
		if !r.Success {
			t.Fatal(r.Message)
		}
		path := tt.path
		if rest, ok := strings.CutPrefix(path, "SKILL/"); ok {
			dir, err := filepath.EvalSymlinks(r.Result.(Activation).BasePath)
			if err != nil {
				t.Fatal(err)
			}
			path = filepath.Join(dir, rest)
		}
		args, err := json.Marshal(map[string]string{"path": path})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Call(t.Context(), "read_file", args); got.Success != tt.want {
			t.Errorf("%s, with Rules %v, %s: %s", tt.rules, tt.program != nil, tt.path, got.Encode())
		}
	}
}

// C73: in rules, too, ${CLAUDE_PLUGIN_ROOT} is the folder of the plugin that has the skill, as its instructions say.
func TestRulesOfPlugin(t *testing.T) {
	k, e := checked(t, tree{
		"p/.claude-plugin/plugin.json": "{}",
		"p/skills/x/SKILL.md":          skillText("x", "allowed-tools: Bash(${CLAUDE_PLUGIN_ROOT}/bin/look:*)\n", "Run ${CLAUDE_PLUGIN_ROOT}/bin/look."),
	}, session.Options{}, nil)
	r := k.Activate(t.Context(), "x", "")
	if !r.Success {
		t.Fatal(r.Message)
	}
	for dir, want := range map[string]bool{"../..": true, ".": false} {
		command := filepath.Join(r.Result.(Activation).BasePath, dir, "bin/look")
		args, err := json.Marshal(map[string]string{"command": command + " a"})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Call(t.Context(), "bash", args); got.Success != want {
			t.Errorf("%s: %s", command, got.Encode())
		}
		if want && !strings.Contains(r.Message+fmt.Sprint(r.Result), command) {
			t.Errorf("the instructions do not name %s", command)
		}
	}
}
