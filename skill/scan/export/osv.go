package export

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skill/scan/rule"
)

// advisoryRule is the rule of findings about packages that an advisory names.
const advisoryRule = "advisory"

// Bounds of a folder of advisories.
const (
	maxAdvisory = 16 << 20 // bytes of one record
	maxRecords  = 2_000_000
)

// advisory is a record in the form of OSV.
type advisory struct {
	ID        string `json:"id"`
	Summary   string `json:"summary"`
	Withdrawn string `json:"withdrawn"`
	Affected  []struct {
		Package struct {
			Ecosystem string `json:"ecosystem"`
			Name      string `json:"name"`
		} `json:"package"`
		Ranges []struct {
			Type   string              `json:"type"`
			Events []map[string]string `json:"events"`
		} `json:"ranges"`
		Versions []string `json:"versions"`
	} `json:"affected"`
	Specific struct {
		Severity string `json:"severity"`
	} `json:"database_specific"`
}

// Advise adds to reports what advisories say of the packages that the skills need. fsys has records of OSV: files that end in .json with
// one each, and .jsonl with one a line. A package without a version is in an advisory only if all versions are. It returns an error for a
// record that it cannot read.
func Advise(ctx context.Context, fsys fs.FS, reports ...*scan.Report) error {
	a := &adviser{packages: map[string][]needed{}}
	for _, r := range reports {
		for _, p := range packages(r) {
			key := packageKey(p.Registry, p.Name)
			a.packages[key] = append(a.packages[key], needed{p, r})
		}
	}
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return cmp.Or(err, ctx.Err())
		}
		end := strings.ToLower(path.Ext(name))
		if !d.Type().IsRegular() || end != ".json" && end != ".jsonl" {
			return nil
		}
		return a.file(fsys, name, end == ".jsonl")
	})
}

type needed struct {
	pinned
	report *scan.Report
}

type adviser struct {
	packages map[string][]needed
	records  int
}

// file reads the records of a file.
func (a *adviser) file(fsys fs.FS, name string, lines bool) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if !lines {
		text, err := io.ReadAll(io.LimitReader(f, maxAdvisory+1))
		if err == nil && len(text) > maxAdvisory {
			err = fmt.Errorf("it has more than %d bytes", maxAdvisory)
		}
		if err == nil {
			err = a.record(text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	s := bufio.NewScanner(f)
	s.Buffer(nil, maxAdvisory)
	for n := 1; s.Scan(); n++ {
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		if err := a.record(s.Bytes()); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (a *adviser) record(text []byte) error {
	if a.records++; a.records > maxRecords {
		return fmt.Errorf("there are more than %d advisories", maxRecords)
	}
	var one advisory
	if err := json.Unmarshal(text, &one); err != nil {
		return fmt.Errorf("this is no advisory: %w", err)
	}
	if one.ID == "" {
		return fmt.Errorf("this is no advisory: it has no id")
	}
	if one.Withdrawn != "" {
		return nil
	}
	for i := range one.Affected {
		of := &one.Affected[i]
		for _, p := range a.packages[packageKey(of.Package.Ecosystem, of.Package.Name)] {
			hit := p.Version != "" && slices.Contains(of.Versions, p.Version)
			for _, r := range of.Ranges {
				hit = hit || r.Type != "GIT" && inRange(p.Version, r.Events)
			}
			if hit {
				p.add(&one)
			}
		}
	}
	return nil
}

// add adds a finding to the report of a package, once.
func (p *needed) add(one *advisory) {
	what := strings.TrimSpace(p.Name + " " + p.Version)
	about := ""
	if one.Summary != "" {
		about = ": " + one.Summary
	}
	f := rule.Finding(advisoryRule, "packages", one.severity(), fmt.Sprintf("%s is in the advisory %s%s", what, one.ID, about), p.report, p.Fact, one.ID)
	if !slices.ContainsFunc(p.report.Findings, func(o scan.Finding) bool { return o.Fingerprint == f.Fingerprint }) {
		p.report.Findings = append(p.report.Findings, f)
	}
}

// severity returns how bad an advisory is: a package that is malicious itself is the worst.
func (a *advisory) severity() scan.Severity {
	if strings.HasPrefix(a.ID, "MAL-") {
		return scan.Critical
	}
	switch strings.ToUpper(a.Specific.Severity) {
	case "CRITICAL", "HIGH":
		return scan.High
	case "LOW":
		return scan.Low
	}
	return scan.Medium
}

// packageKey names a package in an ecosystem, however the two are written.
func packageKey(ecosystem, name string) string {
	ecosystem, _, _ = strings.Cut(strings.ToLower(ecosystem), ":")
	if ecosystem == "pypi" || ecosystem == "python" {
		return "pypi " + pypiName(name)
	}
	if ecosystem == "crates" || ecosystem == "cargo" {
		ecosystem = "crates.io"
	}
	return ecosystem + " " + name
}

// inRange reports whether a version is in a range, whose events are in order. "" is a version that is not known.
func inRange(version string, events []map[string]string) bool {
	in := false
	for _, event := range events {
		for kind, at := range event {
			switch {
			case kind == "introduced" && (at == "0" || version != "" && compareVersions(version, at) >= 0):
				in = true
			case kind == "fixed" && (version == "" || compareVersions(version, at) >= 0), kind == "last_affected" && (version == "" || compareVersions(version, at) > 0):
				in = false
			}
		}
	}
	return in
}

// compareVersions compares versions of any registry: numbers by their size, and what comes before a release, such as -beta, rc1 or .dev,
// before it. What comes after +, the build, does not count.
func compareVersions(a, b string) int {
	x, y := versionParts(a), versionParts(b)
	for i := range max(len(x), len(y)) {
		if c := comparePart(part(x, i), part(y, i)); c != 0 {
			return c
		}
	}
	return 0
}

// versionParts splits a version where its form changes: 1.2rc1 is 1, 2, rc, 1.
func versionParts(v string) []string {
	v, _, _ = strings.Cut(strings.TrimPrefix(strings.ToLower(v), "v"), "+")
	var out []string
	for _, field := range strings.FieldsFunc(v, func(r rune) bool { return r == '.' || r == '-' || r == '_' || r == '!' }) {
		from := 0
		for i := 1; i <= len(field); i++ {
			if i == len(field) || isDigit(field[i]) != isDigit(field[i-1]) {
				out, from = append(out, field[from:i]), i
			}
		}
	}
	return out
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// part returns a part of a version, "0" where it has ended.
func part(parts []string, i int) string {
	if i < len(parts) {
		return parts[i]
	}
	return "0"
}

func comparePart(a, b string) int {
	x, errA := strconv.ParseUint(a, 10, 63)
	y, errB := strconv.ParseUint(b, 10, 63)
	switch {
	case errA == nil && errB == nil:
		return cmp.Compare(x, y)
	case errA == nil:
		return -against(b, x)
	case errB == nil:
		return against(a, y)
	}
	return cmp.Or(cmp.Compare(order(a), order(b)), strings.Compare(a, b))
}

// against compares a word with a number: what comes after a release comes before the next one.
func against(word string, n uint64) int {
	if n > 0 {
		return -1
	}
	return order(word)
}

// order says where a word stands to the release: before it, or after it.
func order(word string) int {
	switch word {
	case "post", "rev", "r", "sp", "p", "pl", "final", "ga":
		return 1
	case "dev":
		return -2
	}
	return -1
}
