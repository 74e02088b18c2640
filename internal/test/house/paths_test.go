package house_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/deptest"
)

// No committed file names a place of the machine that it was written on: the checkout, its neighbours, the home
// directory.
func TestNoPathsOfOneMachine(t *testing.T) {
	m := module(t)
	files := committed(t, m)
	report(t, findPlaces(t, m.Root, files, places(m.Root)))
}

func TestNoPathsOfOneMachineFindsThem(t *testing.T) {
	root := filepath.Join(t.TempDir(), "checkout")
	for name, content := range map[string]string{
		"a.md":        "one\nsee " + root + "/x\n",
		"b.md":        "see " + filepath.Dir(root) + "/beside/x\n",
		"ok.md":       "see /somewhere/else, below" + root + " and " + root + "-more\n",
		"../beside/x": "",
	} {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	places := []string{root, filepath.Join(filepath.Dir(root), "beside")}
	got := findPlaces(t, root, []string{"a.md", "b.md", "ok.md"}, places)
	if len(got) != 2 || !strings.HasPrefix(got[0], "a.md:2: ") || !strings.HasPrefix(got[1], "b.md:1: ") {
		t.Errorf("found %q, want a.md:2 and b.md:1", got)
	}
}

// committed lists the files that git tracks or would add. Without git, as in a source archive, it lists the module's Go
// files.
func committed(t *testing.T, m *deptest.Module) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = m.Root
	if out, err := cmd.Output(); err == nil {
		return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	}
	var files []string
	for _, p := range m.Packages {
		for _, f := range p.Files {
			files = append(files, f.Path)
		}
	}
	return files
}

// places returns the directories that no file may name, except those that exist everywhere, such as /root or /src.
func places(root string) []string {
	var all []string
	if strings.Count(root, "/") > 1 {
		all = append(all, root)
	}
	if home, err := os.UserHomeDir(); err == nil && strings.Count(home, "/") > 1 {
		all = append(all, home)
	}
	parent := filepath.Dir(root)
	if parent == filepath.Dir(parent) || parent == filepath.Clean(os.TempDir()) {
		return all
	}
	neighbours, err := os.ReadDir(parent)
	if err != nil {
		return all
	}
	for _, e := range neighbours {
		all = append(all, filepath.Join(parent, e.Name()))
	}
	return all
}

// findPlaces returns file:line for each line that contains one of the places as a path.
func findPlaces(t *testing.T, root string, files, places []string) []string {
	t.Helper()
	var found []string
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // removed but still in the index, or a broken link
		}
		for number, line := range bytes.Split(content, []byte("\n")) {
			for _, place := range places {
				if names(string(line), place) {
					found = append(found, fmt.Sprintf("%s:%d: a path of this machine: %s", name, number+1, place))
					break
				}
			}
		}
	}
	return found
}

// names reports whether a line contains the path, and not only a longer name that begins or ends with it.
func names(line, place string) bool {
	for from := 0; ; {
		at := strings.Index(line[from:], place)
		if at < 0 {
			return false
		}
		start, end := from+at, from+at+len(place)
		if (start == 0 || !isNameByte(line[start-1])) && (end == len(line) || !isNameByte(line[end])) {
			return true
		}
		from = end
	}
}

func isNameByte(b byte) bool {
	return b == '-' || b == '_' || b == '.' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}
