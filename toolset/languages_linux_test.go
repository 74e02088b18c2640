package toolset

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/confine"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/want"
)

// R114, R118, R119, R184, C46: classes of Python and exports of JavaScript run in the sandbox, one process for each language; what
// cannot be loaded is reported and the rest works.
func TestLanguages(t *testing.T) {
	for _, name := range []string{"python3", "node"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	r, err := confine.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t, func(o *Options) {
		o.Scripts, err = script.New(&script.Options{LookPath: exec.LookPath, Cache: scratch.Dir(t), Runner: r})
		o.start = 5 * time.Minute
	})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, "demo", files{
		"SKILL.md": "---\nname: demo\ndescription: d\ntoolsets:\n  - toolsets.hello:Hello\n  - toolsets/index:Js\n  - toolsets.lacks:Lacks\n  - toolsets.hello:Plain\n---\nBody\n",
		"toolsets/hello.py": `import os
from agent.tools.toolset import AgentToolset
print("stray")
class Plain: pass
class Hello(AgentToolset):
    async def greet(self, name: str) -> dict:
        """Greet somebody."""
        return {"success": True, "result": f"Hello {name}", "message": self.config.skill_name}
    def process(self) -> int:
        return os.getpid()
`,
		"toolsets/lacks.py": "import not_installed_anywhere\n",
		"toolsets/index.js": `import { Tool } from "@agent/tools";
console.log("stray");
export const Js = [Tool.define("greet_js", {description: "Greet", parameters: {type: "object", properties: {name: {type: "string"}}, required: ["name"]},
	async execute(args) { return {title: "t", metadata: {n: 1}, output: "Hi " + args.name}; }})];
`})
	all, err := h.Tools(t.Context(), s, h.o.Scripts.(*script.Host).Seal)
	kinds := map[string]Kind{}
	for _, e := range Errors(err) {
		kinds[e.Toolset] = e.Kind
	}
	if len(kinds) != 2 || kinds["toolsets.lacks:Lacks"] != KindPackage || kinds["toolsets.hello:Plain"] != KindBase {
		t.Errorf("got %v", err)
	}
	if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), "Plain must inherit from AgentToolset") {
		t.Errorf("got %v", err)
	}
	tools := byName(all)
	for name, want := range map[string]string{
		"demo.Hello.greet": `{"success":true,"result":"Hello Ada","message":"demo"}`,
		"demo.Js.greet_js": `{"success":true,"result":"Hi Ada","message":"t","metadata":{"n":1}}`,
	} {
		one, ok := tools[name]
		if !ok {
			t.Fatalf("no %s among %v", name, all)
		}
		if got := string(call(t.Context(), one, `{"name":"Ada"}`).Encode()); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if len(tools) != 3 || tools["demo.Hello.greet"].Description != "Greet somebody." {
		t.Errorf("got %v", all)
	}
}

// A call that fails for want of a variable or a host says so, and a program that lacked something is started anew once the user grants
// it; until then it goes on.
func TestLacking(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	r, err := confine.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var grant atomic.Pointer[script.Grant]
	grant.Store(&script.Grant{})
	h := newHost(t, func(o *Options) {
		o.Scripts, err = script.New(&script.Options{LookPath: exec.LookPath, Cache: scratch.Dir(t), Runner: r, Env: []string{"DEMO_TOKEN=sesame-open-42"},
			Granted: func(context.Context, *skill.Skill) (script.Grant, error) { return *grant.Load(), nil },
			Seen: func(context.Context, *skill.Skill) script.Seen {
				return script.Seen{Files: map[string]want.Set{"tools.py": want.New(want.VariableOf("DEMO_TOKEN"))}}
			}})
		o.start = 5 * time.Minute
		o.Advise = func(err error, name string) string {
			var e *script.Error
			if !errors.As(err, &e) {
				return "no advice"
			}
			return fmt.Sprintf("advice for %s: %q %s %v", name, e.Reason, e.Wants, e.Err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, "demo", files{
		"SKILL.md": "---\nname: demo\ndescription: d\ntoolsets: [tools:Web]\n---\nBody\n",
		"tools.py": `import os
import urllib.request
from agent_base import AgentToolset
process = os.urandom(8).hex()
class Web(AgentToolset):
    def token(self) -> int:
        """Needs a variable."""
        return len(os.environ["DEMO_TOKEN"])
    def get(self, url: str) -> str:
        """Needs a host."""
        return urllib.request.urlopen(url).read().decode()
    def wrong(self) -> str:
        """Fails by itself."""
        raise ValueError("no such day")
    def process(self) -> str:
        """Says which process it is."""
        return process
`})
	tools := must(t, h, s)
	ask := func(name, args string) tool.Result { return call(t.Context(), tools["demo.Web."+name], args) }
	process := func() string { return fmt.Sprintf("%s", ask("process", `{}`).Result) }
	first := process()
	got := ask("token", `{}`)
	if want := "(it reads DEMO_TOKEN, which is set but not granted to it)\nadvice for demo: \"\" seen env:DEMO_TOKEN <nil>"; got.Success || !strings.HasSuffix(got.Message, want) {
		t.Errorf("got %+v, want %s", got, want)
	}
	if held := r.Report(t.Context()); held.ConfinesNetwork() {
		got := ask("get", `{"url":"https://one.example/x"}`)
		if got.Success || got.Reason != script.ReasonNetwork || !strings.Contains(got.Message, "(it says that it may not reach one.example)\nadvice for demo: ") {
			t.Errorf("got %+v", got)
		}
	}
	if got := ask("wrong", `{}`); got.Success || got.Reason != "" || strings.Contains(got.Message, "advice") {
		t.Errorf("got %+v", got)
	}
	if now := process(); now != first {
		t.Errorf("the program was started anew, %s after %s, with the same grants", now, first)
	}
	grant.Store(&script.Grant{Given: want.New(want.VariableOf("DEMO_TOKEN"))})
	if got := ask("token", `{}`); !got.Success || fmt.Sprintf("%s", got.Result) != "14" {
		t.Errorf("got %+v", got)
	}
	if now := process(); now == first {
		t.Error("the program was not started anew")
	}
}
