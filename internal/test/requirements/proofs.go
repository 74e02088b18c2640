package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// proofs maps the id of a row to the tests that name it, such as "skill/name_test.go: TestNames".
type proofs map[string][]string

var (
	named    = regexp.MustCompile(`\b([RC])(\d{1,3})(?:-[RC]?(\d{1,3}))?\b`)
	numbered = regexp.MustCompile(`#\d{2,3}\b|\b(?:UV|SB|IX)\d+\b`)
	lettered = regexp.MustCompile(`\b(?:UV|SB|IX)\d+\b`)
	testFunc = regexp.MustCompile(`^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)
)

// widest is the maximum number of rows in a range such as R98-R103.
const widest = 20

// findProofs reads every test file and test script below root. names returns the rows that a line names.
func findProofs(root string, names func(line string) []string) (proofs, error) {
	out := proofs{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (strings.HasPrefix(name, ".") || name == "node_modules" || p == filepath.Join(root, "internal", "test", "requirements")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, ".txtar") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		out.add(filepath.ToSlash(rel), string(text), names)
		return nil
	})
	for id := range out {
		slices.Sort(out[id])
		out[id] = slices.Compact(out[id])
	}
	return out, err
}

// add notes the rows that one file names. A comment above a test function belongs to the function below it.
func (ps proofs) add(file, text string, names func(string) []string) {
	lines := strings.Split(text, "\n")
	owner := owners(lines)
	for i, line := range lines {
		where := file
		if owner[i] != "" {
			where += ": " + owner[i]
		}
		for _, id := range names(line) {
			ps[id] = append(ps[id], where)
		}
	}
}

// owners returns the name of the test function that each line belongs to, "" for the lines outside of them.
func owners(lines []string) []string {
	owner := make([]string, len(lines))
	for i, line := range lines {
		if m := testFunc.FindStringSubmatch(line); m != nil {
			owner[i] = m[1]
			for j := i - 1; j >= 0 && strings.HasPrefix(lines[j], "//"); j-- {
				owner[j] = m[1]
			}
		} else if i > 0 && owner[i] == "" && lines[i-1] != "}" {
			owner[i] = owner[i-1]
		}
	}
	return owner
}

// stands reports whether the text of a quote stands in a line of its test, for the module in the folder root.
func (q quote) stands(root string) (bool, error) {
	file, test, _ := strings.Cut(q.where, ": ")
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return false, err
	}
	lines := strings.Split(string(text), "\n")
	for i, owner := range owners(lines) {
		if owner == test && strings.Contains(lines[i], q.text) && !strings.HasPrefix(lines[i], "//") && !strings.HasPrefix(lines[i], "# ") {
			return true, nil
		}
	}
	return false, nil
}

// rowsIn returns the requirements and decisions that a line names.
func rowsIn(line string) []string {
	var ids []string
	for _, m := range named.FindAllStringSubmatch(line, -1) {
		ids = append(ids, span(m)...)
	}
	return ids
}

// casesIn returns the attacks that a line names, such as "security 2.5 #64, #65" or "2.15 SB1". A range names its ends alone.
func casesIn(line string) []string {
	if strings.Contains(line, "security 2.") {
		return numbered.FindAllString(line, -1)
	}
	return lettered.FindAllString(line, -1)
}

// span returns the ids of one match: a single one, or those of a range.
func span(m []string) []string {
	first, _ := strconv.Atoi(m[2])
	last := first
	if n, err := strconv.Atoi(m[3]); err == nil && n > first && n-first < widest {
		last = n
	}
	var ids []string
	for n := first; n <= last; n++ {
		ids = append(ids, m[1]+strconv.Itoa(n))
	}
	return ids
}
