package source

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

var at = &Options{Dir: "/base/dir", Home: "/home/u"}

func TestParse(t *testing.T) { // R147, R151
	for _, tt := range []struct {
		text string
		want Ref
	}{
		{"acme/skills", Ref{Kind: Git, URL: "https://github.com/acme/skills"}},
		{" acme/skills.git\n", Ref{Kind: Git, URL: "https://github.com/acme/skills.git"}},
		{"acme/skills/tools/csv", Ref{Kind: Git, URL: "https://github.com/acme/skills", Path: "tools/csv"}},
		{"acme/skills/tools/csv/", Ref{Kind: Git, URL: "https://github.com/acme/skills", Path: "tools/csv"}},
		{"acme/skills@csv", Ref{Kind: Git, URL: "https://github.com/acme/skills", Name: "csv"}},
		{"acme/skills#v1.2", Ref{Kind: Git, URL: "https://github.com/acme/skills", Want: "v1.2"}},
		{"acme/skills#feature/x@csv", Ref{Kind: Git, URL: "https://github.com/acme/skills", Want: "feature/x", Name: "csv"}},
		{"github:acme/skills", Ref{Kind: Git, URL: "https://github.com/acme/skills"}},
		{"gitlab:acme/skills", Ref{Kind: Git, URL: "https://gitlab.com/acme/skills"}},
		{"github.com/acme/skills", Ref{Kind: Git, URL: "https://github.com/acme/skills"}},
		{"www.github.com/acme/skills/tools/csv@x", Ref{Kind: Git, URL: "https://github.com/acme/skills", Path: "tools/csv", Name: "x"}},
		{"github.com/acme/skills/tree/v1/csv", Ref{Kind: Git, URL: "https://github.com/acme/skills", Want: "v1", Path: "csv", Joined: true}},
		{"gitlab.com/group/team/skills#v1@csv", Ref{Kind: Git, URL: "https://gitlab.com/group/team/skills", Want: "v1", Name: "csv"}},
		{"git.acme.example/o/r/", Ref{Kind: Git, URL: "https://git.acme.example/o/r.git"}},
		{"git.acme.example:8443/o/r", Ref{Kind: Git, URL: "https://git.acme.example:8443/o/r.git"}},
		{"gitea:3000/o/r#v1@csv", Ref{Kind: Git, URL: "https://gitea:3000/o/r.git", Want: "v1", Name: "csv"}},
		{"git@gitea:3000/o/r", Ref{Kind: Git, URL: "git@gitea:3000/o/r"}},
		{"git.acme.example/r.git", Ref{Kind: Git, URL: "https://git.acme.example/r.git"}},
		{"https://github.com/acme/skills", Ref{Kind: Git, URL: "https://github.com/acme/skills"}},
		{"https://github.com/acme/skills/tree/main/skills/csv", Ref{Kind: Git, URL: "https://github.com/acme/skills", Want: "main", Path: "skills/csv", Joined: true}},
		{"https://github.com/acme/skills/tree/main", Ref{Kind: Git, URL: "https://github.com/acme/skills", Want: "main"}},
		{"https://github.com/acme/skills/tree/a/b/csv#a/b", Ref{Kind: Git, URL: "https://github.com/acme/skills", Want: "a/b", Path: "csv"}},
		{"https://github.com/acme/skills/blob/main/csv/SKILL.md", Ref{Kind: Git, URL: "https://github.com/acme/skills", Want: "main", Path: "csv", Joined: true}},
		{"https://github.com/acme/skills/blob/main/SKILL.md?plain=1#usage", Ref{Kind: Git, URL: "https://github.com/acme/skills", Want: "main"}},
		{"https://github.com/acme/skills/raw/refs/heads/main/csv/SKILL.md", Ref{Kind: Git, URL: "https://github.com/acme/skills", Want: "main", Type: "branch", Path: "csv", Joined: true}},
		{"https://raw.githubusercontent.com/acme/skills/main/csv/SKILL.md", Ref{Kind: Git, URL: "https://github.com/acme/skills", Want: "main", Path: "csv", Joined: true}},
		{"https://raw.githubusercontent.com/acme/skills/refs/tags/v1/csv/SKILL.md", Ref{Kind: Git, URL: "https://github.com/acme/skills", Want: "v1", Type: "tag", Path: "csv", Joined: true}},
		{"https://ghe.acme.example/o/r/tree/main/csv", Ref{Kind: Git, URL: "https://ghe.acme.example/o/r.git", Want: "main", Path: "csv", Joined: true}},
		{"https://gitlab.com/a/b/c/-/tree/v1/csv", Ref{Kind: Git, URL: "https://gitlab.com/a/b/c", Want: "v1", Path: "csv", Joined: true}},
		{"https://gitlab.com/a/b/-/blob/v1/csv/SKILL.md?ref_type=heads#L10-12", Ref{Kind: Git, URL: "https://gitlab.com/a/b", Want: "v1", Path: "csv", Joined: true}},
		{"https://git.acme.example/a/b/-/tree/v1/csv", Ref{Kind: Git, URL: "https://git.acme.example/a/b.git", Want: "v1", Path: "csv", Joined: true}},
		{"https://codeberg.org/o/r/src/branch/main/csv", Ref{Kind: Git, URL: "https://codeberg.org/o/r", Want: "main", Type: "branch", Path: "csv", Joined: true}},
		{"git.acme.example/o/r/src/tag/v1/csv/skill.md", Ref{Kind: Git, URL: "https://git.acme.example/o/r.git", Want: "v1", Type: "tag", Path: "csv", Joined: true}},
		{"https://git.acme.example/o/r/src/commit/0123abc/csv", Ref{Kind: Git, URL: "https://git.acme.example/o/r.git", Want: "0123abc", Type: "commit", Path: "csv"}},
		{"https://git.acme.example/o/r/raw/branch/main/csv/SKILL.md", Ref{Kind: Git, URL: "https://git.acme.example/o/r.git", Want: "main", Type: "branch", Path: "csv", Joined: true}},
		{"https://bitbucket.org/o/r/src/main/csv/", Ref{Kind: Git, URL: "https://bitbucket.org/o/r", Want: "main", Path: "csv", Joined: true}},
		{"https://git.acme.example/projects/PRJ/repos/r/browse", Ref{Kind: Git, URL: "https://git.acme.example/scm/PRJ/r.git"}},
		{"https://git.acme.example/projects/PRJ/repos/r/browse/skills/csv?at=refs%2Fheads%2Ffeature%2Fx", Ref{Kind: Git, URL: "https://git.acme.example/scm/PRJ/r.git", Want: "feature/x", Type: "branch", Path: "skills/csv"}},
		{"https://git.acme.example:7990/bitbucket/users/ada/repos/r/raw/csv/SKILL.md?at=v1#12", Ref{Kind: Git, URL: "https://git.acme.example:7990/bitbucket/scm/~ada/r.git", Want: "v1", Path: "csv"}},
		{"https://git.acme.example/projects/projects/repos/repos/browse/csv?at=refs/tags/v1", Ref{Kind: Git, URL: "https://git.acme.example/scm/projects/repos.git", Want: "v1", Type: "tag", Path: "csv"}},
		{"https://git.acme.example/projects/a/repos/b.git", Ref{Kind: Git, URL: "https://git.acme.example/projects/a/repos/b.git"}},
		{"https://git.sr.ht/~u/r/tree/a/b/item/csv", Ref{Kind: Git, URL: "https://git.sr.ht/~u/r", Want: "a/b", Path: "csv"}},
		{"https://skills.sh/acme/skills/csv", Ref{Kind: Git, URL: "https://github.com/acme/skills", Name: "csv"}},
		{"skills.sh/acme/skills", Ref{Kind: Git, URL: "https://github.com/acme/skills"}},
		{"https://skills.sh/trending", Ref{Kind: Index, URL: "https://skills.sh/trending"}},
		{"git@github.com:o/r.git#main:skills/csv", Ref{Kind: Git, URL: "git@github.com:o/r.git", Want: "main", Path: "skills/csv"}},
		{"o/r#:skills/csv/@csv", Ref{Kind: Git, URL: "https://github.com/o/r", Path: "skills/csv", Name: "csv"}},
		{"https://gitlab.com/a/b/c", Ref{Kind: Git, URL: "https://gitlab.com/a/b/c"}},
		{"https://dev.azure.com/o/p/_git/r?path=/s/csv&version=GTv1", Ref{Kind: Git, URL: "https://dev.azure.com/o/p/_git/r", Path: "s/csv", Want: "v1", Type: "tag"}},
		{"https://git.acme.example:8443/x.git#0123abc", Ref{Kind: Git, URL: "https://git.acme.example:8443/x.git", Want: "0123abc"}},
		{"git@github.com:acme/skills.git", Ref{Kind: Git, URL: "git@github.com:acme/skills.git"}},
		{"ssh://git@git.acme.example:2222/srv/x.git", Ref{Kind: Git, URL: "ssh://git@git.acme.example:2222/srv/x.git"}},
		{"file:///srv/x", Ref{Kind: Git, URL: "file:///srv/x"}},
		{"./x.git", Ref{Kind: Git, URL: "file:///base/dir/x.git"}},
		{"../my repo#main", Ref{Kind: Git, URL: "file:///base/my%20repo", Want: "main"}},
		{"./skills/csv", Ref{Kind: Folder, URL: "/base/dir/skills/csv"}},
		{".", Ref{Kind: Folder, URL: "/base/dir"}},
		{"~/skills", Ref{Kind: Folder, URL: "/home/u/skills"}},
		{"/srv/skills/", Ref{Kind: Folder, URL: "/srv/skills"}},
		{"./csv.skill", Ref{Kind: Archive, URL: "/base/dir/csv.skill"}},
		{"csv.zip", Ref{Kind: Archive, URL: "/base/dir/csv.zip"}},
		{"https://acme.example/csv.tar.gz", Ref{Kind: Archive, URL: "https://acme.example/csv.tar.gz"}},
		{"https://acme.example", Ref{Kind: Index, URL: "https://acme.example"}},
		{"https://acme.example/docs/", Ref{Kind: Index, URL: "https://acme.example/docs/"}},
		{"oci://ghcr.io/acme/csv:1.0", Ref{Kind: OCI, URL: "ghcr.io/acme/csv", Want: "1.0", Type: "tag"}},
		{"mcp:docs/pdf", Ref{Kind: Server, URL: "docs/pdf"}},
		{"mcp:docs/office/pdf", Ref{Kind: Server, URL: "docs/office/pdf"}},
		{"oci://localhost:5000/csv", Ref{Kind: OCI, URL: "localhost:5000/csv"}},
		{"oci://r.example/csv@sha256:" + strings.Repeat("ab", 32), Ref{Kind: OCI, URL: "r.example/csv", Want: "sha256:" + strings.Repeat("ab", 32), Type: "commit"}},
	} {
		got, err := Parse(tt.text, at)
		if err != nil || got != tt.want {
			t.Errorf("%q: %+v, %v, want %+v", tt.text, got, err, tt.want)
		}
	}
}

// R148
// security 2.6 #93
// security 2.6 #94
// security 2.6 #96
// security 2.6 #110
func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "empty"},
		{"csv", "write ./csv for a folder"},
		{"ext::sh -c 'touch x'", "neither a URL"},
		{"fd::3", "neither a URL"},
		{"gitea:/o/r", "neither a URL"},
		{"gitea:123456/o/r", "neither a URL"},
		{"git://host/x.git", "not supported"},
		{"http://github.com/a/b", "write https://"},
		{"--upload-pack=touch x", "no repository"},
		{"-x/y", "no repository"},
		{"a/b#--upload-pack=x", "no branch"},
		{"a/b#x y", "no branch"},
		{"ssh://-oProxyCommand=touch/x", "not the name of a host"},
		{"ssh://a b@host/x", "not"},
		{"-oProxyCommand=x@host:y", "not the name of a user"},
		{"git@-oProxyCommand=x:y", "not the name of a host"},
		{"git@host:-x", "dash"},
		{"-host.example/o/r", "not the name of a host"},
		{"github.com/acme", "no repository"},
		{"git.acme.example/", "no repository"},
		{"git.acme.example//r", "no repository"},
		{"ssh://git:secret@host/x", "password"},
		{"https://u:secret@host/x.git", "password"},
		{"https://token@host/x.git", "password"},
		{"https://host/x.git?a=b", "not the URL of a repository"},
		{"https://host/page#main", "only a repository"},
		{"https://host/page#:csv", "only a repository"},
		{"https://github.com/o/r/pull/7", "write https://github.com/o/r#BRANCH:FOLDER"},
		{"codeberg.org/o/r/issues", "write https://codeberg.org/o/r#BRANCH:FOLDER"},
		{"https://github.com/o/r/tree/main/csv#v2", "not the version in the address"},
		{"https://github.com/o/r/tree/main/csv#main:pdf", "names two folders"},
		{"o/r/csv#main:pdf", "names two folders"},
		{"o/r#main:../pdf", "not a path below"},
		{"file://host/x", "three slashes"},
		{"a/b/../../x", "not a path below"},
		{"a/b/./x", "not a path below"},
		{"a/b\x00", "control"},
		{"./a\xff", "UTF-8"},
		{strings.Repeat("a", 3000), "2048 bytes"},
		{"oci://r.example/CSV", "no repository"},
		{"mcp:docs", "not the label of a server and a skill of it"},
		{"mcp:/pdf", "not the label of a server and a skill of it"},
		{"mcp:a b/pdf", "not the label of a server and a skill of it"},
		{"mcp:docs/../pdf", "not the label of a server and a skill of it"},
		{"mcp:docs/pdf#v1", "not the label of a server and a skill of it"},
		{"oci://r.example/csv@sha256:12", "no digest"},
		{"oci://r.example/csv:-x", "no tag"},
		{`C:\x`, "neither a URL"},
		{"C:80/o/r", "neither a URL"},
		{"host:o/r", "neither a URL"},
		{"host:8443x/o/r", "neither a URL"},
		{"host:8443", "neither a URL"},
		{"host:8443/", "neither a URL"},
		{"host:8443/o:r", "neither a URL"},
	} {
		got, err := Parse(tt.text, at)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %+v, %v", tt.text, got, err)
			continue
		}
		if all := e.Error() + ": " + e.Cure; !strings.Contains(all, tt.want) || strings.Contains(all, "secret") {
			t.Errorf("%q: %s, want %q", tt.text, all, tt.want)
		}
	}
}

// Without options what begins nowhere is refused, and the rest is read.
func TestParseWithoutOptions(t *testing.T) {
	for _, text := range []string{"./csv", "../csv", "~/csv", "csv.zip"} {
		if got, err := Parse(text, nil); err == nil || !strings.Contains(err.Error(), "is not known") {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if got, err := Parse("acme/csv", nil); err != nil || got.Kind != Git {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The address of a page of a forge may be that of a repository.
func TestRepository(t *testing.T) {
	for text, want := range map[string]string{
		"https://git.acme.example/o/r": "https://git.acme.example/o/r.git", "https://git.acme.example/g/o/r/": "https://git.acme.example/g/o/r.git",
		"https://git.acme.example": "", "https://git.acme.example/docs": "", "https://git.acme.example/o/r.git": "", "./o/r": "",
	} {
		ref, err := Parse(text, at)
		got, ok := ref.Repository()
		if err != nil || ok != (want != "") || got.URL != want || ok && got.Kind != Git {
			t.Errorf("%s: %+v, %v, %v, want %q", text, got, ok, err, want)
		}
	}
}

// The address of a page does not show where the name of a branch ends.
func TestJoined(t *testing.T) {
	ref, err := Parse("https://github.com/o/r/tree/a/b/c/SKILL.md", at)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for ok := true; ok; ref, ok = ref.Longer() {
		got = append(got, ref.Want+" "+ref.Path)
	}
	if want := []string{"a b/c", "a/b c", "a/b/c "}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	long := Ref{Want: "a", Path: strings.Repeat("b/", 50) + "c", Joined: true}
	tries := 0
	for ok := true; ok; long, ok = long.Longer() {
		tries++
	}
	if tries != mostSlashes+1 {
		t.Errorf("%d tries", tries)
	}
	if _, ok := (Ref{Want: "a", Path: "b"}).Longer(); ok {
		t.Error("a path that the user named became a part of the branch")
	}
	for _, tt := range []struct{ path, want, after string }{
		{"b/c", "a/b", "c"}, {"b/c", "v1", "b/c"}, {"b", "a/b", ""}, {"bc", "a/b", "bc"},
	} {
		if got := (Ref{Want: "a", Path: tt.path, Joined: true}).At(tt.want, "branch"); got != (Ref{Want: tt.want, Type: "branch", Path: tt.after}) {
			t.Errorf("%s at %s: %+v", tt.path, tt.want, got)
		}
	}
}

// What Parse accepts has no option, no secret and no path that leaves the repository, and String gives it again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a/b/c#d@e", "https://github.com/a/b/tree/c/d", "git@h:p", "ssh://u@h:1/p", "./a.git#x", "~/x", "oci://h/r:t", "mcp:h/r", "https://h/_git/x?path=a&version=GBm", "https://github.com/a//", "https://github.com/a/b//", "github.com/a/b", "h.example/a/b#c", "h:8443/a/b", "a@h:8443/b",
		"https://h/a/b/src/branch/c/d", "https://git.sr.ht/~a/b/tree/c/item/d", "https://raw.githubusercontent.com/a/b/c/SKILL.md", "skills.sh/a/b/c", "https://h/x/projects/a/repos/b/browse/c?at=refs%2Fheads%2Fd", "a@b:c#d:e@f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := Parse(text, at)
		if err != nil {
			return
		}
		again, err := Parse(ref.String(), at)
		if strings.TrimSpace(ref.String()) != ref.String() || len(ref.String()) > maxText {
			return // a folder whose name ends with a space, or whose URL is longer than its path
		}
		if err != nil || again.URL != ref.URL || again.Kind != ref.Kind {
			t.Fatalf("%q is %+v, and that is %+v, %v", text, ref, again, err)
		}
		if strings.HasPrefix(ref.URL, "-") || strings.HasPrefix(ref.Want, "-") || strings.Contains("/"+ref.Path+"/", "/../") {
			t.Fatalf("%q is %+v", text, ref)
		}
		_ = fmt.Sprint(ref.Kind)
	})
}
