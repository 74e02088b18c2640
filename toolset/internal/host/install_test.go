package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/toolset/internal/host"
)

// install returns the main file of a program, in a folder whose read-only folders do not outlive the test.
func install(t *testing.T, dir string, l host.Language) string {
	t.Helper()
	t.Cleanup(func() { unlock(dir) })
	main, err := host.Install(dir, l)
	if err != nil {
		t.Fatal(err)
	}
	return main
}

// unlock makes folders writable, so that they can be removed.
func unlock(dir string) {
	_ = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(name, 0o700)
		}
		return err
	})
}

func TestInstallWritesAReadOnlyFolderOnce(t *testing.T) {
	for _, l := range []host.Language{host.Python, host.JavaScript} {
		dir := filepath.Join(t.TempDir(), "programs")
		first := install(t, dir, l)
		info, err := os.Stat(first)
		if err != nil || info.Mode().Perm() != 0o444 {
			t.Fatalf("%s: mode %v, %v", l, info.Mode(), err)
		}
		if folder, _ := os.Stat(filepath.Dir(first)); folder.Mode().Perm() != 0o555 {
			t.Errorf("%s: the folder has mode %v", l, folder.Mode())
		}
		if second := install(t, dir, l); second != first {
			t.Errorf("got %s, then %s", first, second)
		}
		again, err := os.Stat(first)
		if err != nil || !again.ModTime().Equal(info.ModTime()) {
			t.Errorf("%s: it was written twice", l)
		}
		if names := list(t, dir); len(names) != 1 || !strings.HasPrefix(names[0], string(l)+"-") {
			t.Errorf("%s: the folder has %q", l, names)
		}
	}
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestInstallReplacesWhatDiffers(t *testing.T) {
	for name, change := range map[string]func(main string) error{
		"text":    func(main string) error { return rewrite(main, "print('other')") },
		"missing": os.Remove,
		"added": func(main string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(main), "json.py"), nil, 0o600)
		},
		"link": func(main string) error {
			if err := os.Rename(main, main+".real"); err != nil {
				return err
			}
			return os.Symlink(main+".real", main)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			main := install(t, dir, host.Python)
			want, err := os.ReadFile(main)
			if err != nil {
				t.Fatal(err)
			}
			unlock(dir)
			if err := change(main); err != nil {
				t.Fatal(err)
			}
			install(t, dir, host.Python)
			got, err := os.ReadFile(main)
			if err != nil || string(got) != string(want) {
				t.Errorf("got %q, %v", got, err)
			}
			if _, err := os.Lstat(filepath.Join(filepath.Dir(main), "json.py")); err == nil {
				t.Error("the added file is still there")
			}
			if names := list(t, dir); len(names) != 1 {
				t.Errorf("the folder has %q", names)
			}
		})
	}
}

func rewrite(name, text string) error {
	if err := os.Remove(name); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o600)
}

func TestInstallByManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	t.Cleanup(func() { unlock(dir) })
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := host.Install(dir, host.JavaScript); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if names := list(t, dir); len(names) != 1 {
		t.Errorf("the folder has %q", names)
	}
}

func TestInstallRefuses(t *testing.T) {
	if _, err := host.Install("relative", host.Python); err == nil {
		t.Error("a relative folder is taken")
	}
	if _, err := host.Install(t.TempDir(), "cobol"); err == nil {
		t.Error("an unknown language is taken")
	}
}

func TestNoCompiledFileIsEmbedded(t *testing.T) {
	err := filepath.WalkDir(".", func(name string, d os.DirEntry, err error) error {
		if d.Name() == "__pycache__" || d.Name() == "node_modules" {
			t.Errorf("%s would be embedded: remove it", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
