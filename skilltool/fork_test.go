package skilltool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/tool"
)

// R129: a skill with context: fork asks for a sub-agent, which gets the instructions with the arguments; it is not
// active here, but in the sub-agent's own session. Without a host that forks it is a skill as any other.
func TestFork(t *testing.T) {
	files := tree{
		"scout/SKILL.md": skillText("scout", "context: fork\nmodel: small\nagent: explorer\nallowed-tools: Read\n", "Look for $ARGUMENTS."),
		"plain/SKILL.md": skillText("plain", "context: inherit\nmodel: inherit\n", "Plain."),
		"twin/SKILL.md":  skillText("twin", "context: fork\nmodel: inherit\n", "Look."),
	}
	files["scout/scripts/a.sh"] = "#!/bin/sh\n"
	var s *session.Session
	rendered := 0
	k, root := kit(t, kitOptions{files: files, change: func(o *Options) {
		o.Forks, s = true, o.Session
		o.Show.Instructions.Command = func(string, string, []string) string { rendered++; return "run it" }
	}})
	r := call(t, k, "skill", `{"skill_name":"Scout","args":"red boats"}`)
	if a, _ := r.Result.(Activation); !r.Success || r.Fork == nil || a.Status != "forked" || a.Content != "" || a.Args != "red boats" || a.AllowedTools == nil {
		t.Fatalf("got %s, fork %v", r.Encode(), r.Fork)
	}
	if f := r.Fork; f.Skill != "scout" || f.Model != "small" || f.Agent != "explorer" || f.Args != "red boats" {
		t.Errorf("fork: %+v", f)
	}
	for _, want := range []string{`<skill_content name="scout"`, "Look for red boats.", "Skill directory: " + root + "/scout", "\n\nTask: red boats"} {
		if !strings.Contains(r.Fork.Prompt, want) {
			t.Errorf("the prompt has no %q:\n%s", want, r.Fork.Prompt)
		}
	}
	if strings.Contains(string(r.Encode()), "Look for") {
		t.Errorf("the conversation itself gets the instructions: %s", r.Encode())
	}
	if n := len(s.Active()); n != 0 {
		t.Errorf("%d skills are active in the conversation, want none", n)
	}
	if f := call(t, k, "skill", `{"skill_name":"twin"}`).Fork; f.Model != "" || !strings.HasSuffix(f.Prompt, "Task: carry out these instructions.") {
		t.Errorf("model: inherit, no arguments: %+v", f)
	}
	if r := call(t, k, "skill", `{"skill_name":"plain"}`); r.Fork != nil || len(s.Active()) != 1 {
		t.Errorf("a skill without fork: %s", r.Encode())
	}

	before := rendered
	sub, err := k.Sub(t.Context(), *r.Fork)
	if err != nil {
		t.Fatal(err)
	}
	if before == 0 || rendered != before {
		t.Errorf("the text was made %d times, and %d times more for the sub-agent, which has it in its prompt", before, rendered-before)
	}
	if sub.o.Indexes != k.o.Indexes {
		t.Error("the sub-agent makes an index of its own")
	}
	if got := fmt.Sprint(sub.o.Session.Recent(), s.Recent()); got != "[scout] [plain]" {
		t.Errorf("active in the sub-agent and here: %s", got)
	}
	inside := call(t, sub, "skill", `{"skill_name":"scout","args":"red boats"}`)
	if a, _ := inside.Result.(Activation); inside.Fork != nil || a.Status != "already_active" {
		t.Errorf("in the sub-agent: %s", inside.Encode())
	}
	if r := call(t, sub, "skill", `{"skill_name":"twin"}`); r.Fork != nil || !strings.Contains(result(r), "Look.") {
		t.Errorf("a fork in a fork: %s", r.Encode())
	}
	if _, err := k.Sub(t.Context(), tool.Fork{Skill: "nobody"}); err == nil {
		t.Error("a sub-agent for a skill that is not there")
	}

	without, _ := kit(t, kitOptions{files: files})
	if r := call(t, without, "skill", `{"skill_name":"scout"}`); r.Fork != nil || !strings.Contains(result(r), `"status":"activated"`) {
		t.Errorf("without a host that forks: %s", r.Encode())
	}
}
