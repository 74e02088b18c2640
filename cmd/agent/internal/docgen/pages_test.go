package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/skill/manifest"
)

// root is the module's, seen from this package.
const root = "../../../.."

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The pages in docs/ say what the code says.
func TestPagesAreCurrent(t *testing.T) {
	for _, p := range pages {
		want, err := p.text()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, read(t, "docs/"+p.file)); diff != "" {
			t.Errorf("docs/%s is not current: run \"go generate ./...\" (-code +page)\n%s", p.file, diff)
		}
	}
}

// A page is the same wherever and whenever it is made.
func TestPagesNameNoMachine(t *testing.T) {
	home, _ := os.UserHomeDir()
	host, _ := os.Hostname()
	for _, p := range pages {
		text, err := p.make()
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{home + "/", host + " ", "PROJECT/"} {
			if len(word) > 2 && strings.Contains(text, word) {
				t.Errorf("%s has %q", p.file, word)
			}
		}
	}
}

// Every exit code of the command is in the page.
func TestExitCodes(t *testing.T) {
	page, err := cliPage()
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`(?m)^\tExit\w+ +Exit = (\d+)`).FindAllStringSubmatch(read(t, "cmd/agent/internal/failure/failure.go"), -1)
	if len(codes) < 11 {
		t.Fatalf("%d exit codes found in the source, want 11 at least", len(codes))
	}
	for _, c := range codes {
		if !strings.Contains(page, "\n| "+c[1]+" | ") {
			t.Errorf("exit code %s has no row: add it to exits in cmd/agent/internal/cli/reference.go", c[1])
		}
	}
}

// The wrong line of each example has its problem, the right one has not.
func TestExamples(t *testing.T) {
	for _, ex := range examples {
		if !has(ex.wrong, ex) {
			t.Errorf("%q has no problem %s", ex.wrong, ex.code)
		}
		if has(ex.right, ex) {
			t.Errorf("%q has the problem %s, too", ex.right, ex.code)
		}
	}
	if findExample("yaml-colon").code == "" || findExample("body-length").code != "" {
		t.Error("findExample does not find what there is")
	}
}

// has reports whether a skill with the line has the example's problem.
func has(line string, ex example) bool {
	key, _, _ := strings.Cut(strings.ToLower(line), ":")
	lines := []string{"---", line}
	for _, other := range []string{"name: csv-report", "description: Makes reports. Use it for CSV files."} {
		if !strings.HasPrefix(other, key+":") {
			lines = append(lines, other)
		}
	}
	lines = append(lines, "---", "Text.", "")
	_, problems := manifest.Parse([]byte(strings.Join(lines, "\n")), &manifest.Options{Profile: &manifest.Profile{Name: ex.profile}})
	return slices.ContainsFunc(problems, func(p manifest.Problem) bool { return p.Code == ex.code })
}

// Every code that the source can report is in the page: as a rule, or in groups.
func TestEveryCodeIsThere(t *testing.T) {
	known, used := map[string]bool{}, map[string]bool{}
	for _, r := range manifest.Codes() {
		known[r.Code], used[r.Code] = true, true
	}
	for _, g := range groups {
		for _, c := range g.codes {
			known[c.code] = true
		}
	}
	code := regexp.MustCompile(`(?:Problem\{Code:|\.Code(?:, p\.\w+)* =) "([a-z0-9-]+)"|"(config-[a-z-]+)"|f\.report(?:Field)?\("([a-z-]+)"`)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch rel := filepath.ToSlash(strings.TrimPrefix(p, root+string(filepath.Separator))); {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && p != root || d.Name() == "testdata" || rel == "cmd/agent/internal/docgen"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
			return nil
		default:
			for _, m := range code.FindAllStringSubmatch(read(t, rel), -1) {
				name := m[1] + m[2] + m[3]
				used[name] = true
				if !known[name] {
					t.Errorf("%s: the problem %s is in no table: add it to groups", p, name)
				}
			}
			return nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range known {
		if !used[name] {
			t.Errorf("no source reports %s: remove it from groups", name)
		}
	}
}

// The example of a settings file has no problem.
func TestConfigExample(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".agent"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".agent", "config.yaml"), []byte(configExample), 0o644); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(&config.Options{Home: home, Project: t.TempDir()})
	if len(problems) > 0 {
		t.Error(problems)
	}
	if got, want := len(c.Roots), 2; got != want {
		t.Errorf("%d roots, want %d", got, want)
	}
	if got, want := c.ScriptTimeout.Seconds(), 120.0; got != want {
		t.Errorf("scriptTimeout is %v s, want %v", got, want)
	}
}

// Paragraphs and items end their lines at 120 columns; code and tables stay.
func TestWrap(t *testing.T) {
	word := strings.Repeat("x", 29)
	long := strings.Join([]string{word, word, word, word, word}, " ")
	broken := strings.Join([]string{word, word, word, word}, " ")
	for _, tt := range []struct{ name, page, want string }{
		{"a paragraph", long + "\nand more\n", broken + "\n" + word + " and more\n"},
		{"a short one", "a\nb\n", "a\nb\n"},
		{"items", "- a\n- " + long + "\n  c\n- d\n", "- a\n- " + broken[:len(broken)-30] + "\n  " + word + " " + word + " c\n- d\n"},
		{"code and tables", "```\n" + long + "\n```\n| " + long + " |\n", "```\n" + long + "\n```\n| " + long + " |\n"},
	} {
		if got := wrap(tt.page); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}
