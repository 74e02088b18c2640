package hosts

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

var ours = &MCPServer{Name: "skills", Command: "/usr/bin/agent", Args: []string{"serve"}}

// Each agent is given the form that it reads, and gives it up again without a trace; what else is in the file stays as it is.
func TestMCPServers(t *testing.T) {
	const jsonc = "// mine\n{\n  \"theme\": \"dark\", // as it was\n  \"TABLE\": {\"other\": {\"command\": \"x\"}},\n}\n"
	const tomlText = "# mine\nmodel = \"x\" # as it was\n\n[TABLE.other]\ncommand = \"x\"\n"
	for _, id := range MCPClients() {
		t.Run(id, func(t *testing.T) {
			c, ok := FindMCP(id, "/home/u", "linux")
			if !ok || !strings.HasPrefix(c.File, filepath.FromSlash("/home/u/.")) || c.Title == "" {
				t.Fatalf("got %+v, %t", c, ok)
			}
			text := jsonc
			if c.f.shape == nil {
				text = tomlText
			}
			text = strings.ReplaceAll(text, "TABLE", c.f.table)
			with, err := c.With([]byte(text), ours)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"mine\n", "as it was", "other", "/usr/bin/agent", "serve", "skills"} {
				if !strings.Contains(string(with), want) {
					t.Errorf("%q is missing:\n%s", want, with)
				}
			}
			again, err := c.With(with, ours)
			if err != nil || string(again) != string(with) {
				t.Errorf("a second time: %v\n%s", err, again)
			}
			if _, err := c.With(with, &MCPServer{Name: "skills", Command: "/opt/agent", Args: []string{"serve"}}); !errors.Is(err, ErrExists) {
				t.Errorf("another server of that name: %v", err)
			}
			if _, err := c.Without(with, &MCPServer{Name: "skills", Command: "/opt/agent"}); !errors.Is(err, ErrExists) {
				t.Errorf("taking another server out: %v", err)
			}
			without, err := c.Without(with, ours)
			if err != nil || string(without) != text {
				t.Errorf("taken out: %v\n%q\n%q", err, without, text)
			}
			windows := strings.ReplaceAll(text, "\n", "\r\n")
			with, err = c.With([]byte(windows), ours)
			if err != nil || strings.Count(string(with), "\n") != strings.Count(string(with), "\r\n") {
				t.Errorf("lines that end with CR LF: %v\n%q", err, with)
			}
			if without, err := c.Without(with, ours); err != nil || string(without) != windows {
				t.Errorf("taken out: %v\n%q\n%q", err, without, windows)
			}
			if same, err := c.Without([]byte(text), ours); err != nil || string(same) != text {
				t.Errorf("nothing to take out: %v\n%s", err, same)
			}
			if entry := c.Entry(ours); !strings.HasSuffix(entry, "\n") || !strings.Contains(entry, "/usr/bin/agent") {
				t.Errorf("got %q", entry)
			}
			for _, bad := range []string{"{", "[]", `{"` + c.f.table + `": 1}`, c.f.table + " = 1\n", c.f.table + " = {other = {command = \"x\"}}\n", "\x00"} {
				if got, err := c.With([]byte(bad), ours); err == nil {
					t.Errorf("%q became %q", bad, got)
				}
			}
		})
	}
	if c, ok := FindMCP("Claude-Code", "/home/u", "linux"); !ok || c.Title != "Claude Code" {
		t.Errorf("got %+v", c)
	}
	if c, ok := FindMCP("vscode", "/home/u", "darwin"); !ok || !strings.Contains(c.File, "Application Support") || c.Title != "VS Code" {
		t.Errorf("got %+v", c)
	}
	if _, ok := FindMCP("zed", "/home/u", "linux"); ok {
		t.Error("an agent whose configuration is not known")
	}
}

// What else a person wrote into the map of the servers stays there.
func TestCommentStays(t *testing.T) {
	c, _ := FindMCP("opencode", "/home/u", "linux")
	with, err := c.With([]byte("{\n  \"mcp\": {\n    // none yet\n  },\n}\n"), ours)
	if err != nil {
		t.Fatal(err)
	}
	if without, err := c.Without(with, ours); err != nil || !strings.Contains(string(without), "// none yet") {
		t.Errorf("%v\n%s", err, without)
	}
}

func FuzzMCPServers(f *testing.F) {
	f.Add("claude", `{"mcpServers":{}}`)
	f.Add("codex", "a = 1\n")
	f.Fuzz(func(t *testing.T, id, text string) {
		c, ok := FindMCP(id, "/home/u", "linux")
		if !ok {
			return
		}
		with, err := c.With([]byte(text), ours)
		if err != nil {
			return
		}
		if again, err := c.With(with, ours); err != nil || string(again) != string(with) {
			t.Errorf("%q became %q, and that %q, %v", text, with, again, err)
		}
	})
}
