package export_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skill/scan/export"
	"github.com/agent-base/agent-base/skill/scan/rule"
)

var tool = export.Tool{Name: "agent", Version: "1.2.3"}

// found are two skills with all that a finding can have.
func found() []export.Skill {
	place := scan.Place{File: "scripts/a b.sh", Line: 3}
	return []export.Skill{{Name: "one", Path: "skills/one", Report: &scan.Report{
		Facts: []scan.Fact{{Kind: "needs", Object: "package", Name: "Requests_Cache", Detail: "pypi Requests_Cache==1.2.0", Place: place},
			{Kind: "needs", Object: "package", Name: "@scope/left", Detail: "npm @scope/left@^2.0.0", Place: place},
			{Kind: "needs", Object: "package", Name: "requests-cache", Detail: "pypi requests-cache[redis]==1.2.0", Place: place}},
		Findings: []scan.Finding{
			{Rule: "fetch-run", Class: "fetch-run", Severity: scan.Critical, Message: "it runs it", Place: place, Digest: "sha256:00", Fingerprint: "0123456789abcdef"},
			{Rule: "unread", Class: "opaque", Severity: scan.Medium, Message: "it was not read", Place: scan.Place{File: "a.zip", Inside: []string{"b.bin"}, Line: 2}, Fingerprint: "1"},
			{Rule: "mine", Severity: scan.Low, Message: "seen", Role: "example", Place: scan.Place{File: "SKILL.md"}, Fingerprint: "2", Accepted: "by me"},
		}}}, {Name: "two", Path: "/home/me/two", Report: &scan.Report{Findings: []scan.Finding{{Rule: "mine", Severity: scan.High, Message: "seen", Place: scan.Place{File: "SKILL.md"}}}}}}
}

// tree returns a document as encoding/json reads it again.
func tree(t *testing.T, v any) map[string]any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// at returns what a path of keys and positions leads to.
func at(t *testing.T, v any, path string) any {
	t.Helper()
	for _, key := range strings.Fields(path) {
		switch of := v.(type) {
		case map[string]any:
			v = of[key]
		case []any:
			i := int(key[0] - '0')
			if i >= len(of) {
				return nil
			}
			v = of[i]
		}
	}
	return v
}

// The structure is that which the OASIS schema of SARIF 2.1.0 requires.
func TestSARIF(t *testing.T) {
	got := tree(t, export.SARIF(tool, rule.Builtin(), found()))
	rules := at(t, got, "runs 0 tool driver rules").([]any)
	for path, want := range map[string]any{
		"version":                 "2.1.0",
		"runs 0 tool driver name": "agent",
		"runs 0 columnKind":       "unicodeCodePoints",
		"runs 0 invocations 0 executionSuccessful":                           false,
		"runs 0 invocations 0 toolExecutionNotifications 0 message text":     "it was not read",
		"runs 0 results 0 level":                                             "error",
		"runs 0 results 0 message text":                                      "it runs it",
		"runs 0 results 0 partialFingerprints agentSkillScan/v1":             "0123456789abcdef",
		"runs 0 results 0 properties security-severity":                      "9.5",
		"runs 0 results 0 locations 0 physicalLocation artifactLocation uri": "skills/one/scripts/a%20b.sh",
		"runs 0 results 0 locations 0 physicalLocation region startLine":     3.0,
		"runs 0 results 0 suppressions":                                      nil,
		"runs 0 results 1 locations 0 physicalLocation artifactLocation uri": "skills/one/a.zip!b.bin",
		"runs 0 results 1 locations 0 physicalLocation region":               nil,
		"runs 0 results 2 suppressions 0 kind":                               "external",
		"runs 0 results 2 suppressions 0 justification":                      "by me",
		"runs 0 results 2 properties role":                                   "example",
		"runs 0 results 3 locations 0 physicalLocation artifactLocation uri": "two/SKILL.md",
	} {
		if diff := cmp.Diff(want, at(t, got, path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	for _, r := range at(t, got, "runs 0 results").([]any) {
		i := int(at(t, r, "ruleIndex").(float64))
		if at(t, rules[i], "id") != at(t, r, "ruleId") {
			t.Errorf("the result %v has the index of another rule", r)
		}
		uri := at(t, r, "locations 0 physicalLocation artifactLocation uri").(string)
		if u, err := url.Parse(uri); err != nil || u.IsAbs() || strings.HasPrefix(u.Path, "/") {
			t.Errorf("%q is no relative address: %v", uri, err)
		}
		if line, ok := at(t, r, "locations 0 physicalLocation region startLine").(float64); ok && line < 1 {
			t.Errorf("the result %v is in line %v", r, line)
		}
	}
	ids := map[any]bool{}
	for _, r := range rules {
		if ids[at(t, r, "id")] {
			t.Errorf("the rule %v is there twice", r)
		}
		ids[at(t, r, "id")] = true
		if at(t, r, "shortDescription text") == "" || at(t, r, "defaultConfiguration level") == nil || at(t, r, "properties security-severity") == nil {
			t.Errorf("the rule %v is not whole", r)
		}
	}
	if empty := tree(t, export.SARIF(tool, rule.Builtin(), nil)); at(t, empty, "runs 0 results") == nil {
		t.Error("without findings there is no list of results")
	}
}

func TestCycloneDX(t *testing.T) {
	got := tree(t, export.CycloneDX(tool, time.Unix(0, 0), found()))
	for path, want := range map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1.0, "metadata timestamp": "1970-01-01T00:00:00Z",
		"components 0 name": "one", "components 0 type": "application",
		"components 1 purl": "pkg:npm/%40scope/left", "components 1 version": nil,
		"components 2 purl": "pkg:pypi/requests-cache@1.2.0", "components 2 version": "1.2.0",
		"dependencies 0 dependsOn 0": "pkg:npm/%40scope/left", "dependencies 1 ref": "skill-2",
	} {
		if diff := cmp.Diff(want, at(t, got, path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	if serial := got["serialNumber"].(string); !strings.HasPrefix(serial, "urn:uuid:") || len(serial) != 45 {
		t.Errorf("the serial number is %q", serial)
	}
}

func TestAdvise(t *testing.T) {
	record := func(id, ecosystem, name, more string) string {
		return `{"id":"` + id + `","summary":"bad","affected":[{"package":{"ecosystem":"` + ecosystem + `","name":"` + name + `"},` + more + `}]}`
	}
	events := func(list string) string { return `"ranges":[{"type":"ECOSYSTEM","events":[` + list + `]}]` }
	for _, test := range []struct{ name, record, want string }{
		{"below the fix", record("A", "PyPI", "requests-cache", events(`{"introduced":"0"},{"fixed":"1.2.1"}`)), "medium A"},
		{"at the fix", record("A", "PyPI", "requests-cache", events(`{"introduced":"0"},{"fixed":"1.2.0"}`)), ""},
		{"again affected", record("A", "PyPI", "requests-cache", events(`{"introduced":"0"},{"fixed":"1.0"},{"introduced":"1.1"}`)), "medium A"},
		{"before a later one", record("A", "PyPI", "requests-cache", events(`{"introduced":"2.0"}`)), ""},
		{"the last one", record("A", "PyPI", "requests-cache", events(`{"introduced":"1.0"},{"last_affected":"1.2.0"}`)), "medium A"},
		{"by its version", record("A", "PyPI", "Requests.Cache", `"versions":["1.2.0"]`), "medium A"},
		{"malicious", record("MAL-1", "npm", "@scope/left", events(`{"introduced":"0"}`)), "critical MAL-1"},
		{"not pinned", record("A", "npm", "@scope/left", events(`{"introduced":"0"},{"fixed":"9.0.0"}`)), ""},
		{"another registry", record("A", "npm", "requests-cache", events(`{"introduced":"0"}`)), ""},
		{"commits", record("A", "PyPI", "requests-cache", `"ranges":[{"type":"GIT","events":[{"introduced":"0"}]}]`), ""},
		{"withdrawn", strings.Replace(record("A", "PyPI", "requests-cache", events(`{"introduced":"0"}`)), `{"id"`, `{"withdrawn":"2030-01-01","id"`, 1), ""},
		{"severe", strings.Replace(record("A", "PyPI", "requests-cache", events(`{"introduced":"0"}`)), `{"id"`, `{"database_specific":{"severity":"HIGH"},"id"`, 1), "high A"},
	} {
		for file, text := range map[string]string{"a/b.json": test.record, "c.jsonl": "\n" + test.record + "\n"} {
			r := found()[0].Report
			r.Findings = nil
			if err := export.Advise(t.Context(), fstest.MapFS{file: {Data: []byte(text)}, "readme.md": {}}, r); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range r.Findings {
				got = append(got, string(f.Severity)+" "+strings.Fields(f.Message[strings.Index(f.Message, "advisory ")+9:])[0])
			}
			if strings.TrimSuffix(strings.Join(got, ","), ":") != test.want {
				t.Errorf("%s, %s: %q, want %q", test.name, file, got, test.want)
			}
		}
	}
	for _, text := range []string{"{", `{"summary":"no id"}`, "[]"} {
		if err := export.Advise(t.Context(), fstest.MapFS{"a.json": {Data: []byte(text)}}); err == nil || !strings.Contains(err.Error(), "a.json: this is no advisory") {
			t.Errorf("Advise of %q: %v", text, err)
		}
	}
}
