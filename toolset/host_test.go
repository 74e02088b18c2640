package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// files are the files of a skill by their paths.
type files map[string]string

// open returns a skill with some files.
func open(t testing.TB, name string, all files) *skill.Skill {
	t.Helper()
	root := t.TempDir()
	if all["SKILL.md"] == "" {
		all["SKILL.md"] = "---\nname: " + name + "\ndescription: d\n---\nBody\n"
	}
	for file, text := range all {
		path := filepath.Join(root, name, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "user", Source: skill.Dir(root, nil), Trust: skill.TrustRoot}}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// fakes is an mcp.json with fake servers, each of which has the name of its mode.
func fakes(t testing.TB, modes ...string) files {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	servers := map[string]any{}
	for _, mode := range modes {
		servers[mode] = map[string]any{"command": exe, "args": []string{fakeArg, mode}}
	}
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	return files{"mcp.json": string(b)}
}

// newHost returns a Host whose processes are not confined.
func newHost(t testing.TB, change func(*Options)) *Host {
	t.Helper()
	scripts, err := script.New(&script.Options{LookPath: exec.LookPath, Cache: scratch.Dir(t), Env: []string{"API_TOKEN=sesame-open-42"}})
	if err != nil {
		t.Fatal(err)
	}
	o := &Options{Scripts: scripts, Cache: scratch.Dir(t)}
	if change != nil {
		change(o)
	}
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// must returns the tools of a skill by their sources and names.
func must(t testing.TB, h *Host, s *skill.Skill) map[string]tool.Tool {
	t.Helper()
	all, err := h.Tools(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return byName(all)
}

func byName(all []tool.Tool) map[string]tool.Tool {
	out := map[string]tool.Tool{}
	for _, one := range all {
		out[one.Source+"."+one.Name] = one
	}
	return out
}

func call(ctx context.Context, one tool.Tool, args string) tool.Result {
	return one.Call(ctx, json.RawMessage(args))
}

func TestServer(t *testing.T) {
	h := newHost(t, nil)
	s := open(t, "demo", fakes(t, "good"))
	tools := must(t, h, s)
	for _, tt := range []struct {
		tool, args, want string
	}{
		{"echo", `{"a":[1,2]}`, `{"success":true,"result":{"a":[1,2]},"message":"","duration_ms":0}`},
		{"text", `{}`, `{"success":true,"result":"plain words","message":"","duration_ms":0}`},
		{"fail", `{}`, `{"success":false,"error":"execution_failed","message":"it broke","duration_ms":0}`},
		{"stray", `{}`, `{"success":true,"result":1,"message":"done","duration_ms":0}`},
	} {
		if got := string(call(t.Context(), tools["demo.good."+tt.tool], tt.args).Encode()); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.tool, got, tt.want)
		}
	}
}

// Each fault of a toolset is its own, and says why.
func TestFaultsAtStart(t *testing.T) {
	for _, tt := range []struct {
		mode string
		kind Kind
		want []string
	}{
		{"crash", KindCrash, []string{"exit code 3", "SyntaxError: this is wrong"}},
		{"hang", KindStart, []string{"did not say within 500ms", "importing for ever"}},
		{"flood", KindCrash, []string{"more than 16 MiB", "noise that is no message"}},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			h := newHost(t, func(o *Options) {
				if tt.mode == "hang" {
					o.Start = 500 * time.Millisecond
				}
			})
			all, err := h.Tools(t.Context(), open(t, "demo", fakes(t, "good", tt.mode)), nil)
			var e *Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.Toolset != tt.mode || len(Errors(err)) != 1 {
				t.Fatalf("got %v of kind %v", err, e)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
			if r := call(t.Context(), byName(all)["demo.good.text"], `{}`); !r.Success {
				t.Errorf("the other one: %+v", r)
			}
		})
	}
}

func TestFaultsOfCalls(t *testing.T) {
	for _, tt := range []struct {
		tool string
		code tool.Code
		want []string
	}{
		{"exit", tool.ExecutionFailed, []string{"exit code 7", "leaving"}},
		{"never", tool.Timeout, []string{"did not answer within 300ms"}},
		{"flood", tool.ExecutionFailed, []string{"more than 16 MiB"}},
		{"huge", tool.ExecutionFailed, []string{"at most 8388608 are taken"}},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			h := newHost(t, func(o *Options) {
				if tt.tool == "never" {
					o.Call = 300 * time.Millisecond
				}
			})
			tools := must(t, h, open(t, "demo", fakes(t, "good")))
			r := call(t.Context(), tools["demo.good."+tt.tool], `{}`)
			if r.Error != tt.code {
				t.Errorf("got %+v", r)
			}
			for _, want := range tt.want {
				if !strings.Contains(r.Message, want) {
					t.Errorf("got %q, want %q", r.Message, want)
				}
			}
			if r := call(t.Context(), tools["demo.good.text"], `{}`); !r.Success {
				t.Errorf("the next call: %+v", r)
			}
		})
	}
}
