package policy_test

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/session/allow"
)

// Each question in words is the question of its method.
func TestQuestions(t *testing.T) {
	p := organisation(t, example)
	for text, want := range map[string]policy.Level{
		"Bash(git push origin)": policy.Never, "Bash(git pull)": policy.Free, "bash": policy.Free,
		"Read(~/x)": policy.Free, "Read(/home/ada/.aws/x)": policy.Never, "Edit(x)": policy.Free, "WebFetch(https://x.org/)": policy.Asks,
		"Skill(x)": policy.Free, "script_run(x run)": policy.Free, "mcp__x__y": policy.Free, "other(x)": policy.Free,
		"mode:all": policy.Never, "mode:ask": policy.Free, "sandbox:off": policy.Never, "sandbox:required": policy.Free,
		"model:anthropic/x": policy.Free, "model:anthropic/x@evil.example": policy.Never, "model:openai/x": policy.Never,
		"host:api.example.com": policy.Free, "host:evil.example": policy.Never, "socket:ssh": policy.Never, "env:AWS_X": policy.Never, "home": policy.Free,
		"server:files=npx -y files-server /x": policy.Free, "server:npx -y files-server /x": policy.Never, "server:npx x": policy.Never, "server:https://mcp.example.com/a": policy.Free, "server:https://x/": policy.Never,
		"source:https://github.com/acme/x": policy.Free, "source:https://github.com/a/b": policy.Never, "digest:x": policy.Never, "skill:x": policy.Free, "skill:old-x": policy.Never,
	} {
		q, err := policy.ParseQuestion(text, "/work")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if d := p.Answer(q, allow.Options{Roots: []string{"/work"}, Home: "/home/ada"}); d.Level != want {
			t.Errorf("%s: got %+v", text, d)
		}
	}
	for _, text := range []string{"", "what is this", "model:", "kind:x", "Bash(x", "(x)"} {
		if _, err := policy.ParseQuestion(text, "/work"); err == nil || !strings.Contains(err.Error(), "model") {
			t.Errorf("%q: got %v", text, err)
		}
	}
	if all := strings.Join(policy.Questions(), " "); !strings.Contains(all, "host") || !strings.Contains(all, "server") || strings.Contains(all, "home") {
		t.Error(all)
	}
}

func TestExamples(t *testing.T) {
	list, err := policy.ParseExamples([]byte("deny: ['Bash(x)', 'model:a/b']\nallow: ['mode:ask']\nask: []\n"), "e.yaml")
	if err != nil || len(list) != 3 || list[0].Expect.Word() != "deny" || list[2].Expect != policy.Free || list[2].At.Line != 2 {
		t.Errorf("got %+v, %v", list, err)
	}
	for text, message := range map[string]string{
		"":                            "content",
		"[x]":                         "must be a map",
		"deny: x":                     "must be a list of questions",
		"deny: [[x]]":                 "must be a text",
		"dney: [x]":                   `line 1, column 1: unknown key "dney"`,
		"deny: []":                    "no example",
		"deny: &x [y]":                "anchor",
		strings.Repeat("#", 300*1024): "more than",
	} {
		if _, err := policy.ParseExamples([]byte(text), "e.yaml"); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%.20q: got %v", text, err)
		}
	}
}

// A document that this version does not enforce is refused, and its methods are ready for one that does.
func TestNames(t *testing.T) {
	for level, word := range map[policy.Level]string{policy.Free: "allow", policy.Asks: "ask", policy.Never: "deny"} {
		if level.Word() != word {
			t.Errorf("%d is %s", level, level.Word())
		}
	}
	var none *policy.Document
	if none.Contact() != "" || none.Err() != nil || none.Includes() != nil {
		t.Error("a document that is not there says something")
	}
	if policy.File() == "" || policy.Read().Err() != nil {
		t.Skip("this machine has a policy that cannot be used")
	}
}
