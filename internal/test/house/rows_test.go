package house_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// provenRows are the rows of the requirements that this build answers for, as ranges. Rows of
// later work join when it lands.
var provenRows = []string{
	"1-71", "73-107", "109-113", "129", // A to G
	"152-153", "155-162", "164", "166", // K, L, M
	"171-172", "175", "177", // N
	"180-183", "185", "187-190", // O
}

// TestRowsAreNamed fails when a row has no test that names it: `grep -r R103` must find the proof.
func TestRowsAreNamed(t *testing.T) {
	named := namedRows(t)
	for _, r := range provenRows {
		first, last, ranged := strings.Cut(r, "-")
		if !ranged {
			last = first
		}
		lo, hi := number(t, first), number(t, last)
		for n := lo; n <= hi; n++ {
			if !named[n] {
				t.Errorf("no test names R%d", n)
			}
		}
	}
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// namedRows collects the R-numbers in the project's tests; "R98-R103" names all of them.
func namedRows(t *testing.T) map[int]bool {
	t.Helper()
	row := regexp.MustCompile(`\bR(\d{1,3})(?:-R?(\d{1,3}))?\b`)
	named := map[int]bool{}
	self := filepath.Join(module(t).Root, "internal", "house", "rows_test.go")
	err := filepath.WalkDir(module(t).Root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && d.Name() != "." || d.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, "_test.go") && !strings.HasSuffix(p, ".txtar") || p == self {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		for _, m := range row.FindAllStringSubmatch(string(text), -1) {
			lo := number(t, m[1])
			hi := lo
			if m[2] != "" {
				hi = number(t, m[2])
			}
			for n := lo; n <= hi && hi-lo < 20; n++ {
				named[n] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return named
}
