package skilltool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/tool"
)

var ofUsers = tree{
	"greet/SKILL.md":           skillText("greet", "arguments: [who]\n", "Greet $who. All: $ARGUMENTS"),
	"private/SKILL.md":         skillText("private", "disable-model-invocation: true\n", "Read references/x.md."),
	"private/references/x.md":  "Private reference.\n",
	"private/scripts/peek.sh":  "echo '{}'\n",
	"quiet/SKILL.md":           skillText("quiet", "user-invocable: false\n", "Quiet."),
	"off/SKILL.md":             skillText("off", "default_enabled: false\n", "Off."),
	"scout/SKILL.md":           skillText("scout", "context: fork\ndisable-model-invocation: true\n", "Look for $ARGUMENTS."),
	"closed/SKILL.md":          skillText("closed", "disable-model-invocation: true\nuser-invocable: false\n", "Closed."),
	"closed/references/doc.md": "Closed reference.\n",
}

// Agent-skills-spec 3.1, R92, R93: a user's call by name activates, with the arguments in their places, and says so in
// the turn.
func TestInvoke(t *testing.T) {
	var s *session.Session
	k, root := kit(t, kitOptions{files: ofUsers, change: func(o *Options) { s = o.Session }})
	r, turn := k.Invoke(t.Context(), "GREET", "Ada Lovelace")
	if a, ok := r.Result.(Activation); !ok || a.Status != "activated" || a.Args != "Ada Lovelace" || a.BasePath != root+"/greet" {
		t.Fatalf("got %s", r.Encode())
	}
	for _, want := range []string{"[The user called for the skill 'greet': carry it out.]\n<skill_content name=\"greet\"", "Greet Ada. All: Ada Lovelace\n"} {
		if !strings.Contains(turn, want) {
			t.Errorf("no %q in:\n%s", want, turn)
		}
	}
	if _, turn = k.Invoke(t.Context(), "greet", "Ada Lovelace"); !strings.Contains(turn, "is already active: you were given its instructions") || strings.Contains(turn, "Greet Ada") {
		t.Errorf("what was told is told again:\n%s", turn)
	}
	if _, turn = k.Invoke(t.Context(), "greet", "Grace"); !strings.Contains(turn, "Greet Grace.") {
		t.Errorf("other arguments:\n%s", turn)
	}
	if got := fmt.Sprint(s.Recent()); got != "[greet]" {
		t.Errorf("active are %s", got)
	}
}

// Agent-skills-spec 3.1: with disable-model-invocation a skill is there for a model only after its user called for it,
// and as long as it is active.
func TestInvokeHidden(t *testing.T) {
	var s *session.Session
	k, _ := kit(t, kitOptions{files: ofUsers, change: func(o *Options) { s = o.Session }})
	calls := map[string]string{
		"skill": `{"skill_name":"private"}`, "skill_read": `{"skill_name":"private","path":"references/x.md"}`,
		"script_list": `{"skill_name":"private"}`, "script_help": `{"skill_name":"private","script_name":"peek"}`,
	}
	check := func(when string, visible bool) {
		t.Helper()
		for name, args := range calls {
			r := call(t, k, name, args)
			there := r.Error != tool.NotFound // a script of content that is not approved is refused for that alone
			if there != visible {
				t.Errorf("%s, %s: %s", when, name, r.Encode())
			}
		}
	}
	check("before", false)
	if r, turn := k.Invoke(t.Context(), "private", ""); !r.Success || !strings.Contains(turn, "Read references/x.md.") {
		t.Fatalf("got %s, %q", r.Encode(), turn)
	}
	check("while it is active", true)
	if r := call(t, k, "skill_read", `{"skill_name":"private","path":"scripts/peek.sh"}`); r.Reason != "script_read" {
		t.Errorf("a script's text: %s", r.Encode())
	}
	if list := k.Tools()[0].Description; strings.Contains(list, "private") {
		t.Errorf("it is listed:\n%s", list)
	}
	s.End(t.Context())
	check("afterwards", false)
}

// What a user may not call for is refused with its reason, and nothing is active.
func TestInvokeRefuses(t *testing.T) {
	var s *session.Session
	k, _ := kit(t, kitOptions{files: ofUsers, change: func(o *Options) { s = o.Session }})
	for name, want := range map[string]string{
		"quiet":  "permission_denied Skill 'quiet' is not for users to call: its manifest says user-invocable: false",
		"closed": "permission_denied Skill 'closed' is not for users to call: its manifest says user-invocable: false",
		"off":    "not_found Skill 'off' is disabled: off by default",
		"gret":   "not_found Skill 'gret' not found. Did you mean 'greet'?",
		"../x":   "invalid_name Invalid skill name: '../x'",
	} {
		r, turn := k.Invoke(t.Context(), name, "")
		if got := string(r.Error) + " " + r.Message; got != want || r.Success || turn != "" {
			t.Errorf("%s: got %q and %q, want %q", name, got, turn, want)
		}
	}
	if n := len(s.Active()); n != 0 {
		t.Errorf("%d are active", n)
	}
	if r := call(t, k, "skill_read", `{"skill_name":"closed","path":"references/doc.md"}`); r.Error != tool.NotFound {
		t.Errorf("nobody's skill is read: %s", r.Encode())
	}
}

// R129: a skill with context: fork that the user called for is carried out by a sub-agent, hidden or not.
func TestInvokeFork(t *testing.T) {
	var s *session.Session
	k, _ := kit(t, kitOptions{files: ofUsers, change: func(o *Options) { o.Forks, s = true, o.Session }})
	if r := call(t, k, "skill", `{"skill_name":"scout"}`); r.Error != tool.NotFound {
		t.Errorf("before: %s", r.Encode())
	}
	r, turn := k.Invoke(t.Context(), "scout", `red "boats"`)
	if want := `[The user called for the skill 'scout': call the tool skill with {"skill_name":"scout","args":"red \"boats\""}.]`; turn != want || !r.Success {
		t.Errorf("got %q, want %q; %s", turn, want, r.Encode())
	}
	r = call(t, k, "skill", `{"skill_name":"scout","args":"red \"boats\""}`)
	if r.Fork == nil || len(s.Active()) != 0 {
		t.Fatalf("got %s, active %v", r.Encode(), s.Recent())
	}
	sub, err := k.Sub(t.Context(), *r.Fork)
	if err != nil || fmt.Sprint(sub.o.Session.Recent()) != "[scout]" {
		t.Errorf("the sub-agent: %v", err)
	}
}

// R161: a skill that only its user may call for needs the tools; one that cannot be used does not.
func TestToolsForUsers(t *testing.T) {
	for name, want := range map[string]int{"private": 5, "closed": 0} {
		k, _ := kit(t, kitOptions{files: tree{name + "/SKILL.md": ofUsers[name+"/SKILL.md"]}})
		if got := len(k.Tools()); got != want {
			t.Errorf("%s: %d tools, want %d", name, got, want)
		}
	}
}
