package content_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/filename"
)

// tree returns files with these paths.
func tree(names ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for _, name := range names {
		out[name] = &fstest.MapFile{Data: []byte("x")}
	}
	return out
}

// C77: what belongs to a skill.
func TestLeftover(t *testing.T) {
	files := tree("SKILL.md", "a.py", "scripts/b.py", "web/package-lock.json", "venv/pyvenv.cfg", "x/env/pyvenv.cfg", "data/env/notes.md")
	for name, want := range map[string]string{
		"SKILL.md": "", "scripts": "", "a.py": "", ".github": "", ".gitignore": "", ".gitattributes": "", ".claude-plugin": "", ".hidden": "", ".env": "",
		"__pycache__": "byte code", "scripts/__pycache__": "byte code", "a.pyc": "byte code", "scripts/b.pyo": "byte code",
		"lone.pyc": "", "scripts/a.pyc": "", "Foo.pmc": "", "x.rbc": "", "A.class": "", "mod.luac": "", "x.elc": "", ".RData": "", // interpreters load these: they are hashed
		".pytest_cache": "a cache", "x/.mypy_cache": "a cache", ".cache": "a cache", "cache": "",
		".git": "of version control", "x/.git": "of version control", ".GIT": "of version control", ".hg": "of version control", ".svn": "of version control", "git": "",
		".idea": "of an editor", ".vscode": "of an editor", "a.py~": "of an editor", ".a.py.swp": "of an editor", ".#a": "of an editor", "#a#": "of an editor",
		"a.swp": "", "~": "", "#": "", "##": "", ".swp": "", "#a": "",
		".DS_Store": "of the system", "x/Thumbs.db": "of the system", "._a.py": "of the system", "._": "",
		".venv": "a virtual environment", "venv": "a virtual environment", "x/env": "a virtual environment", "data/env": "", "env": "", "scripts/venv": "",
		"node_modules": "", "web/node_modules": "installed packages, which its lock names",
	} {
		if got := content.Leftover(files, name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]bool{"a/.git/config": true, "web/node_modules/x/i.js": true, "x/env/bin/python": true, "scripts/b.py": false, ".": false} {
		if got := content.Within(files, name) != ""; got != want {
			t.Errorf("%s is within a leftover: %v, want %v", name, got, want)
		}
	}
}

// A list of files is judged as the folder is that has them.
func TestOwn(t *testing.T) {
	files := tree("SKILL.md", "a.py", "a.pyc", "lone.pyc", "venv/pyvenv.cfg", "venv/bin/python", "yarn.lock", "node_modules/x/i.js", "lib/node_modules/x", "x/.git/y")
	var names []string
	for name := range files {
		names = append(names, name)
	}
	own := content.Own(names)
	for _, name := range names {
		if own[name] != (content.Within(files, name) == "") {
			t.Errorf("%s: in a list %v", name, own[name])
		}
	}
	if len(own) != 5 {
		t.Errorf("got %v", own)
	}
}

func TestSecret(t *testing.T) {
	for name, want := range map[string]bool{
		".env": true, "x/.env": true, ".ENV": true, ".env.local": true, ".env.example": false, ".env.sample": false, "env": false, "x.env": false,
		".ssh/id": true, ".aws/credentials": true, "a/.netrc": true, "id_rsa": true, "keys.md": false, ".github/x": false, ".environment": false,
	} {
		if got := content.Secret(name); got != want {
			t.Errorf("Secret(%q) = %v, want %v", name, got, want)
		}
	}
}

// What programs make is known by its name alone.
func TestMade(t *testing.T) {
	for name, want := range map[string]bool{".pytest_cache": true, ".DS_Store": true, "._x": true, ".a.swp": true, ".venv": true, ".idea": false, ".env": false, "a.pyc": false} {
		if got := content.Made(name); got != want {
			t.Errorf("Made(%q) = %v, want %v", name, got, want)
		}
	}
}

// The view is a file system without the leftovers, in each way in which one can be read.
func TestOf(t *testing.T) {
	files := tree("SKILL.md", "scripts/a.py", "scripts/a.pyc", "scripts/__pycache__/a.cpython-314.pyc", ".git/config", "lib/package-lock.json", "lib/node_modules/x/i.js")
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("SKILL.md", filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for what, fsys := range map[string]fs.FS{"memory": content.Of(files), "disk": content.Of(root.FS())} {
		if what == "memory" { // a link there has no target
			if err := fstest.TestFS(fsys, "SKILL.md", "scripts/a.py", "lib/package-lock.json"); err != nil {
				t.Error(err)
			}
		}
		for _, name := range []string{"scripts/a.pyc", "scripts/__pycache__/a.cpython-314.pyc", ".git", ".git/config", "lib/node_modules/x/i.js"} {
			_, open := fsys.Open(name)
			_, stat := fs.Stat(fsys, name)
			_, lstat := fs.Lstat(fsys, name)
			_, read := fs.ReadFile(fsys, name)
			_, list := fs.ReadDir(fsys, name)
			_, text := fs.ReadLink(fsys, name)
			for _, err := range []error{open, stat, lstat, read, list, text} {
				if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "belongs to no skill") {
					t.Errorf("%s, %s: %v", what, name, err)
				}
			}
		}
		d, err := fsys.Open("scripts")
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for {
			list, err := d.(fs.ReadDirFile).ReadDir(1)
			for _, e := range list {
				names = append(names, e.Name())
			}
			if err != nil {
				break
			}
		}
		if !slices.Equal(names, []string{"a.py"}) {
			t.Errorf("%s: scripts has %q", what, names)
		}
	}
	if text, err := fs.ReadLink(content.Of(root.FS()), "l"); text != "SKILL.md" || err != nil {
		t.Errorf("link: %q, %v", text, err)
	}
}

// Whatever a path is: a leftover has a leftover in its path, and what the view opens is none.
func FuzzWithin(f *testing.F) {
	for _, name := range []string{"a/__pycache__/b", "", "/", "a//b", ".git", "~", "node_modules"} {
		f.Add(name)
	}
	files := tree("a.py", "package-lock.json")
	f.Fuzz(func(t *testing.T, name string) {
		kind := content.Within(files, name)
		if kind == "" && fs.ValidPath(name) && name != "." && content.Leftover(files, name) != "" || kind != "" && !fs.ValidPath(name) {
			t.Errorf("%q: %q", name, kind)
		}
		content.Secret(name)
		filename.IsRepository(name)
	})
}
