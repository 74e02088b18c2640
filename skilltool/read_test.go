package skilltool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// R90, security 2.4 #50: a file comes back with its skill, path and hash.
func TestReadResource(t *testing.T) {
	k, _ := kit(t, kitOptions{})
	r := call(t, k, "skill_read", `{"skill_name":"kalshi_markets","path":"references/prices.md"}`)
	got, ok := r.Result.(resource)
	if !ok || !r.Success {
		t.Fatalf("read: %s", r.Encode())
	}
	want := resource{SkillName: "kalshi-markets", Path: "references/prices.md", Size: 21, ContentType: "text/markdown",
		Content: "Prices are in cents.\n", SHA256: "0ebccd6c38d48dafadabd670d31102d9ca3b62da1529dfd957d5634aed6380b5"}
	if got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	list := call(t, k, "skill_read", `{"skill_name":"quiet"}`)
	if !list.Success || !strings.Contains(result(list), `"path":"SKILL.md"`) || list.Message != "Skill 'quiet' has 1 file" {
		t.Errorf("list: %s", list.Encode())
	}
	bin := call(t, k, "skill_read", `{"skill_name":"kalshi-markets","path":"assets/logo.bin"}`) // #48
	if !bin.Success || bin.Message != "'assets/logo.bin' is binary, 3 bytes" || strings.Contains(result(bin), "content\"") {
		t.Errorf("binary: %s", bin.Encode())
	}
}

// C73: the path of a file as activation wrote it for {baseDir}. What follows the folder is judged as any other path.
func TestReadBelowFolder(t *testing.T) {
	k, root := kit(t, kitOptions{})
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "kalshi-markets") + "/"
	read := func(p string) tool.Result {
		return call(t, k, "skill_read", `{"skill_name":"kalshi-markets","path":`+quote(p)+`}`)
	}
	if r := read(dir + "references/prices.md"); !r.Success || r.Result.(resource).Path != "references/prices.md" {
		t.Errorf("got %s", r.Encode())
	}
	for _, p := range []string{dir, dir + "../bound/SKILL.md", dir + "/references/prices.md", dir + dir + "references/prices.md", dir + "scripts/status.py", root + "/bound/SKILL.md"} {
		if r := read(p); r.Success {
			t.Errorf("%q: %s", p, r.Encode())
		}
	}
}

// R47, R48, security 2.4 #45: a path has one spelling, and it stays inside.
func TestReadRefusesDisguises(t *testing.T) {
	k, root := kit(t, kitOptions{})
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "kalshi-markets", "references")
	if err := os.Symlink(outside, filepath.Join(dir, "out.md")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{
		"../../../etc/passwd", "/etc/passwd", "references/out.md", "references/../../bound/SKILL.md", "%2e%2e/bound/SKILL.md",
		`..\bound\SKILL.md`, "references//prices.md", "references/", "references", "a\x00b", "C:/x",
		"./", "././SKILL.md", ".//SKILL.md", "./../bound/SKILL.md", "./references/../SKILL.md", "references/./prices.md", `.\SKILL.md`, ".", "./.", "./C:/x",
	} {
		r := call(t, k, "skill_read", `{"skill_name":"kalshi-markets","path":`+quote(p)+`}`)
		if r.Success || strings.Contains(result(r), "secret") {
			t.Errorf("%q: %s", p, r.Encode())
		}
	}
	miss := call(t, k, "skill_read", `{"skill_name":"kalshi-markets","path":"references/price.md"}`)
	if miss.Error != tool.NotFound || !strings.Contains(miss.Message, "Did you mean 'references/prices.md'?") {
		t.Errorf("near miss: %s", miss.Encode())
	}
	for _, args := range []string{`{}`, `{"skill_name":"nope"}`, `{"skill_name":"quiet","path":"SKILL.md","offset":9999}`} {
		if r := call(t, k, "skill_read", args); r.Success {
			t.Errorf("%s: %s", args, r.Encode())
		}
	}
}

// Public manifests write ./references/x.md: it is read, and told and traced as the path that it is (security 2.4 #45).
func TestReadLeadingDot(t *testing.T) {
	var traced []string
	k, _ := kit(t, kitOptions{change: func(o *Options) {
		o.Trace = trace.TracerFunc(func(_ context.Context, e trace.Event) { traced = append(traced, e.Message) })
	}})
	r := call(t, k, "skill_read", `{"skill_name":"kalshi-markets","path":"./references/prices.md"}`)
	if got, ok := r.Result.(resource); !ok || got.Path != "references/prices.md" || got.Content == "" || strings.Contains(r.Message, "./") {
		t.Errorf("got %s", r.Encode())
	}
	if want := "Read references/prices.md"; !slices.Contains(traced, want) {
		t.Errorf("traced %q, want %q", traced, want)
	}
	miss := call(t, k, "skill_read", `{"skill_name":"kalshi-markets","path":"./references/price.md"}`)
	if want := "File 'references/price.md' not found in skill 'kalshi-markets'. Did you mean 'references/prices.md'?"; miss.Message != want {
		t.Errorf("got %q, want %q", miss.Message, want)
	}
}

// C50, R112, R125, security 2.4 #46: no script's text reaches a model, whatever the path is called.
func TestScriptsAreNotRead(t *testing.T) {
	files := tree{
		"x/SKILL.md":                skillText("x", "", "Body"),
		"x/scripts/status.py":       "SECRET = 1\n",
		"x/scripts/sub/Inner.PY":    "SECRET = 1\n",
		"x/bin/tool.sh":             "# SECRET\n",
		"x/tools/deep/er/a.ts":      "// SECRET\n",
		"x/scripts/notes.md":        "Not a script.\n",
		"x/references/example.py":   "# an example\n",
		"x/assets/keep":             "",
		"x/references/guide.md":     "Guide\n",
		"x/scripts/__init__/empty.": "",
	}
	k, root := kit(t, kitOptions{files: files})
	dir := filepath.Join(root, "x")
	if err := os.Link(filepath.Join(dir, "scripts/status.py"), filepath.Join(dir, "references/innocent.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../scripts/status.py", filepath.Join(dir, "references/link.md")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{
		"scripts/status.py", "scripts/sub/Inner.PY", "bin/tool.sh", "tools/deep/er/a.ts", "references/innocent.md",
		"references/link.md", "./scripts/status.py", "references/../scripts/status.py", "SCRIPTS/status.py", "scripts/STATUS.PY", "scripts//status.py",
	} {
		r := call(t, k, "skill_read", `{"skill_name":"x","path":`+quote(p)+`}`)
		if r.Success || strings.Contains(string(r.Encode()), "SECRET") {
			t.Errorf("%q: %s", p, r.Encode())
		}
	}
	r := call(t, k, "skill_read", `{"skill_name":"x","path":"scripts/status.py"}`)
	for _, want := range []string{"must be EXECUTED via Bash tool", "script_run", "scripts/status.py"} {
		if r.Error != tool.PermissionDenied || r.Reason != "script_read" || !strings.Contains(r.Message, want) {
			t.Errorf("got %s, want %q", r.Encode(), want)
		}
	}
	for _, p := range []string{"scripts/notes.md", "references/example.py", "references/guide.md"} {
		if r := call(t, k, "skill_read", `{"skill_name":"x","path":`+quote(p)+`}`); !r.Success {
			t.Errorf("%q is not a script: %s", p, r.Encode())
		}
	}
	open, _ := kit(t, kitOptions{files: files, change: func(o *Options) { o.Show.ReadScripts = true }}) // harness profile
	if r := call(t, open, "skill_read", `{"skill_name":"x","path":"scripts/status.py"}`); !r.Success {
		t.Errorf("script_read allow: %s", r.Encode())
	}
}

// A long text comes in pages that join to the whole, cut between characters.
func TestReadPages(t *testing.T) {
	text := strings.Repeat("äöü€\n", 3*filePage/10)
	k, _ := kit(t, kitOptions{files: tree{"x/SKILL.md": skillText("x", "", "Body"), "x/references/long.md": text}})
	var all strings.Builder
	for offset := 0; ; {
		r := call(t, k, "skill_read", `{"skill_name":"x","path":"references/long.md","offset":`+itoa(offset)+`}`)
		page, ok := r.Result.(resource)
		if !ok || len(page.Content) > filePage {
			t.Fatalf("page at %d: %.200s", offset, r.Encode())
		}
		all.WriteString(page.Content)
		if page.NextOffset == 0 {
			break
		}
		offset = page.NextOffset
	}
	if all.String() != text {
		t.Errorf("the pages have %d bytes, want %d", all.Len(), len(text))
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func itoa(n int) string { return strconv.Itoa(n) }
