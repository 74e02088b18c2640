package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The files and the tests that a page names exist.
func TestDocumentsNameWhatExists(t *testing.T) {
	m := module(t)
	file := regexp.MustCompile("`([a-z][a-zA-Z0-9_/.-]*\\.(?:go|sh|c))`")
	test := regexp.MustCompile("`((?:Test|Fuzz|Example)[A-Z_][A-Za-z0-9_]*)`")
	tests := testNames(t, m.Root)
	for _, page := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md", "RATIONALE.md", "README.md", "SECURITY.md", "docs/library.md", "docs/performance.md"} {
		text, err := os.ReadFile(filepath.Join(m.Root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range file.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(m.Root, filepath.FromSlash(found[1]))); err != nil && strings.Contains(found[1], "/") {
				t.Errorf("%s names %q, which does not exist", page, found[1])
			}
		}
		for _, found := range test.FindAllStringSubmatch(string(text), -1) {
			if !tests[found[1]] {
				t.Errorf("%s names the test or example %q, which does not exist", page, found[1])
			}
		}
	}
}

// most is how many words of prose there may be: in README.md, in RATIONALE.md, and in docs/ with RATIONALE.md. Blocks of code do not count,
// nor do the registers of docs/, which are made from code and tests: the commands, the requirements and the attacks.
var most = map[string]int{"README.md": 900, "RATIONALE.md": 4000, "docs": 50000}

func TestPagesAreShort(t *testing.T) {
	root := module(t).Root
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	words := map[string]int{}
	for _, name := range []string{"README.md", "RATIONALE.md"} {
		words[name] = prose(t, filepath.Join(root, name))
	}
	words["docs"] = words["RATIONALE.md"]
	for _, name := range pages {
		if base := filepath.Base(name); !slices.Contains([]string{"cli.md", "requirements.md", "attacks.md"}, base) {
			words["docs"] += prose(t, name)
		}
	}
	for name, n := range words {
		if n > most[name] {
			t.Errorf("%s has %d words of prose, want at most %d: say each thing once", name, n, most[name])
		}
	}
	t.Log(words)
}

// word matches what stands between spaces, but for what has no letter and no digit, such as the lines of a table.
var word = regexp.MustCompile(`\S*[\pL\pN]\S*`)

// prose counts the words of a page outside its blocks of code.
func prose(t *testing.T, name string) (words int) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	code := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		} else if !code {
			words += len(word.FindAllString(line, -1))
		}
	}
	return words
}

// Each file in the tables of ARCHITECTURE.md exists. One without a folder lies in that of the path before it in its row.
func TestArchitectureTables(t *testing.T) {
	root := module(t).Root
	b, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(string(b), "## Where is")
	tables, _, _ = strings.Cut(tables, "## Code map")
	quoted := regexp.MustCompile("`([a-zA-Z0-9_/.*-]+)`")
	rows, files := 0, 0
	for line := range strings.Lines(tables) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || strings.HasPrefix(cells[1], "-") || cells[1] == " question " {
			continue
		}
		rows++
		folder, named := "", false
		for _, found := range quoted.FindAllStringSubmatch(cells[2], -1) {
			name := filepath.FromSlash(found[1])
			if info, err := os.Stat(filepath.Join(root, name)); err == nil && info.IsDir() {
				folder, named = name, true
				continue
			}
			switch filepath.Ext(name) {
			case ".go", ".py", ".mjs", ".md":
			default:
				continue
			}
			if filepath.Dir(name) == "." {
				name = filepath.Join(folder, name)
			}
			folder, named = filepath.Dir(name), true
			files++
			if there, err := filepath.Glob(filepath.Join(root, name)); err != nil || len(there) == 0 {
				t.Errorf("the row %q names %q, which does not exist", strings.TrimSpace(cells[1]), name)
			}
		}
		if !named {
			t.Errorf("the row %q names no place", strings.TrimSpace(cells[1]))
		}
	}
	if rows < 50 || files < 100 {
		t.Errorf("read %d rows with %d files: the tables have another form now", rows, files)
	}
}

// testNames collects the names of all tests, fuzz targets and examples of the module.
func testNames(t *testing.T, root string) map[string]bool {
	t.Helper()
	name := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)[A-Za-z0-9_]*)\(`)
	names := map[string]bool{}
	for _, p := range module(t).Packages {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(p.Dir), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range name.FindAllStringSubmatch(string(text), -1) {
				names[found[1]] = true
			}
		}
	}
	return names
}
