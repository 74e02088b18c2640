package git

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"unicode"

	"github.com/agent-base/agent-base/internal/filename"
)

// security 2.6 #100: whatever the list says, the file system has only paths that can be written below a folder.
func FuzzTree(f *testing.F) {
	id := strings.Repeat("a1", 20)
	for _, s := range []string{
		"", "100644 blob " + id + "\tSKILL.md\x00", "100755 blob " + id + "\ta/b\x00100644 blob " + id + "\ta/c\x00", "120000 blob " + id + "\tlink\x00",
		"160000 commit " + id + "\tsub\x00", "100644 blob " + id + "\ta\x00100644 blob " + id + "\ta/b\x00", "100644 blob " + id + "\t../x\x00", "100644 blob x\ty\x00", "100644 blob " + id + "\tx",
		"100644 blob " + id + "\t.git/x\x00", "100644 blob " + id + "\tcon\x00", "100644 blob " + id + "\t\xff\x00", "\x00\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		tr, err := parseTree(listing{bytes.NewReader(said), int64(len(said))}, 1000, nil)
		if err != nil {
			return
		}
		r := &Repository{t: tr}
		files := 0
		err = fs.WalkDir(r, ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if !fs.ValidPath(p) || strings.ContainsFunc(p, unicode.IsControl) {
				t.Errorf("path %q", p)
			}
			for part := range strings.SplitSeq(p, "/") {
				if p != "." && (filename.IsGit(part) || filename.Unsafe(part) != "") {
					t.Errorf("path %q", p)
				}
			}
			if d.Type().IsRegular() {
				files++
			} else if !d.IsDir() {
				t.Errorf("%q is %v", p, d.Type())
			}
			return nil
		})
		if err != nil || files != len(tr.files) {
			t.Errorf("the walk found %d of %d files, %v", files, len(tr.files), err)
		}
	})
}

// security 2.6 #93, security 2.6 #94, security 2.6 #96: no text that is accepted is an option, another transport or a secret.
func FuzzURL(f *testing.F) {
	for _, s := range []string{
		"https://example.com/o/r", "ssh://git@example.com:22/x", "git@example.com:o/r.git", "file:///x", "ext::sh -c x", "--upload-pack=x", "https://u:p@example.com/x", "ssh://-oX/x",
		"https://[::1]:8443/x", "a@b::c", "https://example.com/%2d", "HTTPS://example.com/x", "git@[x]:y", "https://example.com/..", "ssh://a@b@c/x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := parseURL(text, true)
		if err != nil {
			return
		}
		scheme := strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.")
		if strings.HasPrefix(text, "-") || strings.HasPrefix(scheme, "::") || strings.ContainsFunc(text, unicode.IsControl) || strings.Contains(text, " ") {
			t.Errorf("%q is accepted", text)
		}
		if strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.User.Username(), "-") || strings.HasPrefix(u.Path, "/-") {
			t.Errorf("%q is accepted as %+v", text, u)
		}
		if _, has := u.User.Password(); has || u.RawQuery != "" {
			t.Errorf("%q is accepted as %+v", text, u)
		}
		if u.Scheme == "file" {
			if CheckURL(text, false) == nil {
				t.Errorf("%q is accepted though nobody typed it", text)
			}
		} else if u.Scheme != "https" && u.Scheme != "ssh" || u.Hostname() == "" {
			t.Errorf("%q is accepted as %+v", text, u)
		}
	})
}

// What git writes is read without harm, and no control character of it reaches an error.
func FuzzOutput(f *testing.F) {
	id := strings.Repeat("b2", 20)
	for _, s := range []string{
		"Receiving objects:  45% (450/1000), 1.2 MiB | 3 MiB/s\r", "remote: Counting objects: 100% (1/1), done.\n", "ref: refs/heads/main\tHEAD\n" + id + "\tHEAD\n",
		"credential.helper\nstore\x00http.proxy\n\x00", "a <= Recv header: Location: https://example.com/x\n", "fatal: \x1b[2Jx\n", "git version 2.39.5\n", id + " blob 12",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, said string) {
		if at, ok := parseProgress(said); ok && (at.Done < 0 || at.Total < 0 || at.Step == "") {
			t.Errorf("progress %+v", at)
		}
		for _, r := range parseRefs(said) {
			if !isID(r.id) && !strings.HasPrefix(r.id, "ref: ") {
				t.Errorf("ref %+v", r)
			}
		}
		for _, s := range parseSettings(said) {
			if s.key == "" || strings.Contains(s.key+s.value, "\x00") {
				t.Errorf("setting %+v", s)
			}
		}
		if size, err := parseObject(said, id); err == nil && size < 0 {
			t.Errorf("size %d", size)
		}
		_, _ = parseVersion(said)
		location(said)
		if words := lastWords(said); words == "" || strings.ContainsFunc(words, unicode.IsControl) {
			t.Errorf("words %q", words)
		}
	})
}
