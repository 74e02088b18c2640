package rule_test

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skill/scan/rule"
)

// evasions are skills that hide what they do. Its first lines say how it is written.
//
//go:embed testdata/evasion.txtar
var evasions []byte

// Kinds of what must come out, in place of a rule.
const (
	notRead  = "unread"
	harmless = "harmless"
)

// missed are the cases of which the scan does not yet find what it must, by the reasons. A case that is found leaves this list.
var missed = map[string]string{
	"a secret in a file is medium": `held-aws held-private-key held-slack`,
}

// evasion is one case: a skill, and the rules one of which must find something in it at high.
type evasion struct {
	name  string
	rules []string
	fsys  fs.FS
}

// TestEvasion scans skills that hide what they do. Of each comes a finding at high, or a file that is said not to be read.
func TestEvasion(t *testing.T) {
	t.Parallel()
	cases := append(archived(t), made(t)...)
	names, why := map[string]bool{}, map[string]string{}
	for reason, list := range missed {
		for name := range strings.FieldsSeq(list) {
			why[name] = reason
		}
	}
	for _, c := range cases {
		if names[c.name] {
			t.Errorf("%s is there twice", c.name)
		}
		names[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := scan.Scan(t.Context(), c.fsys, &scan.Options{Python: python(t)})
			if err != nil {
				t.Fatal(err)
			}
			findings := rule.Builtin().Judge(r)
			switch ok := c.found(findings); {
			case !ok && why[c.name] == "":
				t.Errorf("want %s, got %s from\n%s", strings.Join(c.rules, " or "), shortly(findings), listed(r.Facts))
			case ok && why[c.name] != "":
				t.Errorf("it is found now: take it out of the list of what is missed (%s)", why[c.name])
			}
		})
	}
	for name := range why {
		if !names[name] {
			t.Errorf("there is no case %s", name)
		}
	}
}

// found reports whether what must come out is among the findings.
func (c *evasion) found(findings []scan.Finding) bool {
	high := func(f scan.Finding) bool { return f.Severity.AtLeast(scan.High) }
	if slices.Contains(c.rules, harmless) {
		return !slices.ContainsFunc(findings, high)
	}
	return slices.ContainsFunc(findings, func(f scan.Finding) bool {
		return slices.Contains(c.rules, f.Rule) && (high(f) || f.Rule == rule.Unread)
	})
}

// archived returns the cases of the archive.
func archived(t *testing.T) (out []evasion) {
	t.Helper()
	for _, f := range txtar.Parse(evasions).Files {
		head, name, _ := strings.Cut(f.Name, "/")
		id, rules, ok := strings.Cut(head, " ")
		if !ok || name == "" {
			t.Fatalf("%q is not CASE RULE/PATH", f.Name)
		}
		if n := len(out); n == 0 || out[n-1].name != id {
			out = append(out, skillOf(id, rules))
		}
		out[len(out)-1].fsys.(fstest.MapFS)[name] = &fstest.MapFile{Data: f.Data}
	}
	return out
}

// skillOf returns a case with a SKILL.md that names no file.
func skillOf(name, rules string) evasion {
	text := "---\nname: example\ndescription: Helps with examples. Use it for examples.\n---\nUse more.md and what is beside it.\n"
	return evasion{name, strings.Split(rules, "|"), fstest.MapFS{"SKILL.md": {Data: []byte(text)}}}
}

// python returns what starts Python for a scan.
func python(t *testing.T) func(ctx context.Context, program string, input []byte) ([]byte, error) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3, so a scan reads no Python")
	}
	return func(ctx context.Context, program string, input []byte) ([]byte, error) {
		c := exec.CommandContext(ctx, "python3", "-I", "-S", "-c", program)
		c.Stdin = bytes.NewReader(input)
		return c.Output()
	}
}

// shortly returns findings in one line.
func shortly(findings []scan.Finding) string {
	var out []string
	for _, f := range findings {
		out = append(out, f.Rule+" "+string(f.Severity)+" ("+f.Message+")")
	}
	return strings.Join(out, ", ")
}

// listed returns facts with their positions.
func listed(facts []scan.Fact) string {
	var b strings.Builder
	for i, f := range facts {
		fmt.Fprintf(&b, "%3d %s:%d %s %s %q %q maybe=%v from=%v\n", i, path.Base(f.Place.File), f.Place.Line, f.Kind, f.Object, f.Name, f.Detail, f.Maybe, f.From)
	}
	return b.String()
}

// TestBundledSkills scans the skills that come with the program. Nothing in them is more than low.
func TestBundledSkills(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob("../../../skills/core/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal(dirs, err)
	}
	for _, dir := range dirs {
		r, err := scan.Scan(t.Context(), os.DirFS(dir), &scan.Options{Python: python(t)})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range rule.Builtin().Judge(r) {
			if f.Severity != "low" {
				t.Errorf("%s: %s", filepath.Base(dir), shortly([]scan.Finding{f}))
			}
		}
	}
}
