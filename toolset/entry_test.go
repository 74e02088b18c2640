package toolset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/internal/test/scratch"
)

// R28, R29, R114, R118: a toolset is a class in a module or an export of a file, found in the skill's folder.
func TestEntries(t *testing.T) {
	front := func(entries ...string) string {
		return "---\nname: demo\ndescription: d\ntoolsets: [" + strings.Join(entries, ", ") + "]\n---\nBody\n"
	}
	all := files{
		"toolsets/hello.py": "", "toolsets/__init__.py": "", "toolsets/index.ts": "", "toolsets/both.js": "", "toolsets/both.py": "", "pack/__init__.py": "",
		"dir/index.mjs": "", "top.py": "", "bin/weather": "", "mcp.json": `{"mcpServers": {
			"weather": {"command": "{baseDir}/bin/weather", "args": ["-v", "${TOKEN:-none}"], "env": {"A": "b"}, "cwd": "${CLAUDE_PLUGIN_ROOT}/bin"},
			"far": {"url": "https://example.com/mcp"}, "sse": {"type": "sse", "command": "x"}, "none": {}, "bad": {"command": 3}, "out": {"command": "x", "cwd": "../y"},
			"1x": {"command": "x"}}}`,
	}
	tests := []struct {
		entries  []string
		want     []string // class, language and file
		problems []string
	}{
		{[]string{"toolsets.hello:Hello"}, []string{"Hello python toolsets/hello.py"}, nil},
		{[]string{"toolsets/index:Hello"}, []string{"Hello node toolsets/index.ts"}, nil},
		{[]string{"toolsets/index.ts:Hello", "toolsets/hello.py:World"}, []string{"Hello node toolsets/index.ts", "World python toolsets/hello.py"}, nil},
		{[]string{"toolsets.both:P", "toolsets/both:J"}, []string{"P python toolsets/both.py", "J node toolsets/both.js"}, nil},
		{[]string{"pack:P", "top:T", "dir:D"}, []string{"P python pack/__init__.py", "T python top.py", "D node dir/index.mjs"}, nil},
		{[]string{"toolsets.hello:Hello", "top:Hello"}, []string{"Hello python toolsets/hello.py"}, []string{`"Hello" is declared twice: the first counts`}},
		{[]string{"toolsets.none:X"}, nil, []string{"toolset toolsets.none:X: the skill has no file toolsets/none.py"}},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.entries, " "), func(t *testing.T) {
			all["SKILL.md"] = front(tt.entries...)
			found, problems := Entries(open(t, "demo", all))
			var got []string
			for _, e := range found {
				if e.Language != Server {
					got = append(got, fmt.Sprint(e.Class, " ", e.Language, " ", e.File))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("entries differ (-want +got):\n%s", diff)
			}
			var messages []string
			for _, p := range problems {
				if p.File == "SKILL.md" {
					messages = append(messages, p.Message)
				}
			}
			if !slices.Equal(messages, tt.problems) {
				t.Errorf("got problems %q", messages)
			}
		})
	}
	all["SKILL.md"] = front()
	found, problems := Entries(open(t, "demo", all))
	want := []Entry{{Toolset: "weather", Class: "weather", Language: Server, Command: &Command{From: "mcp.json", Path: "./bin/weather",
		Args: []string{"-v", "${TOKEN:-none}"}, Env: map[string]string{"A": "b"}, Dir: "bin"}}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("servers differ (-want +got):\n%s", diff)
	}
	if len(problems) != 6 {
		t.Errorf("got %v", problems)
	}
}

// A skill without any has none, and one with a broken mcp.json has that as a problem.
func TestEntriesBroken(t *testing.T) {
	if found, problems := Entries(open(t, "demo", files{})); found != nil || problems != nil {
		t.Errorf("got %v, %v", found, problems)
	}
	for text, want := range map[string]string{
		"[]": "it is not a JSON object", `{"servers":{}}`: `it has no "mcpServers"`, `{"mcpServers":[]}`: "is not an object",
		`{"x":"` + strings.Repeat("x", maxServerFile) + `"}`: "more than 65536 bytes",
	} {
		_, problems := Entries(open(t, "demo", files{"mcp.json": text}))
		if len(problems) != 1 || !strings.Contains(problems[0].Message, want) {
			t.Errorf("%.20s: got %v", text, problems)
		}
	}
}

// A server that cannot be used is named with the reason.
func TestServersRefused(t *testing.T) {
	for text, want := range map[string]string{
		`"far":{"url":"https://example.com/mcp"}`:            `server "far" is reached over the network: only servers that are started by a command are used`,
		`"both":{"url":"https://example.com","command":"x"}`: `server "both" is reached over the network`,
		`"sse":{"type":"sse","command":"x"}`:                 `server "sse" is reached over the network`,
		`"nul":{"command":"python3","args":["a\u0000b"]}`:    `server "nul": "a\x00b" has a NUL`,
		`"nul":{"command":"\u0000"}`:                         `server "nul": "\x00" has a NUL`,
		`"nul":{"command":"x","env":{"A":"\u0000"}}`:         `server "nul": "\x00" has a NUL`,
		`"env":{"command":"x","env":{"A B":"x"}}`:            `server "env": "A B" is not the name of a variable`,
		`"none":{}`:                          `server "none" has no command`,
		`"bad":{"command":3}`:                `server "bad": json: `,
		`"out":{"command":"x","cwd":"../y"}`: `server "out" starts in "../y", which is not a folder in the skill`,
		`"1x":{"command":"x"}`:               `server "1x": a name begins with a letter`,
		`"py":{"command":"python3","args":["-Bu","gone.py"]}`: `server "py" is started with gone.py, which the skill does not have`,
		`"js":{"command":"node","args":["x.js"],"cwd":"d"}`:   `server "js" is started with d/x.js, which`,
		`"bin":{"command":"${CLAUDE_SKILL_DIR}/bin/gone"}`:    `server "bin" is started with bin/gone, which`,
	} {
		found, problems := Entries(open(t, "demo", files{"mcp.json": `{"mcpServers":{` + text + `}}`}))
		if len(found) > 0 || len(problems) != 1 || !strings.HasPrefix(problems[0].Message, want) {
			t.Errorf("%s: got %v, %v, want %s", text, found, problems, want)
			continue
		}
		if p := problems[0]; p.Cure == "" || p.Line != 1 || p.Col != 16 {
			t.Errorf("%s: got cure %q at %d:%d", text, p.Cure, p.Line, p.Col)
		}
	}
	for _, text := range []string{`"py":{"command":"python3","args":["/srv/x.py"]}`, `"m":{"command":"python3","args":["-m","x.py"]}`,
		`"home":{"command":"node","args":["${HOME}/x.js"]}`, `"npx":{"command":"npx","args":["x.js"]}`} {
		if found, problems := Entries(open(t, "demo", files{"mcp.json": `{"mcpServers":{` + text + `}}`})); len(found) != 1 {
			t.Errorf("%s: got %v", text, problems)
		}
	}
}

// 100 skills with toolsets start nothing and make no file until one is used.
func TestUnusedCostsNothing(t *testing.T) {
	cache := scratch.Dir(t)
	h := newHost(t, func(o *Options) { o.Cache = cache })
	for i := range 100 {
		name := fmt.Sprintf("demo-%d", i)
		s := open(t, name, fakes(t, "crash"))
		if found, _ := Entries(s); len(found) != 1 {
			t.Fatalf("got %v", found)
		}
		if all, ok := h.Known(t.Context(), s, nil); ok || len(all) > 0 {
			t.Errorf("got %v", all)
		}
	}
	for _, o := range h.owners {
		for _, u := range o.units {
			if u.keep.Current() != nil {
				t.Error("it runs")
			}
		}
	}
}

func FuzzEntry(f *testing.F) {
	for _, text := range []string{"toolsets.hello:Hello", "toolsets/index:Hello", "../x:Y", "a.b.c:$", "x=node a b", "/etc/passwd:x", "a..b:c", `\\x:y`} {
		f.Add(text)
	}
	s := open(f, "demo", files{"a.py": "", "b/index.ts": ""})
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parseEntry(s.FS(), text)
		if err != nil {
			return
		}
		if e.Class == "" || e.Language == "" || (e.File == "") != (e.Command != nil) || strings.Contains(e.File, "..") {
			t.Errorf("%q: got %+v", text, e)
		}
	})
}

func FuzzServers(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"x","args":["y"],"env":{"A":"${B:-c}"},"cwd":"./d"}}}`))
	f.Add([]byte(`{"mcpServers":{"a":{"command":"${CLAUDE_SKILL_DIR}/../x"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		servers, _ := parseServers(b)
		if len(servers) > maxEntries {
			t.Errorf("got %d", len(servers))
		}
		for _, s := range servers {
			if s.line < 1 || s.col < 1 {
				t.Errorf("%q is at %d:%d", s.Name, s.line, s.col)
			}
			e, err := s.entry("mcp.json")
			if err == nil && (e.Command == nil || e.Command.Path == "" || !serverName().MatchString(e.Class)) {
				t.Errorf("got %+v", e)
			}
		}
	})
}
