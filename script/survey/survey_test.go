package survey

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill/manifest"
)

// R125, C38, C50: what can be run below the three folders, and nothing else.
func TestRunnable(t *testing.T) {
	fsys := files(tree{
		"SKILL.md": "", "run.py": "", "references/a.py": "", "lib/x.sh": "#!/bin/sh\n",
		"scripts/a.py": "", "scripts/lib/deep/B.PY": "", "scripts/.hidden.sh": "", "scripts/_ignored.py": "", "scripts/noexec.bash": "#!/bin/bash\n", "scripts/lib/run": "#!/bin/sh\n",
		"scripts/prog*": elf, "scripts/prog.exe*": "MZ", "scripts/noexec": elf, "scripts/lib.so*": elf, "scripts/notes.md": "x", "scripts/plain*": "no script",
		"bin/tool*": "#!/usr/bin/env fish\n", "bin/readme.txt": "", "tools/deep/a.ts": "", "tools/data.json": "{}",
	})
	fsys["scripts/link.py"] = &fstest.MapFile{Data: []byte("../references/a.py"), Mode: fs.ModeSymlink | 0o777}
	fsys["scripts/pipe.py"] = &fstest.MapFile{Mode: fs.ModeNamedPipe | 0o644}
	want := []string{"scripts/.hidden.sh", "scripts/_ignored.py", "scripts/a.py", "scripts/lib/deep/B.PY", "scripts/lib/run", "scripts/noexec.bash",
		"scripts/prog", "scripts/prog.exe", "bin/tool", "tools/deep/a.ts"}
	if got, err := Runnable(fsys); err != nil || !slices.Equal(got, want) {
		t.Errorf("got  %q, %v\nwant %q", got, err, want)
	}
}

// What is listed can be run: there is one rule.
func TestListedIsRunnable(t *testing.T) {
	content := tree{}
	for i, name := range []string{"a.py", "b", "c.bash", "d.exe", "e.txt", "F.PL", "g.lua", "h.tsx", ".i.py", "j k.py"} {
		for k, text := range []string{"", "#!/bin/sh\n", elf, "MZ", "text"} {
			content[fmt.Sprintf("scripts/%d%d%s", i, k, name)] = text
			content[fmt.Sprintf("scripts/x%d%d%s*", i, k, name)] = text
		}
	}
	fsys := files(content)
	scripts, _ := List(fsys, &manifest.Manifest{})
	runs, err := Runnable(fsys)
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, sc := range scripts {
		if !slices.Contains(runs, sc.File) {
			t.Errorf("%s is listed and not runnable", sc.File)
		}
	}
}

// A folder that is a link has no scripts: its files are judged where they lie.
func TestLinkedFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "other", "a.py"), nil, 0o644), os.Symlink("other", filepath.Join(dir, "scripts"))); err != nil {
		t.Fatal(err)
	}
	for name, fsys := range map[string]fs.FS{"DirFS": os.DirFS(dir), "Root": root(t, dir)} {
		if got, err := Runnable(fsys); err != nil || got != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
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

// A folder with too many files is refused: its scripts are not known.
func TestTooManyFiles(t *testing.T) {
	content := tree{}
	for i := range MaxFiles {
		content[fmt.Sprintf("tools/%d.txt", i)] = "x"
	}
	if got, err := Runnable(files(content)); got != nil || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	content["tools/more.txt"] = "x"
	if got, err := Runnable(files(content)); got != nil || !errors.Is(err, ErrTooMany) {
		t.Errorf("got %q, %v, want %v", got, err, ErrTooMany)
	}
}
