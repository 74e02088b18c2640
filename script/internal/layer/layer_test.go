package layer

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/probe"
)

// What a script may bring to the next run is data. security 2.3 #44: nothing that an interpreter runs, nothing that decides what it runs,
// and nothing in the place of what was approved.
func TestComesBack(t *testing.T) {
	there := taken([]string{"SKILL.md", "scripts/run.py", "scripts/lib/index.js", "data/Shipped.json", "plain"})
	for name, want := range map[string]bool{
		"scripts/count.json": true, "data/out/a.CSV": true, ".growth-data/posts.jsonl": true, "state.db": true, "scripts/config.json": true, "report.md": true,
		"scripts/run.py": false, "scripts/json.py": false, "scripts/run.pyc": false, "scripts/x.so": false, "scripts/x.pkl": false, "scripts/x": false,
		"scripts/x.sh": false, "scripts/x.js": false, "scripts/x.zip": false, "scripts/sitecustomize.pth": false, "scripts/x.json.py": false,
		"data/shipped.json": false, "DATA/SHIPPED.JSON": false, "skill.md": false, // approved
		"scripts/lib.json": false, "scripts/lib/lib.json": true, "plain/a.json": false, // require("./lib") finds lib.json before lib/index.js
		"package.json": false, "scripts/Package.json": false, "package-lock.json": false, "tsconfig.json": false, "tsconfig.base.json": false, "deno.json": false,
		"jest.config.json": false, ".babelrc.json": false, "requirements.txt": false, "requirements-dev.txt": false, "CMakeLists.txt": false, "import_map.json": false,
		"node_modules/x/data.json": false, "scripts/node_modules/x.json": false, ".git/x.txt": false, ".env": false, "scripts/.json": true,
	} {
		if got := there.comesBack(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// started returns a run of a skill with these files, whose scripts keep what they write in kept.
func started(t *testing.T, kept string, files map[string]string) *Run {
	t.Helper()
	top := t.TempDir()
	s := probe.In(t, top, files)
	return &Run{Skill: s, File: "scripts/a.py", Dir: filepath.Join(top, "probe"), Root: t.TempDir(), Kept: kept, Cwd: "/"}
}

// all returns the files below a folder, with their texts.
func all(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			b, _ := os.ReadFile(filepath.Join(dir, name))
			out = append(out, name+"="+string(b))
		}
		return nil
	})
	return strings.Join(out, " ")
}

// C65: what a run wrote is kept by the content of the skill; the next one gets the data of it, and no code.
func TestKeep(t *testing.T) {
	kept := t.TempDir()
	files := map[string]string{"scripts/a.py": "", "data.csv": "old"}
	r := started(t, kept, files)
	if got := KeptBy(t.Context(), filepath.Join(kept, "none"), r.Skill, false); got != "" {
		t.Errorf("nothing of the skill is kept, and it is in %q", got)
	}
	l := Make(t.Context(), r, true)
	if l == nil || l.Whole || all(t, l.Upper) != "" {
		t.Fatalf("got %+v", l)
	}
	probe.Tree{"state/n.json": "1", "scripts/b.py": "evil", "data.csv": "new", "node_modules/x.json": "x"}.Write(t, l.Upper)
	if err := os.Symlink("/etc/passwd", filepath.Join(l.Upper, "link.json")); err != nil {
		t.Fatal(err)
	}
	at := KeptBy(t.Context(), kept, r.Skill, true)
	if got := l.Keep(t.Context()); got != `it wrote 3 files in its skill's folder, such as "data.csv": they are kept in `+at {
		t.Errorf("got %q", got)
	}
	if got := all(t, at); got != "data.csv=new scripts/b.py=evil state/n.json=1" {
		t.Errorf("kept are %s", got)
	}
	l = Make(t.Context(), started(t, kept, files), true)
	if got := all(t, l.Upper); got != "state/n.json=1" {
		t.Errorf("what comes back: %s", got)
	}
	if got := l.Keep(t.Context()); got != "" {
		t.Errorf("nothing was written: %q", got)
	}
	if err := os.Remove(filepath.Join(l.Upper, "state", "n.json")); err != nil {
		t.Fatal(err)
	}
	l.Keep(t.Context())
	if got := all(t, at); got != "data.csv=new scripts/b.py=evil" {
		t.Errorf("a file that the script removed stays: %s", got)
	}
	probe.Tree{"data.csv/x.json": "in the place of a file", "fine.json": "2"}.Write(t, l.Upper)
	if got := l.Keep(t.Context()); !strings.Contains(got, `it wrote "fine.json"`) || !strings.Contains(got, "; 1 file that it wrote in its skill's folder is lost: ") {
		t.Errorf("got %q", got)
	}
	probe.Tree{"folder.json/x": "a folder in the place of a file"}.Write(t, at)
	probe.Tree{"folder.json": "likewise"}.Write(t, l.Upper)
	if got := l.Keep(t.Context()); !strings.HasPrefix(got, "2 files that it wrote in its skill's folder are lost: ") {
		t.Errorf("got %q", got)
	}
	if other := KeptBy(t.Context(), kept, started(t, kept, map[string]string{"scripts/a.py": "#"}).Skill, true); other == at {
		t.Error("another content has the same folder")
	}
}

// A content that needs it, or a script that seems to, works in a copy of the whole folder, with what is beside it.
func TestWhole(t *testing.T) {
	kept := t.TempDir()
	r := started(t, kept, map[string]string{"scripts/a.py": "", "data.csv": "old"})
	at := KeptBy(t.Context(), kept, r.Skill, true)
	if err := NoteCopy(at); err != nil {
		t.Fatal(err)
	}
	r.Packages = t.TempDir()
	probe.Tree{"node_modules/dep/index.js": ""}.Write(t, r.Packages)
	probe.Tree{"other/x": "beside", ".git/x": ""}.Write(t, filepath.Dir(r.Dir))
	l := Make(t.Context(), r, true)
	if l == nil || !l.Whole || !strings.Contains(all(t, l.Upper), "data.csv=old scripts/a.py=") {
		t.Fatalf("got %+v", l)
	}
	l.LinkNeighbours(filepath.Dir(r.Dir))
	for name, there := range map[string]bool{"../other/x": true, "../.git/x": false, "../../node_modules/dep/index.js": true} {
		if _, err := os.Stat(l.Upper + "/" + name); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	probe.Tree{"data.csv": "changed"}.Write(t, l.Upper)
	if err := os.Remove(filepath.Join(l.Upper, "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	if got := l.Keep(t.Context()); got != `it wrote "data.csv" in its skill's folder: it is kept in `+at {
		t.Errorf("got %q", got)
	}
	if got := all(t, r.Dir); !strings.Contains(got, "data.csv=old") {
		t.Errorf("the skill has %s", got)
	}
}

// Without a copy that is whole there is none.
func TestNotCopied(t *testing.T) {
	for name, spoil := range map[string]func(*Run){
		"no folder for it": func(r *Run) { r.Root = filepath.Join(r.Dir, "SKILL.md") },
		"a file is gone":   func(r *Run) { _ = os.Remove(filepath.Join(r.Dir, "data.csv")) },
	} {
		kept := t.TempDir()
		r := started(t, kept, map[string]string{"scripts/a.py": "", "data.csv": "old"})
		if err := NoteCopy(KeptBy(t.Context(), kept, r.Skill, true)); err != nil {
			t.Fatal(err)
		}
		spoil(r)
		if l := Make(t.Context(), r, true); l != nil {
			t.Errorf("%s: got %+v", name, l)
		}
	}
}

func TestSeemsToWrite(t *testing.T) {
	const writes = "open(os.path.join(os.path.dirname(__file__), 'x'), 'w')"
	for _, tt := range []struct {
		name   string
		files  map[string]string
		change func(*Run)
		want   bool
	}{
		{"beside itself", map[string]string{"scripts/a.py": writes}, func(*Run) {}, true},
		{"another file of it does", map[string]string{"scripts/a.py": "import b", "scripts/b.py": writes}, func(*Run) {}, true},
		{"where it starts", map[string]string{"scripts/a.py": "open('x', 'w')"}, func(r *Run) { r.Cwd = r.Dir }, true},
		{"elsewhere", map[string]string{"scripts/a.py": "open('x', 'w')"}, func(*Run) {}, false},
		{"it only reads", map[string]string{"scripts/a.py": "open(__file__)"}, func(*Run) {}, false},
		{"a hook", map[string]string{"scripts/a.py": writes}, func(r *Run) { r.Hook = true }, false},
		{"no sandbox", map[string]string{"scripts/a.py": writes}, func(r *Run) { r.Bare = true }, false},
		{"it is gone", map[string]string{"scripts/a.py": writes}, func(r *Run) { r.Dir += "x" }, false},
		{"too large", map[string]string{"scripts/a.py": writes + strings.Repeat("#", mostTextRead)}, func(*Run) {}, false},
	} {
		r := started(t, t.TempDir(), tt.files)
		tt.change(r)
		if l := Make(t.Context(), r, false); (l != nil) != tt.want || l != nil && !l.Whole {
			t.Errorf("%s: got %+v", tt.name, l)
		}
	}
}
