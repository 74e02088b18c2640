package filename_test

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/filename"
)

// kindOf describes a small tree: a/b/f and lib/x are files, the links chain, sub and dead stand for nothing that counts.
func kindOf(p string) filename.Kind {
	switch p {
	case "a/b/f", "lib/x", "top":
		return filename.File
	case "a", "a/b", "lib":
		return filename.Folder
	case "a/b/ln", "chain", "sub":
		return filename.Link
	}
	return filename.None
}

// security 2.7 #114
func TestFollow(t *testing.T) {
	for target, want := range map[string]string{
		"f": "a/b/f", "./f": "a/b/f", "../../lib/x": "lib/x", "..//../lib/./x": "lib/x", "../../top": "top", "../../a/b/../b/f": "a/b/f",
	} {
		if got, why := filename.Follow("a/b/ln", target, kindOf); got != want || why != "" {
			t.Errorf("%q: got %q, %q", target, got, why)
		}
	}
	for target, want := range map[string]string{
		"": "no path", "/etc/passwd": "absolute", "/": "absolute", `C:\\x`: "no path", "C:x": "no path", `..\\..\\x`: "no path", "f\x00": "no path",
		"../../../etc/passwd": "lies outside", "../../../../a/b/f": "lies outside", "..": "a folder", ".": "a folder", "../../lib": "a folder",
		"ln": "another link", "../../chain": "another link", "absent": "not there", "f/": "no path", "f/x": "folders only", "f/../f": "folders only",
		"../../sub/../top": "folders only", "absent/../f": "folders only", strings.Repeat("./", 600) + "f": "no path",
	} {
		got, why := filename.Follow("a/b/ln", target, kindOf)
		if got != "" || !strings.HasPrefix(why, "is a symbolic link to ") || !strings.Contains(why, want) || len(why) > 400 {
			t.Errorf("%.40q: got %q, %q; want %q", target, got, why, want)
		}
	}
}

// A manifest has no copy: the skill would be there twice.
func TestFollowManifest(t *testing.T) {
	for _, link := range []string{"other/SKILL.md", "other/skill.md", "SKILL.md"} {
		if got, why := filename.Follow(link, "lib/x", kindOf); got != "" || !strings.Contains(why, "SKILL.md of its own") {
			t.Errorf("%s: got %q, %q", link, got, why)
		}
	}
}

// Whatever a link says, the file that stands in its place is one of the tree.
func FuzzFollow(f *testing.F) {
	f.Add("a/b/ln", "../../lib/x")
	f.Add("ln", "../top")
	f.Add("chain", "a/b/../../sub/x")
	f.Fuzz(func(t *testing.T, link, target string) {
		file, why := filename.Follow(link, target, kindOf)
		if (file == "") == (why == "") || file != "" && kindOf(file) != filename.File {
			t.Errorf("%q, %q: got %q, %q", link, target, file, why)
		}
	})
}
