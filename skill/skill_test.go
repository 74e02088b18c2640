package skill

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/skill/check"
)

// ownTree is a tree of a source of somebody else.
type ownTree struct{ fstest.MapFS }

func (ownTree) Close() error { return nil }

// own yields one skill called a, with what open gives.
func own(open func(context.Context) (Tree, error)) Source {
	return SourceFunc(func(context.Context) iter.Seq2[Found, error] {
		return func(yield func(Found, error) bool) {
			yield(Found{Path: "a", File: "SKILL.md", Head: []byte(skillText("a", "")), Open: open}, nil)
		}
	})
}

func inMemory() fstest.MapFS {
	return fstest.MapFS{"a/SKILL.md": {Data: []byte(skillText("a", ""))}, "a/f": {Data: []byte("x")}}
}

// everywhere gives the same skill by every kind of source.
func everywhere(t *testing.T) map[string]*Catalog {
	t.Helper()
	out := map[string]*Catalog{}
	for name, source := range map[string]Source{
		"Dir": Dir(disk(t, t.TempDir(), map[string]string{"a/SKILL.md": "", "a/f": "x"}), nil),
		"FS":  FS(inMemory(), nil),
		"own": own(func(context.Context) (Tree, error) {
			return ownTree{fstest.MapFS{"SKILL.md": inMemory()["a/SKILL.md"], "f": inMemory()["a/f"]}}, nil
		}),
	} {
		for layer, trust := range map[string]Trust{"user": TrustNone, "bundled": TrustBundled} {
			out[name+" "+layer] = opened(t, &Options{Layers: []Layer{{Name: layer, Source: source, Trust: trust}},
				Trust: func(ctx context.Context, s Subject) (Trust, error) {
					_, err := s.Digest(ctx)
					return TrustApproved, err
				}})
		}
	}
	return out
}

// A closed skill says so wherever it is asked for its files; what was read of its manifest stays.
func TestClosed(t *testing.T) {
	for name, c := range everywhere(t) {
		s := loaded(t, c, "a")
		fsys := s.FS()
		if b, err := fs.ReadFile(fsys, "f"); string(b) != "x" || err != nil {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for what, call := range map[string]func() error{
			"Dir":      func() error { _, err := s.Dir(t.Context()); return err },
			"Trust":    func() error { _, err := s.Trust(t.Context()); return err },
			"Seal":     func() error { _, err := s.Seal(t.Context(), t.TempDir()); return err },
			"Read":     func() error { _, err := s.Read("f"); return err },
			"ReadFile": func() error { _, err := s.ReadFile("f"); return err },
			"Open":     func() error { _, err := fsys.Open("f"); return err },
			"ReadDir":  func() error { _, err := fs.ReadDir(s.FS(), "."); return err },
			"Stat":     func() error { _, err := fs.Stat(fsys, "f"); return err },
			"Lstat":    func() error { _, err := fs.Lstat(fsys, "f"); return err },
			"ReadLink": func() error { _, err := fs.ReadLink(fsys, "f"); return err },
		} {
			if err := call(); !errors.Is(err, ErrClosed) {
				t.Errorf("%s: %s: %v, want ErrClosed", name, what, err)
			}
		}
		if _, problems := check.Folder(fsys, "a", nil); len(problems) != 1 || problems[0].Code != "file-unreadable" {
			t.Errorf("%s: Validate finds %v", name, problems)
		}
		if s.Name() != "a" || s.Manifest().Name != "a" || len(s.Text()) == 0 {
			t.Errorf("%s: the manifest is gone", name)
		}
	}
}

// A context that has ended loads nothing, trusts nothing, and nothing is opened for it.
func TestLoadEnded(t *testing.T) {
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range everywhere(t) {
		e := find(t, c, "a")
		if s, err := e.Load(dead); s != nil || err != context.Canceled {
			t.Errorf("%s: %v, %v, want context.Canceled", name, s, err)
		}
		if trust, err := e.Trust(dead); trust != TrustNone || err != context.Canceled {
			t.Errorf("%s: %v, %v, want context.Canceled", name, trust, err)
		}
		if trust, err := loaded(t, c, "a").Trust(dead); trust != TrustNone || err != context.Canceled {
			t.Errorf("%s: skill: %v, %v, want context.Canceled", name, trust, err)
		}
	}
}

// A source that does not look at its context cannot load a skill after it has ended, whatever it says.
func TestLoadEndsMeanwhile(t *testing.T) {
	for name, open := range map[string]func() (Tree, error){
		"sound":  func() (Tree, error) { return ownTree{fstest.MapFS{"SKILL.md": inMemory()["a/SKILL.md"]}}, nil },
		"error":  func() (Tree, error) { return nil, errors.New("no") },
		"broken": func() (Tree, error) { return ownTree{}, nil },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		c := opened(t, &Options{Layers: []Layer{{Name: "own", Source: own(func(context.Context) (Tree, error) { cancel(); return open() })}}})
		if s, err := find(t, c, "a").Load(ctx); s != nil || err != context.Canceled {
			t.Errorf("%s: %v, %v, want context.Canceled", name, s, err)
		}
	}
}

// A skill that is gone is one kind of error, however much of it is gone and wherever it came from.
func TestLoadGone(t *testing.T) {
	lost := errors.New("the server has no such skill")
	rows := map[string]struct {
		source func(root string) Source
		gone   string // removed after Open
		want   error
		text   string
	}{
		"the folder":     {func(root string) Source { return Dir(root, nil) }, "a", fs.ErrNotExist, "a/SKILL.md: error[file-missing] it is not there any more"},
		"its manifest":   {func(root string) Source { return Dir(root, nil) }, "a/SKILL.md", fs.ErrNotExist, "a/SKILL.md: error[file-missing] it is not there any more"},
		"the root":       {func(root string) Source { return Dir(root, nil) }, ".", fs.ErrNotExist, "it is not there any more"},
		"wrapped":        {func(root string) Source { return SourceFunc(Dir(root, nil).Skills) }, "a", fs.ErrNotExist, "it is not there any more"},
		"embedded":       {func(root string) Source { return FS(os.DirFS(root), nil) }, "a", fs.ErrNotExist, "it is not there any more"},
		"somewhere else": {func(string) Source { return own(func(context.Context) (Tree, error) { return nil, lost }) }, "a", lost, "own:a/SKILL.md: error[file-unreadable] the server has no such skill"},
		"no files":       {func(string) Source { return own(func(context.Context) (Tree, error) { return nil, nil }) }, "a", nil, "the source returned no files"},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			root := disk(t, filepath.Join(t.TempDir(), "skills"), map[string]string{"a/SKILL.md": ""})
			c := opened(t, &Options{Layers: []Layer{{Name: "own", Source: r.source(root)}}})
			if err := os.RemoveAll(filepath.Join(root, r.gone)); err != nil {
				t.Fatal(err)
			}
			s, err := find(t, c, "a").Load(t.Context())
			var broken *BrokenError
			if s != nil || !errors.As(err, &broken) || broken.Name != "a" || len(broken.Problems) != 1 || !strings.Contains(err.Error(), r.text) {
				t.Fatalf("got %v, %#v, want a *BrokenError with %q", s, err, r.text)
			}
			if r.want != nil && !errors.Is(err, r.want) {
				t.Errorf("got %v, which is not %v", err, r.want)
			}
		})
	}
}

// A long call ends with its context, and the next call starts again. A closed skill reports that first.
func TestSkillEnded(t *testing.T) {
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range everywhere(t) {
		s := loaded(t, c, "a")
		calls := map[string]func() error{
			"Digest": func() error { _, err := s.Digest(dead); return err },
			"Files":  func() error { _, err := s.Files(dead); return err },
			"List":   func() error { _, _, err := s.List(dead); return err },
			"Seal":   func() error { _, err := s.Seal(dead, t.TempDir()); return err },
		}
		for what, call := range calls {
			if err := call(); err != context.Canceled {
				t.Errorf("%s: %s: %v, want context.Canceled", name, what, err)
			}
		}
		if digest, err := s.Digest(t.Context()); err != nil || !strings.HasPrefix(digest, "sha256:") {
			t.Errorf("%s: digest %q, %v after one that was cancelled", name, digest, err)
		}
		s.Close()
		for what, call := range calls {
			if err := call(); !errors.Is(err, ErrClosed) {
				t.Errorf("%s: closed: %s: %v, want ErrClosed", name, what, err)
			}
		}
	}
}

// A list of files ends while it is being made, not after 50,000 entries.
func TestListEndsMeanwhile(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := opened(t, &Options{Layers: []Layer{{Name: "own", Source: own(func(context.Context) (Tree, error) {
		return endless{fstest.MapFS{"SKILL.md": inMemory()["a/SKILL.md"]}, cancel}, nil
	})}}})
	if files, partial, err := loaded(t, c, "a").List(ctx); files != nil || partial || err != context.Canceled {
		t.Errorf("%v, %v, %v, want context.Canceled", files, partial, err)
	}
}

// endless is a tree with a folder in each folder, whose listing ends the context.
type endless struct {
	fstest.MapFS
	cancel func()
}

func (endless) Close() error { return nil }

func (e endless) ReadDir(string) ([]fs.DirEntry, error) {
	e.cancel()
	dir := fstest.MapFS{"deeper/f": {}}
	return dir.ReadDir(".")
}

// What lies nowhere on disk says so in a way that a caller can tell from a failure.
func TestNoFolder(t *testing.T) {
	for name, c := range everywhere(t) {
		s := loaded(t, c, "a")
		_, err1 := s.Dir(t.Context())
		_, err2 := s.Seal(t.Context(), scratch.Dir(t))
		if want := !strings.HasPrefix(name, "Dir"); errors.Is(err1, ErrNoFolder) != want || errors.Is(err2, ErrNoFolder) != want {
			t.Errorf("%s: Dir %v, Seal %v, want ErrNoFolder: %v", name, err1, err2, want)
		}
	}
}

// F6: what the catalogue does not read, the instructions, can make a skill unusable too. Load says so.
func TestLoadReadsTheBody(t *testing.T) {
	head := "---\nname: a\ndescription: x\nallowed-tools: Read\n---\n"
	for code, body := range map[string]string{"file-nul": "a\x00b", "file-utf8": "caf\xe9"} {
		files := fstest.MapFS{"a/SKILL.md": {Data: []byte(head + body)}}
		for what, source := range map[string]Source{"Dir": Dir(disk(t, t.TempDir(), map[string]string{"a/SKILL.md": head + body}), nil), "FS": FS(files, nil)} {
			e := find(t, opened(t, &Options{Layers: []Layer{{Name: "user", Source: source}}}), "a")
			s, err := e.Load(t.Context())
			var broken *BrokenError
			if !errors.As(err, &broken) || len(broken.Problems) != 1 || broken.Problems[0].Code != code {
				t.Errorf("%s in a skill of %s: got %v, %v", code, what, s, err)
			}
		}
	}
}

// C73: the folder of a plugin is the nearest one with a plugin.json in the root of the source.
func TestPluginDir(t *testing.T) {
	base := disk(t, t.TempDir(), map[string]string{
		".claude-plugin/plugin.json": "{}", "root/p/.claude-plugin/plugin.json": "{}", "root/p/skills/a/SKILL.md": "",
		"root/b/SKILL.md": "", "root/q/.claude-plugin/plugin.json/": "", "root/q/c/SKILL.md": "",
		"root/own/.claude-plugin/plugin.json": "{}", "root/own/SKILL.md": "",
	})
	root := filepath.Join(base, "root")
	c := onDir(t, root)
	for name, want := range map[string]string{"a": "p", "b": "b", "c": "q/c", "own": "own"} {
		got, err := loaded(t, c, name).PluginDir(t.Context())
		if rel, _ := filepath.Rel(root, got); rel != filepath.FromSlash(want) || err != nil {
			t.Errorf("%s: got %q %v, want %q", name, got, err, want)
		}
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	if got, err := loaded(t, onDir(t, link), "a").PluginDir(t.Context()); filepath.Base(got) != "p" || err != nil {
		t.Errorf("behind a link: %q %v", got, err)
	}
}
