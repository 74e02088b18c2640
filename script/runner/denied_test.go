package runner

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/internal/glob"
)

// globRules are FileRules of globs below a folder.
type globRules struct {
	root     string
	patterns []string
}

func (g globRules) Empty() bool { return len(g.patterns) == 0 }

func (g globRules) Starts() []string { return []string{g.root} }

func (g globRules) Exact() (out []string) {
	for _, p := range g.patterns {
		if !strings.Contains(p, "*") {
			out = append(out, filepath.Join(g.root, p))
		}
	}
	return out
}

func (g globRules) Name(path string) bool {
	rel, err := filepath.Rel(g.root, path)
	return err == nil && slices.ContainsFunc(g.patterns, func(p string) bool {
		return glob.Match(p, filepath.ToSlash(rel)) || glob.Match(p+"/**", filepath.ToSlash(rel))
	})
}

// P5: what rules deny is hidden from a command or stays as it is: links and other names of a file, too. No grant in it remains, and
// what cannot be kept is said.
func TestDeny(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	tree{"secrets/key": "x", "secrets/sub/b": "x", "a/.env": "x", "docs/x.md": "x", "own/secrets/x": "x", "real": "x"}.write(t, dir)
	for name, target := range map[string]string{"b.env": "real"} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(at("secrets/key"), at("copy")); err != nil {
		t.Fatal(err)
	}
	paths := func(names ...string) []string {
		out := []string{}
		for _, name := range names {
			out = append(out, at(name))
		}
		return out
	}
	tests := []struct {
		name             string
		read, change     []string
		keep, hide       []string
		absent           []string
		missing          int
		granted, remains []string // of Write
	}{
		{name: "nothing", remains: []string{"."}},
		{name: "a folder, and another name of a file in it", read: []string{"secrets/**"}, hide: []string{"copy", "secrets"}, remains: []string{"."}},
		{name: "a file and its other name", read: []string{"secrets/key"}, hide: []string{"copy", "secrets/key"}, remains: []string{"."}},
		{name: "any folder, a link", read: []string{"**/*.env"}, hide: []string{"a/.env", "b.env", "real"}, remains: []string{"."}},
		{name: "a grant in it", read: []string{"secrets/**"}, hide: []string{"copy", "secrets"}, granted: []string{"secrets/sub"}, remains: []string{"."}},
		{name: "all", read: []string{"**"}, hide: []string{"."}, remains: nil},
		{name: "not in the skill", read: []string{"own/secrets/**"}, remains: []string{"."}},
		{name: "changes", change: []string{"docs/*"}, keep: []string{"docs/x.md"}, missing: 1, remains: []string{"."}},
		{name: "changes of a missing file", change: []string{"docs/y.md"}, absent: []string{"docs/y.md"}, missing: 1, remains: []string{"."}},
		{name: "no change at all", change: []string{"**"}, keep: []string{"."}, remains: nil},
		{name: "a granted folder", change: []string{"docs/**"}, granted: []string{"docs"}, keep: []string{"docs"}, missing: 1, remains: []string{"."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folders := append(paths(tt.granted...), dir)
			c := &Command{Read: paths("own"), Write: slices.Clone(folders)}
			d := &Denied{Read: globRules{dir, tt.read}, Write: globRules{dir, tt.change}}
			if err := d.Deny(c, folders, paths("own")); err != nil {
				t.Fatal(err)
			}
			slices.Sort(c.Hide)
			for _, row := range []struct {
				name      string
				got, want []string
			}{{"hide", c.Hide, tt.hide}, {"keep", c.Keep, tt.keep}, {"absent", c.Absent, tt.absent}, {"write", c.Write, tt.remains}} {
				if diff := cmp.Diff(paths(row.want...), append([]string{}, row.got...)); diff != "" {
					t.Errorf("%s: %s", row.name, diff)
				}
			}
			if len(c.Missing) != tt.missing {
				t.Errorf("missing: %q", c.Missing)
			}
		})
	}
}

// P5: what cannot be searched is refused, not ignored.
func TestDenyIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range mostNamed + 1 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)+".env"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := &Denied{Read: globRules{dir, []string{"*.env"}}}
	var tooMuch *DeniedError
	if err := d.Deny(&Command{Read: []string{dir}}, []string{dir}, nil); !errors.As(err, &tooMuch) {
		t.Errorf("got %v", err)
	}
}

// tree is the files of a folder, by their slash paths.
type tree map[string]string

func (tr tree) write(t *testing.T, dir string) {
	t.Helper()
	for name, content := range tr {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
