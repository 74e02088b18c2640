package allow

import (
	"path/filepath"
	"slices"
	"testing"
)

// P5: the paths that rules about files name are those for which a call is named, and Starts has all of them.
func TestFiles(t *testing.T) {
	o := &Options{Roots: []string{"/w"}, Home: "/home/a", Forbids: true}
	paths := []string{"/w", "/w/.env", "/w/a/.env", "/w/secrets", "/w/secrets/key", "/w/a/secrets/key", "/w/docs/a.md", "/w/docs/a/b.md", "/w/x.pem",
		"/srv/data/x", "/home/a/notes/x", "/etc/passwd"}
	tests := []struct {
		rules         []string
		bare          bool
		read, changed []string
		exact         []string
	}{
		{rules: []string{"Read(.env)"}, read: []string{"/w/.env", "/w/a/.env"}, exact: []string{"/w/.env"}},
		{rules: []string{"Read(secrets/**)", "Bash(ls)"}, read: []string{"/w/secrets", "/w/secrets/key"}},
		{rules: []string{"Edit(docs/*)"}, changed: []string{"/w/docs/a.md", "/w/docs/a/b.md"}},
		{rules: []string{"Write(**/*.pem)", "Edit(secrets)"}, changed: []string{"/w/secrets", "/w/secrets/key", "/w/a/secrets/key", "/w/x.pem"}, exact: []string{"/w/secrets"}},
		{rules: []string{"Read(//srv/data/**)", "Read(~/notes/x)"}, read: []string{"/srv/data/x", "/home/a/notes/x"}, exact: []string{"/home/a/notes/x"}},
		{rules: []string{"Read(~/*/x)", "Read(//*/passwd)"}, read: []string{"/home/a/notes/x", "/etc/passwd"}},
		{rules: []string{"Read"}},
		{rules: []string{"Read"}, bare: true, read: paths},
		{rules: []string{"Write"}, bare: true, changed: paths},
		{rules: []string{"Read(**)"}, read: []string{"/w", "/w/.env", "/w/a/.env", "/w/secrets", "/w/secrets/key", "/w/a/secrets/key", "/w/docs/a.md", "/w/docs/a/b.md", "/w/x.pem"}},
	}
	for _, tt := range tests {
		l, problems := Parse(tt.rules, o)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		for _, kind := range []struct {
			f    Files
			want []string
			tool string
		}{{l.Reading(tt.bare), tt.read, "read_file"}, {l.Changing(tt.bare), tt.changed, "write_file"}} {
			var got []string
			for _, path := range paths {
				if !kind.f.Name(path) {
					continue
				}
				got = append(got, path)
				if _, ok := l.Names(Call{Tool: kind.tool, Args: []byte(`{"file_path":"` + path + `"}`)}); !ok {
					t.Errorf("%q: %s is named, a call is not", tt.rules, path)
				}
				if !slices.ContainsFunc(kind.f.Starts(), func(start string) bool {
					rel, err := filepath.Rel(start, path)
					return err == nil && filepath.IsLocal(rel)
				}) {
					t.Errorf("%q: %s is below none of %q", tt.rules, path, kind.f.Starts())
				}
			}
			if !slices.Equal(got, kind.want) {
				t.Errorf("%q, %s: got %q, want %q", tt.rules, kind.tool, got, kind.want)
			}
			if kind.f.Empty() != (kind.want == nil) {
				t.Errorf("%q, %s: empty is %t", tt.rules, kind.tool, kind.f.Empty())
			}
		}
		if got := l.Reading(tt.bare).And(l.Changing(tt.bare)).Exact(); !slices.Equal(got, tt.exact) {
			t.Errorf("%q: exact %q", tt.rules, got)
		}
	}
}
