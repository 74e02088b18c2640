package survey

import (
	"errors"
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

func link(to string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink | 0o777}
}

// R125, C38, C50, C62: what can be run, and which of it is not read.
func TestRunnable(t *testing.T) {
	fsys := files(tree{
		"SKILL.md": "", "run.py": "", "references/a.py": "", "lib/x.sh": "#!/bin/sh\n", "LICENSE": "x", "assets/t.tsx": "", "assets/u.lua": "#!/usr/bin/lua\n", "assets/v.lua*": "#!/usr/bin/lua\n",
		"scripts/a.py": "", "scripts/lib/deep/B.PY": "", "scripts/.hidden.sh": "", "scripts/_ignored.py": "", "scripts/noexec.bash": "#!/bin/bash\n", "scripts/lib/run": "#!/bin/sh\n",
		"scripts/prog*": elf, "scripts/prog.exe*": "MZ", "scripts/noexec": elf, "scripts/lib.so*": elf, "scripts/notes.md": "x", "scripts/plain*": "no script", "scripts/my file.py": "",
		"bin/tool*": "#!/usr/bin/env fish\n", "bin/readme.txt": "", "tools/deep/a.ts": "", "tools/data.json": "{}", "examples/e.py": "", "src/main.mjs": "",
	})
	fsys["scripts/link.py"] = link("../references/a.py")
	fsys["scripts/pipe.py"] = &fstest.MapFile{Mode: fs.ModeNamedPipe | 0o644}
	s := Of(fsys, &manifest.Manifest{ScriptsIgnore: []string{"_*"}, Body: "Read assets/t.tsx and [e](./examples/e.py).\n\n```\nnode src/main.mjs --help\n```\n"}, nil)
	want := []string{"scripts/a.py", "scripts/lib/deep/B.PY", "scripts/lib/run", "scripts/noexec.bash", "scripts/prog", "scripts/prog.exe",
		"assets/t.tsx", "assets/v.lua", "bin/tool", "examples/e.py", "lib/x.sh", "references/a.py", "run.py", "src/main.mjs", "tools/deep/a.ts"}
	if got := paths(s.Runnable()); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	kept := append(want[:6:6], "bin/tool", "src/main.mjs", "tools/deep/a.ts")
	if got := paths(s.Kept()); !slices.Equal(got, kept) {
		t.Errorf("kept %q\nwant %q", got, kept)
	}
}

// C62: what makes a line of SKILL.md one that runs a file.
func TestCommandLines(t *testing.T) {
	for body, want := range map[string]bool{
		"python src/x.py": true, "  $ python3 -u src/x.py --a": true, "uv run --with a src/x.py": true, "cd ${X} && python3.12 {baseDir}/src/x.py": true, "`bash ~/.claude/skills/s/src/x.py`": true,
		"npx tsx src/x.py": true, "./src/x.py": true, "1. `./src/x.py --all`": true, "python \\\n  src/x.py": true, "KEY=1 node \"$D\"/src/x.py": true, `python src\x.py`: true, `.\src\x.py`: true,
		"see src/x.py": false, "See `src/x.py`.": false, "[x](./src/x.py)": false, "use bash or node; see src/x.py": false, "cp src/x.py .": false, "`./src/x.py` is a template": false,
		"Run `python a.py`, then read src/x.py": false, "python\nsrc/x.py": false, "```python\nsrc/x.py\n```": false,
	} {
		s := Of(files(tree{"src/x.py": ""}), &manifest.Manifest{Name: "s", Body: body}, nil)
		if got := len(s.Kept()) == 1; got != want || len(s.List()) != 1 {
			t.Errorf("%q: got %v, %q", body, got, s.List())
		}
	}
}

// What SKILL.md names comes first where a list is cut.
func TestForemost(t *testing.T) {
	s := Of(files(tree{"scripts/a.py": "", "scripts/b.py": "", "scripts/c/d.py*": "", "src/e.py": ""}), &manifest.Manifest{Body: "python src/e.py; scripts/b.py"}, nil)
	list := s.List()
	s.Foremost(list)
	if got := paths(list); !slices.Equal(got, []string{"scripts/b.py", "src/e.py", "scripts/a.py", "scripts/c/d.py"}) {
		t.Errorf("got %q", got)
	}
}

// A folder that is a link has no scripts: its files are judged where they lie.
func TestLinkedFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "other", "a.py"), nil, 0o644), os.Symlink("other", filepath.Join(dir, "scripts")), os.Symlink("other", filepath.Join(dir, "more"))); err != nil {
		t.Fatal(err)
	}
	for name, fsys := range map[string]fs.FS{"DirFS": os.DirFS(dir), "Root": root(t, dir)} {
		s := Of(fsys, &manifest.Manifest{}, nil)
		if got := paths(s.Runnable()); !slices.Equal(got, []string{"other/a.py"}) || len(s.Problems()) != 1 {
			t.Errorf("%s: got %q, %v", name, got, s.Problems())
		}
	}
}

func root(t *testing.T, dir string) fs.FS {
	r, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r.FS()
}

// C62: the number of files is bounded, and scripts/ is looked at first. The rest is reported.
func TestTooManyFiles(t *testing.T) {
	content := tree{"zzz.py": ""}
	for i := range MaxFiles {
		content[fmt.Sprintf("scripts/%05d.py", i)] = ""
		content[fmt.Sprintf("assets/%05d.png", i)] = "x"
	}
	s := Of(files(content), &manifest.Manifest{}, nil)
	if n := len(s.Runnable()); n != MaxFiles || len(s.List()) != MaxFiles {
		t.Errorf("got %d scripts", n)
	}
	if sc, _, ok := s.Find("scripts/09999.py"); !ok || sc.Name != "09999" {
		t.Errorf("got %v, %v", sc, ok)
	}
	if p := s.Problems(); len(p) != 1 || p[0].Code != "scripts-many" || p[0].File != "assets" {
		t.Errorf("got %v", p)
	}
	content["scripts/x.py"] = ""
	s = Of(files(content), &manifest.Manifest{}, nil)
	if p := s.Problems(); len(s.Runnable()) != MaxFiles || len(p) != 2 || p[0].File != "scripts" {
		t.Errorf("got %d, %v", len(s.Runnable()), p)
	}
}

// readFS counts the bytes that are read of files.
type readFS struct {
	fstest.MapFS
	read *int
}

type readFile struct {
	fs.File
	read *int
}

func (f readFS) Open(name string) (fs.File, error) {
	file, err := f.MapFS.Open(name)
	if _, isDir := file.(fs.ReadDirFile); err != nil || isDir {
		return file, err
	}
	return readFile{file, f.read}, nil
}

func (f readFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	*f.read += n
	return n, err
}

// C62: of large files only the beginning is read, of data nothing.
func TestReadsAreBounded(t *testing.T) {
	big := strings.Repeat("x = 1\n", 50<<20/6)
	n := 0
	s := Of(readFS{files(tree{"scripts/big.py": big, "assets/a.md": big, "assets/b.png": big, "scripts/x/schema.xsd": big}), &n}, &manifest.Manifest{}, nil)
	if s.List(); n != 0 {
		t.Errorf("%d bytes are read for a file with an extension", n)
	}
	s = Of(readFS{files(tree{"scripts/deep/big.py": big, "scripts/data": big, "data": big, "scripts/big.bin": big}), &n}, &manifest.Manifest{}, nil)
	if s.List(); n > maxEntry+3*headBytes {
		t.Errorf("%d bytes are read", n)
	}
}

// C68: of a large module that a script imports only the beginning is read, and what it imports is not known.
func TestImportsReadLittle(t *testing.T) {
	n := 0
	fsys := readFS{files(tree{"scripts/big.py": strings.Repeat("import yaml\n", 50<<20/12)}), &n}
	if modules, all := Outside(fsys, "scripts/a.py", []byte("import big, dep")); !slices.Equal(modules, []string{"dep"}) || all || n > MaxText+1 {
		t.Errorf("got %q and %t, %d bytes are read", modules, all, n)
	}
}

// listFS counts the folders that are listed.
type listFS struct {
	fstest.MapFS
	lists *int
}

func (f listFS) ReadDir(name string) ([]fs.DirEntry, error) {
	*f.lists++
	return f.MapFS.ReadDir(name)
}

// C62: folders so deep that nothing in them could be called are not entered.
func TestDepthIsBounded(t *testing.T) {
	n := 0
	deep := strings.Repeat("d/", 400) + "x.py"
	s := Of(listFS{files(tree{deep: "", "scripts/" + deep: ""}), &n}, &manifest.Manifest{}, nil)
	if len(s.Runnable()) != 0 || n > 2*maxPath/2+1 {
		t.Errorf("%d folders are listed for %v", n, s.Runnable())
	}
}

// C62: many files deep in scripts/ are not all read.
func TestLooksAreBounded(t *testing.T) {
	content := tree{}
	for i := range 3 * maxLooks {
		content[fmt.Sprintf("scripts/deep/%05d.py", i)] = "if __name__ == '__main__': main()\n"
	}
	n := 0
	s := Of(readFS{files(content), &n}, &manifest.Manifest{}, nil)
	if a, b := len(s.List()), len(s.List()); a != maxLooks || b != a || n > maxLooks*40 {
		t.Errorf("%d and %d are listed, %d bytes are read", a, b, n)
	}
}

// R31: the names that a manifest lists are found without going through all files for each.
func BenchmarkDeclared(b *testing.B) {
	content := tree{}
	m := &manifest.Manifest{ScriptsDeclared: true}
	for i := range 2000 {
		content[fmt.Sprintf("scripts/f%d.py", i)] = ""
		m.Scripts = append(m.Scripts, fmt.Sprintf("f%d", i), fmt.Sprintf("n%d", i))
	}
	fsys := files(content)
	for b.Loop() {
		if n := len(Of(fsys, m, nil).List()); n != 2000 {
			b.Fatal(n)
		}
	}
}
