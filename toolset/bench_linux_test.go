package toolset

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/confine"
)

// bare are the smallest servers of a language: what a toolset of that language is compared with.
var bare = map[string]struct{ name, text string }{
	"python": {"server.py", `import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m: continue
    r = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "bare", "version": "1"}},
         "tools/list": {"tools": [{"name": "greet", "description": "Greet", "inputSchema": {"type": "object"}}]}}.get(m["method"])
    if m["method"] == "tools/call":
        r = {"content": [{"type": "text", "text": json.dumps({"success": True, "result": "Hello " + m["params"]["arguments"]["name"], "message": ""})}]}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r or {}}), flush=True)
`},
	"node": {"server.mjs", `import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const m = JSON.parse(line);
  if (m.id === undefined) continue;
  let r = { initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "bare", version: "1" } },
    "tools/list": { tools: [{ name: "greet", description: "Greet", inputSchema: { type: "object" } }] } }[m.method];
  if (m.method === "tools/call") r = { content: [{ type: "text", text: JSON.stringify({ success: true, result: "Hello " + m.params.arguments.name, message: "" }) }] };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: m.id, result: r ?? {} }) + "\n");
}
`},
}

// measured are skills with one tool each: a toolset of each language, and beside it a bare server.
func measured() map[string]files {
	out := map[string]files{
		"python": {
			"SKILL.md": "---\nname: demo\ndescription: d\ntoolsets: [toolsets.hello:Hello]\n---\nBody\n",
			"toolsets/hello.py": "from agent.tools.toolset import AgentToolset\nclass Hello(AgentToolset):\n    async def greet(self, name: str) -> dict:\n" +
				"        \"\"\"Greet.\"\"\"\n        return {\"success\": True, \"result\": \"Hello \" + name, \"message\": \"\"}\n",
		},
		"node": {
			"SKILL.md": "---\nname: demo\ndescription: d\ntoolsets: [toolsets/index:Hello]\n---\nBody\n",
			"toolsets/index.js": `import { Tool } from "@agent/tools";
export const Hello = [Tool.define("greet", { description: "Greet", parameters: {type: "object", properties: {name: {type: "string"}}, required: ["name"]},
  async execute(args) { return { success: true, result: "Hello " + args.name, message: "" }; } })];
`,
		},
	}
	out["typescript"] = files{
		"SKILL.md":          out["node"]["SKILL.md"],
		"toolsets/index.ts": strings.Replace(out["node"]["toolsets/index.js"], "execute(args)", "execute(args: { name: string })", 1),
	}
	for lang, command := range runtimes() {
		b := bare[lang]
		if lang == "typescript" {
			b.name, b.text = "server.ts", strings.Replace(bare["node"].text, "const m =", "const m: any =", 1)
		}
		out[lang+"Bare"] = files{b.name: b.text, "mcp.json": fmt.Sprintf(`{"mcpServers":{"bare":{"command":%q,"args":["${CLAUDE_SKILL_DIR}/%s"]}}}`, command, b.name)}
	}
	return out
}

// runtimes are the programs that run each language; that of TypeScript is the one that the engine prefers.
func runtimes() map[string]string {
	typescript := "bun"
	if _, err := exec.LookPath(typescript); err != nil {
		typescript = "node"
	}
	return map[string]string{"python": "python3", "node": "node", "typescript": typescript}
}

// runs returns why a language cannot be measured here, or nil.
func runs(lang string) error {
	program := runtimes()[lang]
	if _, err := exec.LookPath(program); err != nil || lang != "typescript" || program != "node" {
		return err
	}
	version, err := exec.Command(program, "--version").Output()
	if err == nil && slices.ContainsFunc([]string{"v18.", "v20.", "v21."}, func(old string) bool { return strings.HasPrefix(string(version), old) }) {
		err = fmt.Errorf("node %s runs no TypeScript", bytes.TrimSpace(version))
	}
	return err
}

// each runs a benchmark for each language and its bare server, in the sandbox.
func each(b *testing.B, run func(b *testing.B, h func() *Host, skillFiles files)) {
	all := measured()
	for _, name := range []string{"pythonBare", "python", "nodeBare", "node", "typescriptBare", "typescript"} {
		b.Run(name, func(b *testing.B) {
			if err := runs(strings.TrimSuffix(name, "Bare")); err != nil {
				b.Skip(err)
			}
			r, err := confine.New(nil)
			if err != nil {
				b.Fatal(err)
			}
			cache := scratch.Dir(b)
			scripts, err := script.New(&script.Options{LookPath: exec.LookPath, Cache: cache, Runner: r})
			if err != nil {
				b.Fatal(err)
			}
			run(b, func() *Host {
				h, err := New(&Options{Scripts: scripts, Cache: cache})
				if err != nil {
					b.Fatal(err)
				}
				return h
			}, all[name])
		})
	}
}

// BenchmarkStart is the time from nothing to the list of tools, and the end of the process.
func BenchmarkStart(b *testing.B) {
	each(b, func(b *testing.B, h func() *Host, f files) {
		s := open(b, "demo", f)
		for b.Loop() {
			one := h()
			if tools, err := one.Tools(b.Context(), s, one.o.Scripts.(*script.Host).Seal); err != nil || len(tools) != 1 {
				b.Fatal(tools, err)
			}
			one.Close()
		}
	})
}

// BenchmarkCall is one call of a running process.
func BenchmarkCall(b *testing.B) {
	each(b, func(b *testing.B, h func() *Host, f files) {
		s, one := open(b, "demo", f), h()
		defer one.Close()
		tools, err := one.Tools(b.Context(), s, one.o.Scripts.(*script.Host).Seal)
		if err != nil || len(tools) != 1 {
			b.Fatal(tools, err)
		}
		for b.Loop() {
			if r := call(b.Context(), tools[0], `{"name":"Ada"}`); r.Result == nil {
				b.Fatal(r)
			}
		}
	})
}

// BenchmarkUnused is what 100 skills with toolsets cost a conversation that uses none.
func BenchmarkUnused(b *testing.B) {
	cache := scratch.Dir(b)
	scripts, err := script.New(&script.Options{LookPath: exec.LookPath, Cache: cache})
	if err != nil {
		b.Fatal(err)
	}
	s := open(b, "demo", measured()["python"])
	for b.Loop() {
		h, err := New(&Options{Scripts: scripts, Cache: cache})
		if err != nil {
			b.Fatal(err)
		}
		for range 100 {
			Entries(s)
		}
		h.Close()
	}
}
