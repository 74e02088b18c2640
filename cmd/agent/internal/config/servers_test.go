package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/want"
)

// text writes a server in one line.
func (s *Server) text() string {
	lines, err := s.lines()
	if err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}

func serverTexts(c *Config) (out []string) {
	for _, s := range c.Servers {
		out = append(out, s.Origin.Rank.String()+" "+s.text())
	}
	return out
}

// A user's file has the shape that other agents use, and the project's file and .mcp.json only propose.
func TestServers(t *testing.T) {
	w := newWorld(t).user(`mcpServers:
  github:
    command: npx
    args: [-y, '@example/server', "${TOKEN:-none}"]
    env: {TOKEN: "${GITHUB_TOKEN}"}
    tools: [search, read]
    ask: [delete]
    timeout: 90s
    network: [API.example.com]
    read: [~/notes]
  far:
    type: http
    url: https://mcp.example.com/mcp
    headers: {X-Key: "${KEY}"}
    oauth: {client_id: abc, scopes: [a, b], callback_port: 8899}
    ask: all
    skills: true
  bare: {command: /opt/x, sandbox: off}
`).inProject("mcpServers:\n  own: {command: ./serve.sh, write: [data], sandbox: off}\n  github: {command: evil}\n")
	w.file(".mcp.json", "{\n\t\"mcpServers\": {\n\t\t\"own\": {\"command\": \"other\"},\n\t\t\"json\": {\"type\": \"stdio\", \"command\": \"caf\\u00e9\", \"args\": [\"a\\/b\"], \"alwaysAllow\": []}\n\t}\n}\n")
	c, problems := w.load()
	if len(problems) > 0 {
		t.Errorf("problems %v", w.lines(problems))
	}
	want := []string{
		"user github: command: 'npx' args: ['-y', '@example/server', '${TOKEN:-none}'] env: TOKEN: '${GITHUB_TOKEN}' tools: ['search', 'read'] ask: ['delete'] timeout: 1m30s network: ['api.example.com'] read: ['HOME/notes']",
		"user far: url: 'https://mcp.example.com/mcp' headers: X-Key: '${KEY}' oauth: clientId: 'abc' callbackPort: 8899 scopes: - 'a' - 'b' ask: ['all'] skills: true",
		"user bare: command: '/opt/x' sandbox: off",
		"project own: command: './serve.sh' write: ['PROJECT/data']",
		"project json: command: 'café' args: ['a/b']",
	}
	var got []string
	for _, text := range serverTexts(c) {
		got = append(got, w.tidy(text))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	wantProblems := []string{
		`PROJECT/.agent/config.yaml:2:8: warning[mcp-server] server "own": a project cannot take it out of the sandbox: ignored → add it to your own settings`,
		`PROJECT/.mcp.json:4:71: warning[mcp-server] server "json": unknown key "alwaysAllow" → ` + didYouMean("alwaysAllow", serverKeys()),
		`PROJECT/.agent/config.yaml:3:3: warning[config-same-label] server "github" is not used: HOME/.agent/config.yaml:2 has one with this label → rename one of them`,
		`PROJECT/.mcp.json:3:3: warning[config-same-label] server "own" is not used: PROJECT/.agent/config.yaml:2 has one with this label → rename one of them`,
	}
	if d := cmp.Diff(wantProblems, w.lines(c.ServerProblems)); d != "" {
		t.Error(d)
	}
	if got, want := w.setting(c, "mcpServers"), "[github far bare own]"; !strings.Contains(got, "github") {
		t.Errorf("setting %s, want %s", got, want)
	}
}

// What cannot be read of a server leaves that server out, and no other.
func TestBadServers(t *testing.T) {
	for _, test := range []struct{ entry, want string }{
		{"{}", `it needs a command or a url`},
		{"[]", `it must be a map, not a list`},
		{"{command: a, url: 'https://b.example'}", `it needs a command or a url`},
		{"{url: 'http://b.example/mcp'}", `must begin with https`},
		{"{url: 'ftp://b.example/mcp'}", `must begin with https`},
		{"{url: 'https://me:secret@b.example/mcp'}", `without a user or a fragment`},
		{"{url: 'https:b'}", `must be https://HOST/PATH`},
		{"{url: 'https://b.example#x'}", `without a user or a fragment`},
		{"{url: 'https://b.example', type: sse}", `the type "sse" is a transport that MCP has replaced`},
		{"{url: 'https://b.example', type: ws}", `servers of the type "ws" are not known`},
		{"{command: a, type: http}", `its type "http" is not that of what it names`},
		{"{command: a, args: b}", `a list of texts was expected`},
		{"{command: a, args: [[b]]}", `an item of a list is not a text`},
		{"{command: a, args: [\"\\0\"]}", `an item of a list is not a text`},
		{"{command: a, env: {A-B: c}}", `"A-B" is not the name of a variable`},
		{"{command: a, env: [b]}", `a map of texts was expected`},
		{"{url: 'https://b.example', headers: {'a b': c}}", `"a b" is not the name of a header`},
		{"{url: 'https://b.example', headers: {a: \"b\\r\\nc: d\"}}", `is not one line of text`},
		{"{url: 'https://b.example', oauth: {callbackPort: 0}}", `invalid callbackPort "0"`},
		{"{command: a, timeout: soon}", `invalid timeout "soon"`},
		{"{command: a, sandbox: maybe}", `invalid sandbox "maybe"`},
	} {
		w := newWorld(t).user("mcpServers:\n  ok: {command: fine}\n  bad: " + test.entry + "\n")
		c, problems := w.load()
		got := strings.Join(w.lines(problems), "\n")
		if len(c.Servers) != 1 || !strings.Contains(got, test.want) || !strings.Contains(got, `server "bad": `) || strings.Contains(got, "secret") {
			t.Errorf("%s: %d servers, %s; want %q", test.entry, len(c.Servers), got, test.want)
		}
	}
	for _, label := range []string{"a__b", "a_", "'a b'", "'ä'", "'a/b'", strings.Repeat("a", 65)} {
		c, problems := newWorld(t).user("mcpServers:\n  " + label + ": {command: a}\n").load()
		if len(c.Servers) > 0 || !strings.Contains(fmt.Sprint(problems), "cannot be the label of a server") {
			t.Errorf("%s: %v", label, problems)
		}
	}
}

// A damaged file of a project proposes nothing, and stops nothing.
func TestBadProposals(t *testing.T) {
	for _, text := range []string{"{", "[]", `{"mcpServers": []}`, `{"mcpServers": {"a": ` + strings.Repeat("[", 20) + strings.Repeat("]", 20) + "}}", strings.Repeat(" ", maxFile+1), "\x00"} {
		w := newWorld(t)
		w.file(".mcp.json", text)
		c, problems := w.load()
		if len(problems) > 0 || len(c.Servers) > 0 || len(c.ServerProblems) == 0 && text != `{"mcpServers": []}` {
			t.Errorf("%.20q: %v %v", text, problems, c.ServerProblems)
		}
	}
	w := newWorld(t)
	w.mkdir(filepath.Join(w.home, "out"))
	if err := os.WriteFile(filepath.Join(w.home, "out", "x"), []byte(`{"mcpServers": {"a": {"command": "b"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(w.home, "out", "x"), filepath.Join(w.project, ".mcp.json")); err != nil {
		t.Fatal(err)
	}
	if c, _ := w.load(); len(c.Servers) > 0 || len(c.ServerProblems) != 1 {
		t.Errorf("a link out of the project: %v %v", c.Servers, c.ServerProblems)
	}
}

// Another entry has another digest; its place counts for nothing.
func TestServerDigest(t *testing.T) {
	base := Server{Label: "a", Command: "b", Args: []string{"c"}}
	moved := base
	moved.Origin.Line = 7
	if base.Digest() != moved.Digest() {
		t.Error("the place changes the digest")
	}
	seen := []string{base.Digest()}
	for i, change := range []func(s *Server){
		func(s *Server) { s.Label = "x" }, func(s *Server) { s.Command = "x" }, func(s *Server) { s.Args = []string{"c", ""} },
		func(s *Server) { s.Env = map[string]string{"A": "b"} }, func(s *Server) { s.Cwd = "/x" }, func(s *Server) { s.URL = "x" },
		func(s *Server) { s.Headers = map[string]string{"A": "b"} }, func(s *Server) { s.OAuth = &ServerOAuth{ClientID: "x"} }, func(s *Server) { s.Tools = []string{"x"} },
		func(s *Server) { s.Ask = []string{"x"} }, func(s *Server) { s.Timeout = 1 }, func(s *Server) { s.Open = true }, func(s *Server) { s.Skills = true },
		func(s *Server) { s.Opens = want.Each(want.Host, want.User, "x") }, func(s *Server) { s.Opens = want.Each(want.Read, want.User, "/x") },
		func(s *Server) { s.Opens = want.Each(want.Write, want.User, "/x") },
	} {
		other := base
		change(&other)
		if slices.Contains(seen, other.Digest()) {
			t.Errorf("change %d does not change the digest", i)
		}
		seen = append(seen, other.Digest())
	}
}

func TestEditServers(t *testing.T) {
	a := &Server{Label: "a", Command: "x", Args: []string{"it's", "${V:-1}"}, Opens: want.Each(want.Host, want.User, "h.example")}
	entry := "  a:\n    command: 'x'\n    args: ['it''s', '${V:-1}']\n    network: ['h.example']\n"
	for _, test := range []struct{ name, before, set, removed string }{
		{"no file", "", "mcpServers:\n" + entry, ""},
		{"another section", "# me\nskills:\n  budget: 7 # small\n", "# me\nskills:\n  budget: 7 # small\nmcpServers:\n" + entry, "# me\nskills:\n  budget: 7 # small\n"},
		{"null", "mcpServers:\n# end\n", "mcpServers:\n" + entry + "# end\n", "mcpServers:\n# end\n"},
		{"the last", "mcpServers:\n  b: {command: y} # why\n  a:\n    command: z\n    env:\n      K: v\nskills: {}\n", "mcpServers:\n  b: {command: y} # why\n" + entry + "skills: {}\n", "mcpServers:\n  b: {command: y} # why\nskills: {}\n"},
		{"comments", "mcpServers:\n  # ours\n  a: # it\n    # why\n    command: x # same\n    args: [z] # 'one' # two\n    # gone\n    env:\n      K: v # k\n    network: [h.example] # here\n    # end\n  b: {}\n",
			"mcpServers:\n  # ours\n  a: # it\n    # why\n    command: x # same\n    args: ['it''s', '${V:-1}'] # 'one' # two\n    # gone\n    network: [h.example] # here\n    # end\n  b: {}\n", "mcpServers:\n  # ours\n    # end\n  b: {}\n"},
		{"another field", "mcpServers:\n  a:\n      # why\n      command: x\n      args:\n        - it's # one\n        - ${V:-1}\n  # end\n",
			"mcpServers:\n  a:\n      # why\n      command: x\n      args:\n        - it's # one\n        - ${V:-1}\n      network: ['h.example']\n  # end\n", "mcpServers:\n  # end\n"},
		{"the first", "mcpServers:\n  a: {command: z}\n\n  b:\n    command: y\n", "mcpServers:\n" + entry + "\n  b:\n    command: y\n", "mcpServers:\n\n  b:\n    command: y\n"},
		{"CRLF", "mcpServers:\r\n  b: {command: y}\r\n", "mcpServers:\r\n  b: {command: y}\r\n" + strings.ReplaceAll(entry, "\n", "\r\n"), "mcpServers:\r\n  b: {command: y}\r\n"},
		{"in one line", "mcpServers: {b: {command: y}}\n", "error", "mcpServers: {b: {command: y}}\n"},
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		put := func() {
			if test.before != "" {
				if err := os.WriteFile(path, []byte(test.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		now := func() string { b, _ := os.ReadFile(path); return string(b) }
		put()
		_, err := SetServer(t.Context(), path, a)
		if test.set == "error" {
			if err == nil || now() != test.before {
				t.Errorf("%s: %v, %s", test.name, err, now())
			}
		} else if d := cmp.Diff(test.set, now()); err != nil || d != "" {
			t.Errorf("%s: %v %s", test.name, err, d)
		}
		os.Remove(path)
		put()
		if _, err := RemoveServer(t.Context(), path, "a"); err != nil || now() != test.removed {
			t.Errorf("%s: removed: %v %q, want %q", test.name, err, now(), test.removed)
		}
	}
}

// What SetServer writes is read as the same server.
func FuzzServerLines(f *testing.F) {
	f.Add("npx", "a b", "K", "'", "https://x.example")
	f.Add("", ": #", "YES", "\"\\", "null")
	f.Fuzz(func(t *testing.T, command, arg, name, value, header string) {
		s := &Server{Label: "a", Command: command, Args: []string{arg, ""}, Env: map[string]string{"A": value}, Tools: []string{name}, Ask: []string{}, Skills: true}
		if command == "" {
			s = &Server{Label: "a", URL: "https://x.example", Headers: map[string]string{"H": header}, OAuth: &ServerOAuth{ClientID: "x", Scopes: []string{arg}}}
		}
		lines, err := s.lines()
		if err != nil {
			return
		}
		text, err := withServer("f", "# a\nskills:\n  budget: 1\n", "a", lines)
		if err != nil {
			return // it says so
		}
		root, err := parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		l := &loader{}
		got := l.readServers(Origin{Rank: User}, root.Pairs[1].Value)
		for _, p := range l.problems {
			said = append(said, p.Message)
		}
		if len(got) == 1 && strings.TrimSpace(command) == command && (len(got[0].Args) != len(s.Args) || len(s.Args) > 0 && got[0].Args[0] != arg || got[0].Command != command) {
			t.Fatalf("%q is read as %+v %q", text, got, said)
		}
	})
}

// FuzzFromJSON holds that every text is a tree or an error.
func FuzzFromJSON(f *testing.F) {
	f.Add(`{"mcpServers": {"a": {"command": "b", "args": [1, true, null]}}}`)
	f.Add("\ufeff{}")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := fromJSON([]byte(text))
		if err == nil && n == nil {
			t.Fatal("neither")
		}
	})
}
