package hosttool

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/tool"
)

// R161: the built-in hello tool.
func TestHello(t *testing.T) {
	k := newKit(t, nil)
	k.want("hello", `{}`, `{"success":true,"result":"Hello, World!","message":"Greeted World"`)
	k.want("hello", `{"name":"María"}`, `{"success":true,"result":"Hello, María!","message":"Greeted María"`)
	k.want("hello", `{"name":"`+strings.Repeat("x", 201)+`"}`, `{"success":false,"error":"args_too_large"`)
	k.want("hello", `{"name":1}`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`)
}

func TestRead(t *testing.T) {
	k := newKit(t, nil)
	long := strings.Repeat("x", PageBytes+10)
	files(t, k.ws, map[string]string{"empty": "", "noend": "a\nb", "image": "\x89PNG\r\n\x1a\n\x00", "latin": "caf\xe9\n", "crlf": "a\r\nb\r\n", "long": long + "\nend\n",
		"many": strings.Repeat("line\n", 4500), "wide": strings.Repeat(strings.Repeat("y", 999)+"\n", 400), "umlaut": strings.Repeat("ü", sniffed)})
	for _, row := range []struct{ args, want string }{
		{`"a.txt"`, `{"success":true,"result":{"file_path":"a.txt","content":"one\ntwo\nthree\n","offset":1,"lines":3},"message":"Read 3 lines of 'a.txt'"`},
		{`"a.txt","offset":2,"limit":1`, `{"success":true,"result":{"file_path":"a.txt","content":"two\n","offset":2,"lines":1,"next_offset":3},"message":"Read 1 line of 'a.txt'; the file continues at offset 3"`},
		{`"a.txt","offset":3`, `{"success":true,"result":{"file_path":"a.txt","content":"three\n","offset":3,"lines":1},`},
		{`"a.txt","offset":4`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments","message":"offset 4 is beyond the last line"`},
		{`"a.txt","offset":-1`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
		{`"empty"`, `{"success":true,"result":{"file_path":"empty","content":"","offset":1,"lines":0}`},
		{`"noend"`, `{"success":true,"result":{"file_path":"noend","content":"a\nb","offset":1,"lines":2}`},
		{`"crlf"`, `{"success":true,"result":{"file_path":"crlf","content":"a\r\nb\r\n"`},
		{`"umlaut"`, `{"success":true,"result":{"file_path":"umlaut"`},
		{`"image"`, `{"success":false,"error":"execution_failed","reason":"binary","message":"'image' (PNG image, 9 bytes) is not shown: it begins as a PNG image, and its header cannot be read: unexpected EOF"`},
		{`"latin"`, `{"success":false,"error":"execution_failed","reason":"binary","message":"'latin' is binary (text that is not UTF-8, 5 bytes)`},
	} {
		k.want("read_file", `{"file_path":`+row.args+`}`, row.want)
	}
	for _, row := range []struct {
		name        string
		lines, next int
	}{{"many", 2000, 2001}, {"wide", 262, 263}, {"long", 1, 2}} {
		p, ok := k.call("read_file", `{"file_path":"`+row.name+`"}`).Result.(Page)
		if !ok || p.Lines != row.lines || p.NextOffset != row.next || len(p.Content) > PageBytes+1 {
			t.Errorf("%s: got %d lines, %d bytes, next %d", row.name, p.Lines, len(p.Content), p.NextOffset)
		}
	}
	k.want("read_file", `{"file_path":"long","offset":2}`, `{"success":true,"result":{"file_path":"long","content":"end\n"`)
	if got := k.call("read_file", `{"file_path":"long"}`).Message; !strings.Contains(got, "was cut") {
		t.Errorf("a cut line is not told: %s", got)
	}
}

// Pages follow each other without a gap.
func TestPages(t *testing.T) {
	k := newKit(t, nil)
	var want strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&want, "%d %s\n", i, strings.Repeat("z", i%500))
	}
	files(t, k.ws, map[string]string{"big": want.String()})
	got, calls := "", 0
	for offset := 1; offset > 0 && calls < 100; calls++ {
		p := k.call("read_file", fmt.Sprintf(`{"file_path":"big","offset":%d}`, offset)).Result.(Page)
		got, offset = got+p.Content, p.NextOffset
	}
	if got != want.String() || calls < 5 {
		t.Errorf("got %d bytes in %d calls, want %d", len(got), calls, want.Len())
	}
}

func TestWrite(t *testing.T) {
	k := newKit(t, nil)
	files(t, k.ws, map[string]string{"run.sh": "#!/bin/sh\n", "l": "-> a.txt", "dangling": "-> new/one.txt", "toskill": "-> .agents/skills/inner", "g": "-> .git"})
	for _, row := range []struct{ args, want string }{
		{`"new/deep/f.txt","content":"x\n"`, `{"success":true,"result":{"file_path":"new/deep/f.txt","bytes":2,"created":true},"message":"Created 'new/deep/f.txt', 2 bytes"`},
		{`"new/deep/f.txt","content":""`, `{"success":true,"result":{"file_path":"new/deep/f.txt","bytes":0,"created":false}`},
		{`"run.sh","content":"y"`, `{"success":true`},
		{`"l","content":"through"`, `{"success":true`},
		{`"dangling","content":"made"`, `{"success":true`},
		{`"src","content":"x"`, `{"success":false,"error":"execution_failed","reason":"folder"`},
		{`".","content":"x"`, `{"success":false,"error":"execution_failed","reason":"folder"`},
		{`"a.txt/b","content":"x"`, `{"success":false,"error":"execution_failed"`},
		{`"f"`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
		{`"big","content":"` + strings.Repeat("x", MaxFile+1) + `"`, `{"success":false,"error":"args_too_large"`},
	} {
		k.want("write_file", `{"file_path":`+row.args+`}`, row.want)
	}
	k.disk("new/deep/f.txt", "")
	k.disk("a.txt", "through")
	k.disk("new/one.txt", "made")
	if info, err := os.Lstat(filepath.Join(k.ws, "run.sh")); err != nil || info.Mode() != 0o755 {
		t.Errorf("mode: got %v %v", info.Mode(), err)
	}
	if info, err := os.Lstat(filepath.Join(k.ws, "l")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info.Mode(), err)
	}
	for _, path := range []string{"skills/demo/SKILL.md", "skills/demo/new.md", "$SKILL/new.md", ".agents/skills/inner/SKILL.md", "toskill/new/x.md", ".git/hooks/pre-commit", "g/hooks/x",
		".GIT/config", "sub/.git", "git~1/x", "skills/demo"} {
		k.denied("write_file", `{"file_path":"`+path+`","content":"x"}`, "read_only")
		k.denied("edit_file", `{"file_path":"`+path+`","old_string":"a","new_string":"x"}`, "read_only")
	}
	if left, _ := filepath.Glob(filepath.Join(k.ws, ".agent-*")); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

// F9: a file that other programs run, or models read, because it is there needs approval, and nothing in the folder of a
// version control system is written.
func TestNothingIsPlanted(t *testing.T) { // security 1.2
	k := newKit(t, nil)
	files(t, k.ws, map[string]string{"half/HEAD": "", "half/objects/": "", "bare/HEAD": "", "bare/objects/": "", "bare/refs/": "", "tree/HEAD": "",
		"common/commondir": "../x", "case/objects/": "", "case/refs/": "", "link": "-> .claude", ".claude/settings.json": "{}\n", "deep/.vscode/tasks.json": "{}\n"})
	for _, path := range []string{
		".hg/hgrc", ".jj/repo/config.toml", "sub/.svn/x", ".git", ".hg", "HG~1/hgrc", ".h\u200cg/hgrc", // the file system may ignore the joiner
		"half/refs/x", "half/refs", "bare/config", "bare/CONFIG", "bare/hooks/post-checkout", "tree/commondir", "common/HEAD", "case/head", "case/HEAD",
	} {
		k.denied("write_file", `{"file_path":"`+path+`","content":"x"}`, "read_only")
		k.denied("edit_file", `{"file_path":"`+path+`","old_string":"{}","new_string":"x"}`, "read_only")
	}
	for _, path := range []string{
		".agents/skills/hello-world/SKILL.md", ".agents/x", ".agent/config.yaml", ".claude/settings.json", "link/settings.json", "sub/.CLAUDE/commands/x.md",
		".codex/config.toml", ".mcp.json", "a/.MCP.json", ".mcp.json.", ".vscode/tasks.json", "deep/.vscode/tasks.json", ".idea/workspace.xml", ".gitmodules",
		".husky/pre-commit", ".githooks/x", ".envrc", "x/.envrc ", ".bashrc", ".zshenv", ".gitconfig", "src/.agentrc", ".github/skills/x/SKILL.md",
		".cursor/mcp.json", ".gemini/settings.json", ".qwen/settings.json", ".kiro/steering/x.md", ".opencode/plugin/x.ts", ".windsurf/rules/x.md", ".aider.conf.yml",
		"AGENTS.md", "sub/agents.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md", ".github/prompts/x.md",
		"opencode.json", "CLAUDE~1/settings.json", "COPILO~1.MD", "AGENTS\u200c.md",
		".ssh/authorized_keys", ".config/fish/config.fish", ".config/git/config", ".config/autostart/x.desktop", ".config/systemd/user/x.service",
	} {
		k.denied("write_file", `{"file_path":"`+path+`","content":"x"}`, "not_approved")
	}
	k.denied("edit_file", `{"file_path":".claude/settings.json","old_string":"{}","new_string":"x"}`, "not_approved")
	k.denied("edit_file", `{"file_path":"deep/.vscode/tasks.json","old_string":"{}","new_string":"x"}`, "not_approved")
	k.disk(".claude/settings.json", "{}\n")
	for _, path := range []string{"half/config", "tree/refs/x", "tree/config", ".github/workflows/x.yml", ".gitignore", "a/.editorconfig", "agent/config.yaml", "HEAD",
		"objects/x", "agents.go", "docs/agents/x.md", "x~1y"} {
		k.want("write_file", `{"file_path":"`+path+`","content":"x"}`, `{"success":true`)
	}
	k.denied("write_file", `{"file_path":"refs/x","content":"x"}`, "read_only") // the workspace itself
}

// F20: the settings of a repository can hold a password in an address.
func TestVersionControlIsNotRead(t *testing.T) {
	k := newKit(t, nil)
	files(t, k.ws, map[string]string{".git/config": "url = https://me:secret@host/x\n", "sub/.hg/hgrc": "secret\n", "bare/HEAD": "", "bare/objects/": "", "bare/refs/": "",
		"bare/config": "secret\n", "l": "-> .git/config", "config": "plain\n", "tree/.git": "gitdir: ../x\n"})
	for _, path := range []string{".git/config", "l", ".git/modules/../config", "sub/.hg/hgrc", "bare/config"} {
		k.denied("read_file", `{"file_path":"`+path+`"}`, "blocked")
		k.want("grep", `{"pattern":"secret","path":"`+path+`"}`, `{"success":true,"result":{"text":"","lines":0,"files":0}`)
	}
	k.want("grep", `{"pattern":"secret"}`, `{"success":true,"result":{"text":"","lines":0,"files":0}`)
	for _, path := range []string{"config", "tree/.git", "bare/HEAD"} {
		k.want("read_file", `{"file_path":"`+path+`"}`, `{"success":true`)
	}
}

// A skill is not planted where skills are found.
func TestNoSkillIsPlanted(t *testing.T) {
	k := newKit(t, nil)
	root := filepath.Join(k.ws, "team/skills")
	for _, row := range []struct {
		roots []string
		path  string
		ok    bool
	}{
		{[]string{root}, "team/skills/hello-world/SKILL.md", false},
		{[]string{root}, "TEAM/skills/new/scripts/x.py", false},
		{[]string{root}, "team/x", true},
		{[]string{root}, "team/skills-old/SKILL.md", true},
		{[]string{k.ws}, "new/SKILL.md", false},
		{[]string{k.base}, "new/skill.MD", false},
		{[]string{k.ws}, "new/x.py", true},
		{nil, "docs/SKILL.md", true},
	} {
		k.o.SkillRoots = func() []string { return row.roots }
		k.exec = executor(t, k.o)
		args := `{"file_path":"` + row.path + `","content":"x"}`
		if row.ok {
			k.want("write_file", args, `{"success":true`)
		} else {
			k.denied("write_file", args, "read_only")
		}
	}
}

// What decides which content may run is not written, under any spelling and before it is there.
func TestReadOnly(t *testing.T) {
	k := newKit(t, nil)
	files(t, k.ws, map[string]string{"home/config.yaml": "x\n", "homes/a": "", "link": "-> home"})
	k.o.ReadOnly = func() []string { return []string{filepath.Join(k.ws, "link"), filepath.Join(k.ws, "later/deep")} }
	k.exec = executor(t, k.o)
	for _, path := range []string{"home/config.yaml", "home/new/trust.json", "link/x", "$WS/home/x", "home", "later/deep/x", "LATER/Deep/x/y", "later/deep"} {
		k.denied("write_file", `{"file_path":"`+path+`","content":"x"}`, "read_only")
	}
	k.denied("edit_file", `{"file_path":"home/config.yaml","old_string":"x","new_string":"y"}`, "read_only")
	k.want("read_file", `{"file_path":"home/config.yaml"}`, `{"success":true`)
	for _, path := range []string{"homes/a", "later/deeper", "later/x"} {
		k.want("write_file", `{"file_path":"`+path+`","content":"x"}`, `{"success":true`)
	}
}

func TestEdit(t *testing.T) {
	k := newKit(t, nil)
	files(t, k.ws, map[string]string{"x.sh": "#!/bin/sh\necho a\necho b\necho a\n", "crlf": "one\r\ntwo\r\nthree\r\n", "mixed": "one\r\ntwo\nthree\n", "bin": "a\x00b", "latin": "caf\xe9 a\n"})
	for _, row := range []struct{ args, want string }{
		{`"x.sh","old_string":"echo b","new_string":"echo c"`, `{"success":true,"result":{"file_path":"x.sh","line":3,"replacements":1},"message":"Replaced 1 occurrence in 'x.sh', the first at line 3"`},
		{`"x.sh","old_string":"echo a","new_string":"echo d"`, `{"success":false,"error":"execution_failed","reason":"not_unique","message":"old_string occurs 2 times in 'x.sh', at lines 2, 4:`},
		{`"x.sh","old_string":"nothing","new_string":"echo d"`, `{"success":false,"error":"execution_failed","reason":"no_match"`},
		{`"x.sh","old_string":"echo a","new_string":"echo d","replace_all":true`, `{"success":true,"result":{"file_path":"x.sh","line":2,"replacements":2}`},
		{`"x.sh","old_string":"","new_string":"echo d"`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
		{`"x.sh","old_string":"echo","new_string":"echo"`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
		{`"x.sh","old_string":"echo"`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
		{`"crlf","old_string":"one\ntwo","new_string":"1\n2\n2b"`, `{"success":true`},
		{`"mixed","old_string":"two\n","new_string":"2\n"`, `{"success":true`},
		{`"latin","old_string":" a","new_string":" b"`, `{"success":true`},
		{`"bin","old_string":"a","new_string":"c"`, `{"success":false,"error":"execution_failed","reason":"binary"`},
		{`"none","old_string":"a","new_string":"c"`, `{"success":false,"error":"not_found"`},
		{`"src","old_string":"a","new_string":"c"`, `{"success":false,"error":"execution_failed","reason":"folder"`},
	} {
		k.want("edit_file", `{"file_path":`+row.args+`}`, row.want)
	}
	k.disk("x.sh", "#!/bin/sh\necho d\necho c\necho d\n")
	k.disk("crlf", "1\r\n2\r\n2b\r\nthree\r\n")
	k.disk("mixed", "one\r\n2\nthree\n")
	k.disk("latin", "caf\xe9 b\n")
	if info, err := os.Stat(filepath.Join(k.ws, "x.sh")); err != nil || info.Mode() != 0o755 {
		t.Errorf("mode: got %v %v", info.Mode(), err)
	}
	files(t, k.ws, map[string]string{"grow": strings.Repeat("a", 1<<20), "huge": strings.Repeat("a", MaxFile) + "bb"})
	k.want("edit_file", `{"file_path":"huge","old_string":"bb","new_string":"c"}`, `{"success":false,"error":"args_too_large","message":"'huge' has more than 10485760 bytes`)
	k.want("edit_file", `{"file_path":"grow","old_string":"a","new_string":"aaaaaaaaaaaaaaaaaaaa","replace_all":true}`, `{"success":false,"error":"args_too_large"`)
}

func TestGlob(t *testing.T) {
	k := newKit(t, nil)
	files(t, k.ws, map[string]string{"src/b/z.go": "", "src/a.go": "", "node_modules/m/x.go": "", "L": "-> src", "many/": "/"})
	for i := range MaxNames + 7 {
		files(t, k.ws, map[string]string{fmt.Sprintf("many/%03d.txt", i): ""})
	}
	for _, row := range []struct{ args, want string }{
		{`{"pattern":"**/*.go"}`, `{"success":true,"result":{"files":["src/a.go","src/b/z.go","src/main.go"]},"message":"Found 3 files"`},
		{`{"pattern":"*.go","path":"src"}`, `{"success":true,"result":{"files":["src/a.go","src/main.go"]}`},
		{`{"pattern":"b/*","path":"src"}`, `{"success":true,"result":{"files":["src/b/z.go"]}`},
		{`{"pattern":"$WS/src/*.go"}`, `{"success":true,"result":{"files":["src/a.go","src/main.go"]}`},
		{`{"pattern":"src/main.go"}`, `{"success":true,"result":{"files":["src/main.go"]}`},
		{`{"pattern":"L/*.go"}`, `{"success":true,"result":{"files":["src/a.go","src/main.go"]}`},
		{`{"pattern":"skills/demo/**/*.md"}`, `{"success":true,"result":{"files":["skills/demo/SKILL.md","skills/demo/references/a.md","skills/demo/scripts/README.md"]}`},
		{`{"pattern":"*.none"}`, `{"success":true,"result":{"files":[]},"message":"Found 0 files"`},
		{`{"pattern":"none/*"}`, `{"success":false,"error":"not_found"`},
		{`{"pattern":"[x"}`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
		{`{"pattern":""}`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
		{`{"pattern":"none{a}{b}{c}{d}{e}"}`, `{"success":true,"result":{"files":[]}`},
		{`{"pattern":"none` + commas + commas + commas + commas + `b"}`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
		{`{"pattern":"` + strings.Repeat("*", 300) + `"}`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
	} {
		k.want("glob", row.args, row.want)
	}
	r := k.call("glob", `{"pattern":"many/*"}`)
	if n := r.Result.(Names); len(n.Files) != MaxNames || n.LeftOut != 7 || n.Files[499] != "many/499.txt" || !strings.Contains(r.Message, "7 are left out") {
		t.Errorf("got %d, %d left out, %s", len(n.Files), n.LeftOut, r.Message)
	}
	k.denied("glob", `{"pattern":"../*"}`, "outside")
}

// commas is a group of 56 alternatives: four of them are ten million.
var commas = "{" + strings.Repeat(",", 55) + "}"

func TestGrep(t *testing.T) {
	k := newKit(t, nil)
	files(t, k.ws, map[string]string{"bin": "two\x00", "node_modules/m/x.txt": "two", "long": strings.Repeat("ä", 400) + "two\n", "src/t.txt": "TWO\r\nx\n", "big": strings.Repeat("b", MaxFile+1)})
	for _, row := range []struct{ args, want string }{
		{`{"pattern":"two"}`, `{"success":true,"result":{"text":"a.txt:2:two\nlong:1:` + strings.Repeat("ä", 150) + `…\n","lines":2,"files":2},` +
			`"message":"Found 2 lines in 2 files; 1 file not searched (scripts of skills); 1 file not searched (binary); 1 file not searched (too big)"`},
		{`{"pattern":"(?i)two$","glob":"*.txt"}`, `{"success":true,"result":{"text":"a.txt:2:two\nsrc/t.txt:1:TWO\n","lines":2,"files":2}`},
		{`{"pattern":"t","path":"a.txt"}`, `{"success":true,"result":{"text":"a.txt:2:two\na.txt:3:three\n","lines":2,"files":1}`},
		{`{"pattern":"(?i)two","glob":"src/*"}`, `{"success":true,"result":{"text":"src/t.txt:1:TWO\n","lines":1,"files":1}`},
		{`{"pattern":"demo","path":"skills/demo"}`, `{"success":true,"result":{"text":"skills/demo/SKILL.md:1:demo body\n","lines":1,"files":1}`},
		{`{"pattern":"nowhere"}`, `{"success":true,"result":{"text":"","lines":0,"files":0},"message":"Found 0 lines in 0 files`},
		{`{"pattern":"("}`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
		{`{"pattern":""}`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
		{`{"pattern":"x","glob":"[x"}`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
		{`{"pattern":"x","glob":"none` + commas + commas + commas + commas + `b"}`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
		{`{"pattern":"x","path":"none"}`, `{"success":false,"error":"not_found"`},
	} {
		k.want("grep", row.args, row.want)
	}
	files(t, k.ws, map[string]string{"many.txt": strings.Repeat("match\n", MaxMatches+1), "zmany.txt": "match\n"})
	r := k.call("grep", `{"pattern":"match"}`)
	if m := r.Result.(Matches); m.Lines != MaxMatches || m.Files != 1 || !strings.Contains(r.Message, "there is more") {
		t.Errorf("got %d lines, %s", m.Lines, r.Message)
	}
}

// dueContext is done after its Err has been asked for a number of times.
type dueContext struct {
	context.Context
	left int
}

func (c *dueContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// F7: a search ends with its context, also within one file and within one line.
func TestGrepIsCancelled(t *testing.T) {
	k := newKit(t, nil)
	files(t, k.ws, map[string]string{"lines.txt": strings.Repeat("x\n", 1000), "line.txt": strings.Repeat("x", 1<<20)})
	for _, name := range []string{"lines.txt", "line.txt"} {
		ctx := &dueContext{t.Context(), 100}
		if r := k.exec.Call(ctx, "grep", []byte(`{"pattern":"y","path":"`+name+`"}`)); r.Cause() != tool.CauseStopped {
			t.Errorf("%s: got %s", name, text(r))
		}
	}
	ctx := &dueContext{t.Context(), 100}
	if r := k.exec.Call(ctx, "read_file", []byte(`{"file_path":"line.txt"}`)); r.Cause() != tool.CauseStopped {
		t.Errorf("read_file: got %s", text(r))
	}
}

// F7: a pattern that repeats much searches less text, and one that repeats too much searches none.
func TestGrepBoundsItsWork(t *testing.T) {
	k := newKit(t, nil)
	files(t, k.ws, map[string]string{"wide.txt": strings.Repeat("x", 20_000) + "\n"})
	bad := `{"success":false,"error":"execution_failed","reason":"invalid_arguments","message":"pattern repeats too much: it has `
	k.want("grep", `{"pattern":"(x{0,30}){0,30}y(abcdefghij{1,500})"}`, bad)
	k.want("grep", `{"pattern":"((abc){1,30}){1,30}"}`, bad)
	k.want("grep", `{"pattern":"x$","path":"wide.txt"}`, `{"success":true,"result":{"text":"wide.txt:1:`)
	many := strings.Repeat("a", 1000) // as many steps as a pattern without repetitions has
	if _, size, err := compile(many); err != nil || size != 1000 {
		t.Errorf("got %d steps, %v", size, err)
	}
	s := &search{re: regexp.MustCompile("y"), size: maxSteps}
	if err := s.lines(t.Context(), bufio.NewReader(strings.NewReader(strings.Repeat("x\n", 2<<20))), "f"); err != nil || !s.full || s.work > maxWork+maxLineWork {
		t.Errorf("got work %d, full %v, %v", s.work, s.full, err)
	}
}

// What a turn breaks off ends as a result, and an ended one reads, writes and runs nothing: also without an executor.
func TestCancelled(t *testing.T) {
	k := newKit(t, allow)
	tools, err := Tools(k.o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := cancelled(t)
	cancel()
	args := map[string]string{"hello": `{"name":"Ada"}`, "glob": `{"pattern":"**"}`, "grep": `{"pattern":"x"}`, "read_file": `{"file_path":"a.txt","offset":3}`,
		"write_file": `{"file_path":"new.txt","content":"x"}`, "edit_file": `{"file_path":"a.txt","old_string":"two","new_string":"2"}`, "bash": `{"command":"echo x > made"}`}
	for _, one := range tools {
		r := one.Call(ctx, []byte(args[one.Name]))
		if r.Cause() != tool.CauseStopped || r.Message != "The turn was ended before this call: context canceled" {
			t.Errorf("%s: got %s", one.Name, text(r))
		}
		if r := k.exec.Call(ctx, one.Name, []byte(args[one.Name])); r.Cause() != tool.CauseStopped {
			t.Errorf("%s, through an executor: got %s", one.Name, text(r))
		}
	}
	k.disk("a.txt", "one\ntwo\nthree\n")
	for _, name := range []string{"new.txt", "made"} {
		if _, err := os.Lstat(filepath.Join(k.ws, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

// A turn that ends while the place of a file is looked up changes no file.
func TestCancelledWhileWriting(t *testing.T) {
	for _, row := range [][2]string{
		{"write_file", `{"file_path":"new.txt","content":"x"}`},
		{"write_file", `{"file_path":"a.txt","content":"x"}`},
		{"edit_file", `{"file_path":"a.txt","old_string":"two","new_string":"2"}`},
	} {
		ctx, cancel := cancelled(t)
		k := newKit(t, func(o *Options) { o.ReadOnly = func() []string { cancel(); return nil } })
		if r := k.exec.Call(ctx, row[0], []byte(row[1])); r.Cause() != tool.CauseStopped {
			t.Errorf("%s: got %s", row, text(r))
		}
		k.disk("a.txt", "one\ntwo\nthree\n")
		if _, err := os.Lstat(filepath.Join(k.ws, "new.txt")); err == nil {
			t.Errorf("%s: written", row)
		}
	}
}
