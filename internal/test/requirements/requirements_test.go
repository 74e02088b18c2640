package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../../.."

func load(t *testing.T, p *page) ([]section, proofs) {
	t.Helper()
	sections, ps, err := p.load(root)
	if err != nil {
		t.Fatal(err)
	}
	return sections, ps
}

// Every row exists once, and a test names every row that claims to work.
func TestRowsAreProven(t *testing.T) {
	sections, ps := load(t, &requirements)
	seen := map[string]bool{}
	for _, s := range sections {
		for _, r := range s.rows {
			seen[r.id] = true
			if r.proven() && len(ps[r.id]) == 0 {
				t.Errorf("%s is %s, and no test names it", r.id, r.status)
			}
			if r.status == "partly" && r.note == "" {
				t.Errorf("%s is partly built, and no note says what is missing", r.id)
			}
			if r.proven() || r.proof.text != "" {
				checkQuote(t, &r, ps)
			}
			if r.text == "" || strings.HasPrefix(r.id, "R") && r.status == "" {
				t.Errorf("%s has no text or no status", r.id)
			}
		}
	}
	for n := 1; n <= 191; n++ {
		if id := fmt.Sprint("R", n); !seen[id] {
			t.Errorf("%s is missing in %s", id, requirements.source)
		}
	}
	for n := 1; n <= 73; n++ {
		if id := fmt.Sprint("C", n); !seen[id] {
			t.Errorf("%s is missing in %s", id, requirements.source)
		}
	}
	for id, tests := range ps {
		if !seen[id] {
			t.Errorf("%s is named by %s, and %s does not have it", id, tests[0], requirements.source)
		}
	}
}

// checkQuote fails unless a row quotes a line of a test that names it.
func checkQuote(t *testing.T, r *row, ps proofs) {
	t.Helper()
	if r.proof.text == "" {
		t.Errorf("%s quotes no line of a test as its proof", r.id)
		return
	}
	if !slices.Contains(ps[r.id], r.proof.where) {
		t.Errorf("%s is proven by %s, which does not name it", r.id, r.proof.where)
	}
	if ok, err := r.proof.stands(root); err != nil || !ok {
		t.Errorf("%s: %s has no line with %q (%v)", r.id, r.proof.where, r.proof.text, err)
	}
}

// A test names each case, but for the few that say why none can. One for tiers A and B is in the sandbox's own tests.
func TestAttacksAreTested(t *testing.T) {
	sections, ps := load(t, &attacks)
	seen := map[string]bool{}
	for _, s := range sections {
		for _, r := range s.rows {
			seen[r.id] = true
			tests := ps[r.id]
			switch {
			case r.text == "":
				t.Errorf("%s has no text", r.id)
			case r.status == "untested" && (r.note == "" || len(tests) > 0):
				t.Errorf("%s is untested: note %q, tests %q", r.id, r.note, tests)
			case r.status != "untested" && len(tests) == 0:
				t.Errorf("no test names %s", r.id)
			case r.status == "tiers" && !slices.ContainsFunc(tests, func(test string) bool { return strings.HasPrefix(test, "script/confine/") }):
				t.Errorf("no test of script/confine names %s", r.id)
			}
		}
	}
	for id, tests := range ps {
		if !seen[id] && !strings.HasPrefix(id, "#") { // other sections have numbers too
			t.Errorf("%s is named by %s, and %s does not have it", id, tests[0], attacks.source)
		}
	}
}

func TestPagesAreCurrent(t *testing.T) {
	for _, p := range pages {
		sections, ps := load(t, p)
		got, err := os.ReadFile(filepath.Join(root, p.file))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != p.markdown(sections, ps) {
			t.Errorf("%s is not current: run go generate ./...", p.file)
		}
	}
}

func TestParse(t *testing.T) {
	got, err := requirements.parse("# comment\n== A\n\nR1 built\nDoes x.\nnote: Not y.\nproof: a/b_test.go: TestX: if x: y\n\nC2\nSettled.\nproof: a/s.txtar: exec x: y\n")
	if err != nil || fmt.Sprint(got) != "[{A [{R1 built Does x. Not y. {a/b_test.go: TestX if x: y}} {C2  Settled.  {a/s.txtar exec x: y}}]}]" {
		t.Errorf("parse = %v, %v", got, err)
	}
	for src, want := range map[string]string{
		"== A\nR1 built\nx\n\nR1 built\ny\n":  "line 5: R1 is defined twice",
		"R1 built\n":                          "line 1: text outside a row",
		"== A\nR1 done\n":                     "line 2: text outside a row",
		"== A\nR1 built\nx\ny\n":              "line 4: R1 has more than one line",
		"== A\nR1 built\nx\nproof: a.go: y\n": "line 4: the proof of R1 is not",
	} {
		if _, err := requirements.parse(src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parse(%q) = %v, want %q", src, err, want)
		}
	}
}

func TestProofs(t *testing.T) {
	ps := proofs{}
	ps.add("a/b_test.go", "package b\n\n// R1, C2\nfunc TestX(t *testing.T) {\n\tx() // R3-R5\n}\n\nvar y = 1 // R6\n", rowsIn)
	ps.add("s.txtar", "# R7-9 and R10-R99\n", rowsIn)
	for id, want := range map[string]string{
		"R1": "[a/b_test.go: TestX]", "C2": "[a/b_test.go: TestX]", "R4": "[a/b_test.go: TestX]", "R6": "[a/b_test.go]",
		"R8": "[s.txtar]", "R10": "[s.txtar]", "R50": "[]",
	} {
		if got := fmt.Sprint(ps[id]); got != want {
			t.Errorf("proofs of %s = %s, want %s", id, got, want)
		}
	}
}

func TestQuotes(t *testing.T) {
	root := t.TempDir()
	text := "package b\n\n// R1 if x != 1\nfunc TestX(t *testing.T) {\n\tif x != 1 {\n\t}\n}\n\nfunc TestY(t *testing.T) {\n\tif y != 1 {}\n}\n"
	for name, content := range map[string]string{"b_test.go": text, "s.txtar": "# R1 stdout x\nexec a\nstdout b\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for q, want := range map[quote]bool{
		{"b_test.go: TestX", "if x != 1"}: true, {"b_test.go: TestX", "if y != 1"}: false, {"b_test.go: TestX", "R1 if x"}: false,
		{"s.txtar", "stdout b"}: true, {"s.txtar", "stdout x"}: false, {"gone_test.go: TestX", "if x"}: false,
	} {
		if got, _ := q.stands(root); got != want {
			t.Errorf("%v stands: %t, want %t", q, got, want)
		}
	}
}

func TestCases(t *testing.T) {
	for line, want := range map[string]string{
		"// C7, security 2.5 #64, #65, 2.15 SB1: x": "[#64 #65 SB1]",
		"// UV1: nothing runs":                      "[UV1]",
		"func TestUV1(t *testing.T) { // #12":       "[]",
	} {
		if got := fmt.Sprint(casesIn(line)); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}
