package manifest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// All real files that have front matter, but the unclosed one and the one without a
// description load; every other file is explained.
func TestParseCorpus(t *testing.T) {
	root := os.Getenv("AGENT_SKILLS_CORPUS")
	if root == "" {
		t.Skip("AGENT_SKILLS_CORPUS names no folder of real skills")
	}
	loaded, broken := 0, map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.EqualFold(d.Name(), "skill.md") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir := filepath.Base(filepath.Dir(path))
		m, problems := Parse(src, &Options{File: path, Dir: dir})
		checkSound(t, src, m, problems)
		checkFix(t, src, path, dir)
		why := fatalCodes(problems)
		if why == "" {
			loaded++
			return nil
		}
		broken[why]++
		t.Logf("%s: %s", path, why)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d load, %v do not", loaded, broken)
	if loaded < 100 {
		t.Errorf("only %d files load: is %s a folder of skills?", loaded, root)
	}
	for why, n := range broken {
		if why == "frontmatter-missing" || n == 1 && (why == "frontmatter-unclosed" || why == "fields-missing") {
			continue
		}
		t.Errorf("%d files do not load because of %s", n, why)
	}
}

// checkFix holds for every file: mending it succeeds, and a second time changes nothing.
func checkFix(t *testing.T, src []byte, path, dir string) {
	t.Helper()
	for _, profile := range everyColumn() {
		o := &Options{Dir: dir, Profile: profile}
		once, _, err := Fix(src, o)
		if err != nil {
			t.Errorf("%s under %s: %v", path, profile.Name, err)
		}
		if twice, changed, err := Fix(once, o); err != nil || len(changed) > 0 || string(twice) != string(once) {
			t.Errorf("%s under %s: the second time %v, %v", path, profile.Name, changed, err)
		}
	}
}

func fatalCodes(problems []Problem) string {
	var codes []string
	for _, p := range problems {
		if p.Fatal {
			codes = append(codes, p.Code)
		}
	}
	return strings.Join(codes, " ")
}
