package check

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill/manifest"
)

// folder makes a file system of names and texts.
func folder(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func validated(t *testing.T, fsys fs.FS, dir string) []string {
	t.Helper()
	m, problems := Folder(fsys, dir, &Options{Path: "skills/" + dir})
	if m == nil {
		t.Fatal("no manifest")
	}
	var out []string
	for _, p := range problems {
		out = append(out, fmt.Sprintf("%s:%d:%d %s", p.File, p.Line, p.Col, p.Code))
	}
	return out
}

func TestValidateFiles(t *testing.T) {
	const skill = "---\nname: x\ndescription: y\n---\n"
	for _, row := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"honest", map[string]string{"SKILL.md": skill, "scripts/a.py": ""}, nil},
		{"no manifest", map[string]string{"README.md": ""}, []string{"skills/x/SKILL.md:0:0 file-missing"}},
		{"lower case", map[string]string{"skill.md": skill}, []string{"skills/x/skill.md:0:0 file-name"}},
		{"another case", map[string]string{"Skill.md": skill}, []string{"skills/x/SKILL.md:0:0 file-missing"}},
		{"a problem of the manifest first", map[string]string{"SKILL.md": "---\nname: X\ndescription: y\n---\n", "a:b": ""},
			[]string{"skills/x/SKILL.md:2:7 name-case", "skills/x/a:b:0:0 file-path"}},
		{"two names of one file", map[string]string{"SKILL.md": skill, "a/Foo.md": "", "a/foo.md": ""}, []string{"skills/x/a/foo.md:0:0 file-clash"}},
		{"long s", map[string]string{"SKILL.md": skill, "s": "", "\u017f": ""}, []string{"skills/x/\u017f:0:0 file-clash"}},
		{"composed and not", map[string]string{"SKILL.md": skill, "caf\u00e9": "", "cafe\u0301": ""}, []string{"skills/x/caf\u00e9:0:0 file-clash"}},
		{"devices", map[string]string{"SKILL.md": skill, "nul.txt": "", "sub/AUX": "", "auxiliary": ""}, []string{"skills/x/nul.txt:0:0 file-path", "skills/x/sub/AUX:0:0 file-path"}},
		{"odd endings", map[string]string{"SKILL.md": skill, "a.": "", "b ": ""}, []string{"skills/x/a.:0:0 file-path", "skills/x/b :0:0 file-path"}},
		{"256 bytes", map[string]string{"SKILL.md": skill, strings.Repeat("a", 256): ""}, []string{"skills/x/" + strings.Repeat("a", 256) + ":0:0 file-path"}},
		{"scripts without a folder", map[string]string{"SKILL.md": "---\nname: x\ndescription: y\nscripts: [a]\n---\n"}, []string{"skills/x/SKILL.md:0:0 scripts-missing"}},
		{"scripts", map[string]string{"SKILL.md": "---\nname: x\ndescription: y\nscripts: [A, b.py, scripts/c.py, d]\n---\n", "scripts/a.py": "", "scripts/b.py": "", "scripts/c.py": ""},
			[]string{"skills/x/SKILL.md:0:0 script-missing"}},
	} {
		t.Run(row.name, func(t *testing.T) { // R1, R31, security 2.2 #24, #25, #29
			if got := validated(t, folder(row.files), "x"); !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q", got, row.want)
			}
		})
	}
}

func TestValidateReferences(t *testing.T) {
	body := strings.Join([]string{
		"[there](references/a.md) and [with anchor](./references/a.md#x) and [gone](references/b.md)",
		"[web](https://example.com/x) [mail](mailto:a@b) [top](#x) [root](/docs) [blank](references/a%20b.md)",
		"`scripts/gone.py` and `scripts/<name>.py` and `assets/*.png` and `python x.py`",
		"[out](../other/notes.md) and again [gone](references/b.md)",
		"```", "[not looked at](references/c.md)", "```", "~~~~", "```", "`scripts/no.py`", "~~~~", "`scripts/last.py`",
	}, "\n")
	fsys := folder(map[string]string{"SKILL.md": "---\nname: x\ndescription: y\n---\n\n\n" + body, "references/a.md": "", "references/a b.md": ""})
	want := []string{
		"skills/x/SKILL.md:7:76 reference-missing", "skills/x/SKILL.md:9:2 reference-missing",
		"skills/x/SKILL.md:10:7 reference-outside", "skills/x/SKILL.md:18:2 reference-missing",
	}
	if got := validated(t, fsys, "x"); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestValidateBody(t *testing.T) { // C42
	long := "---\nname: x\ndescription: y\n---\n" + strings.Repeat("a line of text\n", 501)
	if got, want := validated(t, folder(map[string]string{"SKILL.md": long}), "x"), []string{"skills/x/SKILL.md:5:1 body-length"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	wide := "---\nname: x\ndescription: y\n---\n" + strings.Repeat("word ", 4100)
	if got, want := validated(t, folder(map[string]string{"SKILL.md": wide}), "x"), []string{"skills/x/SKILL.md:5:1 body-tokens"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	_, problems := Folder(folder(map[string]string{"SKILL.md": long}), "x", &Options{Profile: &manifest.Profile{Name: "omniforge"}})
	if len(problems) != 1 || !problems[0].Fatal {
		t.Errorf("omniforge says %v", problems)
	}
}

// Reading does not wait for a file that is not regular. A link to a script and a file that is too large are reported.
func TestValidateSpecial(t *testing.T) { // R50
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: x\ndescription: y\n---\n"), 0o600))
	must(os.Mkdir(filepath.Join(dir, "scripts"), 0o700))
	must(os.Symlink("../SKILL.md", filepath.Join(dir, "scripts", "a.py")))
	must(os.Symlink("../../out.py", filepath.Join(dir, "scripts", "b.py")))
	must(os.WriteFile(filepath.Join(dir, "big"), nil, 0o600))
	must(os.Truncate(filepath.Join(dir, "big"), maxFile+1))
	root, err := os.OpenRoot(dir)
	must(err)
	defer root.Close()
	want := []string{"skills/x/big:0:0 file-large", "skills/x/scripts/a.py:0:0 script-symlink", "skills/x/scripts/b.py:0:0 file-link"}
	if got := validated(t, root.FS(), "x"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	must(os.Remove(filepath.Join(dir, "SKILL.md")))
	must(os.Mkdir(filepath.Join(dir, "SKILL.md"), 0o700))
	if got := validated(t, root.FS(), "x"); !slices.Equal(got, []string{"skills/x/SKILL.md:0:0 file-unreadable"}) {
		t.Errorf("a folder called SKILL.md: %q", got)
	}
	must(os.Remove(filepath.Join(dir, "SKILL.md")))
	must(os.WriteFile(filepath.Join(dir, "SKILL.md"), nil, 0o600))
	must(os.Truncate(filepath.Join(dir, "SKILL.md"), 1<<30))
	if got := validated(t, root.FS(), "x"); !slices.Contains(got, "skills/x/SKILL.md:1:1 file-size") { // security 2.1 #2
		t.Errorf("a file of 1 GiB: %q", got)
	}
}

// A pipe is not opened: reading it could wait forever.
func TestValidatePipe(t *testing.T) {
	fsys := fstest.MapFS{"SKILL.md": {Data: []byte("---\nname: x\ndescription: y\n---\n"), Mode: fs.ModeNamedPipe}}
	if got := validated(t, fsys, "x"); !slices.Equal(got, []string{"skills/x/SKILL.md:0:0 file-unreadable"}) {
		t.Errorf("got %q", got)
	}
}

func TestValidateMany(t *testing.T) {
	files := map[string]string{"SKILL.md": "---\nname: x\ndescription: y\n---\n"}
	for i := range maxChecked {
		files[fmt.Sprintf("f%d", i)] = ""
	}
	if got := validated(t, folder(files), "x"); !slices.Equal(got, []string{"skills/x:0:0 scripts-many", "skills/x/SKILL.md:0:0 files-many"}) {
		t.Errorf("got %q", got)
	}
}

func TestFolderUnknownProfile(t *testing.T) {
	files := folder(map[string]string{"SKILL.md": "---\nname: a\ndescription: x\n---\n"})
	_, problems := Folder(files, "a", &Options{Profile: &manifest.Profile{Name: "harnes"}})
	if got := errorCodes(problems); !slices.Equal(got, []string{"profile-unknown"}) {
		t.Errorf("got %v", got)
	}
}

// The name of the folder may be the end of a path, or unknown.
func TestFolderName(t *testing.T) {
	skill := fstest.MapFS{"SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Fills forms.\n---\nBody.\n")}}
	for dir, want := range map[string]int{"pdf": 0, "team/pdf": 0, "/srv/pdf/": 0, "": 0, ".": 0, "..": 0, "/": 0, "doc": 1, "pdf/doc": 1} {
		if _, problems := Folder(skill, dir, nil); len(problems) != want {
			t.Errorf("%q: %v, want %d problems", dir, problems, want)
		}
	}
}
