package skilltool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// C33: a model that names a skill which only lacks a command, a variable or another skill is told what that is. One that is absent,
// disabled, kept from models or for others has the answer of an absent one.
func TestUnavailable(t *testing.T) {
	root := tree{
		"pdf/SKILL.md":    skillText("pdf", "metadata: {requires: {bins: [pdftotext]}}\n", "Body"),
		"mail/SKILL.md":   skillText("mail", "metadata: {requires: {env: [MAIL_TOKEN]}}\n", "Body"),
		"report/SKILL.md": skillText("report", "requires_skills: [pdf]\n", "Body"),
		"secret/SKILL.md": skillText("secret", "disable-model-invocation: true\nmetadata: {requires: {bins: [pdftotext]}}\n", "Body"),
		"off/SKILL.md":    skillText("off", "", "Body"),
		"ops/SKILL.md":    skillText("ops", "scope: {agents: [support]}\nmetadata: {requires: {bins: [pdftotext]}}\n", "Body"),
	}.write(t)
	c, err := skill.Open(t.Context(), &skill.Options{
		Layers:   []skill.Layer{{Name: "test", Source: skill.Dir(root, nil)}},
		LookPath: func(string) (string, error) { return "", fs.ErrNotExist }, HasVariable: func(string) bool { return false },
		Want: skill.Selection{Disabled: []string{"off"}}, Audience: &skill.Audience{Agent: "billing"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, byUser := range []bool{false, true} {
		k := New(&Options{Catalog: func() *skill.Catalog { return c }, Session: session.New(nil), Scripts: host(t, nil), ByUser: byUser})
		for name, lacks := range map[string]string{
			"pdf": "missing commands: pdftotext", "mail": "missing environment variables: MAIL_TOKEN", "report": "skill pdf is unavailable",
			"off": "", "ops": "", "secret": "", "nope": "",
		} {
			if name == "secret" && byUser {
				lacks = "missing commands: pdftotext"
			}
			for _, call := range []struct{ tool, args, absent string }{
				{"skill", "", "Skill '%s' not found."},
				{"skill_read", `,"path":"a.md"`, "Skill '%s' not found."},
				{"script_list", "", "Skill '%s' not found"},
				{"script_help", `,"script_name":"a"`, "Skill '%s' not loaded or installed"},
				{"script_run", `,"script_name":"a"`, "Skill '%s' not loaded or installed"},
			} {
				tools := append([]tool.Tool{k.skillTool(), k.readTool(), k.listTool(), k.helpTool(), k.runTool()}, k.toolsetTools()...)
				i := slices.IndexFunc(tools, func(one tool.Tool) bool { return one.Name == call.tool })
				r := tools[i].Call(t.Context(), fmt.Appendf(nil, `{"skill_name":%q%s}`, name, call.args))
				want := fmt.Sprintf(call.absent, name)
				if lacks != "" {
					want = fmt.Sprintf("Skill '%s' is unavailable: %s", name, lacks)
					if !byUser {
						want += ". Tell the user what it lacks: it can be used once that is there."
					}
				}
				if r.Error != tool.NotFound || r.Message != want {
					t.Errorf("%s of %s, by a user %t: got %s, want %q", call.tool, name, byUser, r.Encode(), want)
				}
			}
		}
		var none *skill.NotFoundError
		if _, err := k.RunScript(context.WithoutCancel(t.Context()), &RunRequest{Skill: "pdf", Script: "a"}); !errors.As(err, &none) || causeOf(err) != tool.CauseNotFound || !strings.Contains(Coded(err), "[SKILL_NOT_FOUND] Skill 'pdf' is unavailable") {
			t.Errorf("got %v", err)
		}
	}
}
