package toolset

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(err)
	}
}

// sometimes is a skill with two classes, one of which can be loaded only if a file is there.
func sometimes(marker string) files {
	return files{
		"SKILL.md": "---\nname: demo\ndescription: d\ntoolsets: [a:A, b:B]\n---\nBody\n",
		"a.py":     "import os\nfrom agent_base import AgentToolset\nclass A(AgentToolset):\n    def pid(self) -> int:\n        return os.getpid()\n",
		"b.py": fmt.Sprintf("import os\nfrom agent_base import AgentToolset\nif not os.path.exists(%q):\n    raise ImportError('not yet')\n", marker) +
			"class B(AgentToolset):\n    def hello(self) -> str:\n        return 'hello'\n",
	}
}

// A class that could not be loaded is loaded again when it is asked for, more and more seldom; the others keep their process
// meanwhile.
func TestLoadedAgain(t *testing.T) {
	needs(t, "python3")
	var clock atomic.Int64
	marker, cache := filepath.Join(t.TempDir(), "there"), scratch.Dir(t)
	start := func() *Host {
		h := newHost(t, func(o *Options) {
			o.Cache, o.start = cache, 5*time.Minute
			o.Advise = func(err error, name string) string { return "Advice about " + name }
		})
		h.now = func() time.Time { return time.Unix(0, clock.Load()) }
		return h
	}
	h, s := start(), open(t, "demo", sometimes(marker))
	pid := func(tools map[string]tool.Tool) string {
		return fmt.Sprintf("%s", call(t.Context(), tools["demo.A.pid"], `{}`).Result)
	}
	seen := ""
	for i, step := range []struct {
		after time.Duration
		again bool // in a new process
	}{{0, true}, {0, true}, {0, false}, {time.Second, true}, {time.Second, false}, {time.Second, true}} {
		clock.Add(int64(step.after))
		all, err := h.Tools(t.Context(), s, nil)
		if err == nil || !strings.Contains(err.Error(), "not yet") || len(all) != 1 {
			t.Fatalf("step %d: got %v, %v", i, all, err)
		}
		now := pid(byName(all))
		if (now != seen) != step.again {
			t.Errorf("step %d: process %s after %s", i, now, seen)
		}
		seen = now
	}
	clock.Add(int64(time.Minute))
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tools := must(t, h, s)
	if now := pid(tools); len(tools) != 2 || now == seen {
		t.Errorf("got %v of process %s", tools, now)
	}

	// A later conversation knows the tool. While its class cannot be loaded a call says why, and the first call after that works.
	if err := os.Remove(marker); err != nil {
		t.Fatal(err)
	}
	h.Close()
	known, _ := start().Known(t.Context(), s, nil)
	hello := byName(known)["demo.B.hello"]
	for _, want := range []string{"not yet", "not yet", "it is loaded again in 1s at the earliest"} {
		if r := call(t.Context(), hello, `{}`); r.Reason != "toolset_import" || !strings.Contains(r.Message, want) || !strings.HasSuffix(r.Message, "\nAdvice about demo") {
			t.Errorf("got %+v, want %q", r, want)
		}
	}
	clock.Add(int64(time.Second))
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := call(t.Context(), hello, `{}`); !r.Success {
		t.Errorf("got %+v", r)
	}
}

// A toolset that lacks a package says which, in each language and as a server.
func TestMissingPackages(t *testing.T) {
	needs(t, "python3")
	needs(t, "node")
	h := newHost(t, func(o *Options) { o.start = 5 * time.Minute })
	s := open(t, "demo", files{
		"SKILL.md": "---\nname: demo\ndescription: d\ntoolsets: [a:A, \"b/index:B\", \"c=python3 c.py\", \"d=node d.mjs\"]\n---\nBody\n",
		"a.py":     "import agent_base, nothing_of_this_name\n", "c.py": "import nothing_of_this_name\n",
		"b/index.js": "import 'nothing-of-this-name'\nimport { Tool } from '@agent/tools'\n", "d.mjs": "import 'nothing-of-this-name'\n",
	})
	_, err := h.Tools(t.Context(), s, nil)
	want := map[string]string{"a:A": "nothing_of_this_name", "b/index:B": script.NPM + "nothing-of-this-name",
		"c=python3 c.py": "nothing-of-this-name", "d=node d.mjs": script.NPM + "nothing-of-this-name"}
	for _, e := range Errors(err) {
		var failed *script.Error
		if errors.As(e, &failed) && len(failed.Wants) > 0 {
			e.Package = failed.Wants[0].Name
		}
		if e.Package != want[e.Toolset] {
			t.Errorf("%s: got %q, want %q: %v", e.Toolset, e.Package, want[e.Toolset], e)
		}
		delete(want, e.Toolset)
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v: %v", want, err)
	}
	var lacks []string
	for _, p := range Programs(s) {
		d, _ := p.Dependencies(s, nil)
		lacks = append(lacks, d.Undeclared...)
	}
	if got, want := strings.Join(lacks, " "), "nothing_of_this_name npm:nothing-of-this-name nothing_of_this_name npm:nothing-of-this-name"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// An interpreter that is missing is named without the words for a script.
func TestMissingRuntime(t *testing.T) {
	var failed <-chan trace.Event
	h := newHost(t, func(o *Options) {
		scripts, err := script.New(&script.Options{LookPath: func(string) (string, error) { return "", exec.ErrNotFound }, Cache: scratch.Dir(t)})
		if err != nil {
			t.Fatal(err)
		}
		o.Scripts = scripts
		failed = events(o, trace.ToolsetFailed)
	})
	s := open(t, "demo", files{"SKILL.md": "---\nname: demo\ndescription: d\ntoolsets: [\"b/index:B\", \"d=nothing-there x\"]\n---\nBody\n", "b/index.ts": ""})
	_, err := h.Tools(t.Context(), s, nil)
	for _, want := range []string{
		"Toolset b/index:B of skill 'demo': it needs bun or deno or node, and none of them is installed: install Node.js 22 or newer",
		"Toolset d=nothing-there x of skill 'demo': it needs nothing-there, which is not installed: install it, or correct the command",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	<-failed
}

// A server that fetches packages first has more time.
func TestPatience(t *testing.T) {
	h := newHost(t, nil)
	s := open(t, "demo", files{"mcp.json": `{"mcpServers":{"a":{"command":"npx","args":["-y","x"]},"b":{"command":"node","args":["x"]}}}`})
	if _, known := h.Known(t.Context(), s, nil); known {
		t.Fatal("it has a record")
	}
	for _, o := range h.owners {
		if a, b := o.units[0].patience(), o.units[1].patience(); a != 4*defaultStart || b != defaultStart {
			t.Errorf("got %s, %s", a, b)
		}
	}
}
