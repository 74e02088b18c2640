package toolset

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/confine"
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
		o.Start = 5 * time.Minute
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
import { z } from "zod";
console.log("stray");
export const Js = [Tool.define("greet_js", {description: "Greet", parameters: z.object({name: z.string()}),
	async execute(args) { return {title: "t", metadata: {n: 1}, output: "Hi " + args.name}; }})];
`})
	all, err := h.Tools(t.Context(), s, h.o.Scripts.Seal)
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
		"demo.Hello.greet": `{"success":true,"result":"Hello Ada","message":"demo","duration_ms":0}`,
		"demo.Js.greet_js": `{"success":true,"result":"Hi Ada","message":"t","metadata":{"n":1},"duration_ms":0}`,
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
