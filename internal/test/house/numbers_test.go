package house_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// requirement matches the number of a requirement.
var requirement = regexp.MustCompile(`\b[RC][0-9]{1,3}\b`)

// notRequirement matches the names of control character sets, which look like such numbers.
var notRequirement = regexp.MustCompile(`\bC[01] controls?\b`)

// sample is the number that documents use as an example. It is in two parts, as the numbers below are by "_", because a number
// in a test counts as a proof of that requirement.
const sample = "R" + "103"

// numbered lists the files that may contain requirement numbers, with the allowed ones; "*" stands for all.
var numbered = map[string]string{
	"docs/requirements.md":                   "*",
	"docs/requirements.txt":                  "*",    // the source of docs/requirements.md
	"internal/test/requirements/markdown.go": sample, // explains the numbers in docs/requirements.md
	"internal/test/requirements/proofs.go":   "R" + "98 " + sample,
	"CONTRIBUTING.md":                        sample, // explains how a test names a requirement
}

// Requirement numbers are only in tests and in docs/requirements.md. Elsewhere a reader could not look them up.
func TestNoRequirementNumbers(t *testing.T) {
	m := module(t)
	report(t, findNumbers(m.Root, committed(t, m)))
}

func TestNoRequirementNumbersFindsBreaches(t *testing.T) {
	root := t.TempDir()
	files := map[string]string{
		"a.go":                 "package a\n\n// F follows R_12.\nfunc F() {}\n\nconst x = \"\\xC_3 0xC_12 XR_7\" // C_0 control, C_1 controls\n",
		"b_test.go":            "package a // R_12\n",
		"README.md":            "See C_34 and R_1-R_3.\n",
		"docs/requirements.md": "R_1\n",
		"docs/page.md":         "R_1234 is not a number, (R_123) is.\n",
		"CONTRIBUTING.md":      "such as R_103\nbut not R_104\n",
		"skills/x/SKILL.md":    "R_12\n",
	}
	var names []string
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "_", "")), 0o644); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{
		"CONTRIBUTING.md:2: requirement number R_104",
		"README.md:1: requirement number C_34",
		"README.md:1: requirement number R_1",
		"README.md:1: requirement number R_3",
		"a.go:3: requirement number R_12",
		"docs/page.md:1: requirement number R_123",
	}
	if got := findNumbers(root, names); fmt.Sprint(got) != strings.ReplaceAll(fmt.Sprint(want), "_", "") {
		t.Errorf("found:\n%q\nwant:\n%q", got, want)
	}
}

// findNumbers returns file:line for each requirement number in code and pages.
func findNumbers(root string, files []string) []string {
	var found []string
	for _, name := range files {
		if !readsNumbers(name) || numbered[name] == "*" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			continue // removed but still in the index
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, number := range requirement.FindAllString(notRequirement.ReplaceAllString(line, ""), -1) {
				if !slices.Contains(strings.Fields(numbered[name]), number) {
					found = append(found, fmt.Sprintf("%s:%d: requirement number %s", name, i+1, number))
				}
			}
		}
	}
	return found
}

// readsNumbers reports whether the rule applies to a file: Go code without tests, and the pages of the root and docs.
func readsNumbers(name string) bool {
	if strings.HasSuffix(name, ".go") {
		return !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "testdata/")
	}
	return strings.HasPrefix(name, "docs/") || strings.HasSuffix(name, ".md") && !strings.Contains(name, "/")
}
