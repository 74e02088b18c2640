package check

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill/manifest"
)

// specEdge is one input with the verdict of the reference library of the open standard.
type specEdge struct {
	Case, Dir, File, Raw string
	Validate             json.RawMessage // a list of messages, or the text of a crash
	Read                 json.RawMessage // what it read, or an error
}

// deviations are the inputs where the profile "spec" deliberately differs from the reference
// library: want is what it answers instead ("" accepts), why the reason.
var deviations = map[string]struct{ want, why string }{
	"close-not-own-line":         {"frontmatter-unclosed", "a delimiter is a line; text behind it belongs to neither side"},
	"four-dashes":                {"frontmatter-missing", "---- is not a delimiter; the library refuses it too, as YAML"},
	"open-yaml-suffix":           {"frontmatter-missing", "---yaml is not a delimiter; the library refuses it too, as YAML"},
	"close-dots":                 {"frontmatter-unclosed", "the same verdict under our code"},
	"triple-dash-in-desc":        {"", "a delimiter is a line: the library cuts the description at the dashes"},
	"triple-dash-in-quoted-desc": {"", "a delimiter is a line: the library cuts the quoted text open"},
	"triple-dash-in-name-line":   {"name-double", "a delimiter is a line: the library cuts the name, and misses the hyphens"},
	"flow-list-tools":            {"", "the standard says YAML: flow style is YAML"},
	"flow-empty-list":            {"", "flow style is YAML"},
	"flow-map-metadata":          {"", "flow style is YAML"},
	"json-metadata":              {"", "flow style is YAML; the nested value is kept as JSON with a warning"},
	"claude-fields":              {"fields-unexpected", "flow style is YAML; the two fields are still outside the standard"},
	"scalar-metadata":            {"field-type", "metadata is a map of texts"},
	"seq-metadata":               {"field-type", "metadata is a map of texts"},
	"compat-empty":               {"compatibility-empty", "1 to 500 characters, when it is there"},
	"license-list":               {"field-type", "license is a text"},
	"uppercase-key":              {"fields-unexpected", "keys are read as meant to find other faults; still refused"},
	"nul":                        {"file-nul", "the library crashes; a clear error with line and column instead"},
	"control":                    {"frontmatter-control", "the library crashes; a clear error with line and column instead"},
}

// category returns the codes for a message of the library: one of them must be among ours.
func category(message string) []string {
	for _, c := range []struct {
		part  string
		codes string
	}{
		{"must start with YAML", "frontmatter-missing frontmatter-bom frontmatter-leading frontmatter-preamble"},
		{"not properly closed", "frontmatter-unclosed"},
		{"must be a YAML mapping", "frontmatter-mapping"},
		{"Invalid YAML", "yaml-syntax yaml-colon yaml-start yaml-raw yaml-anchor yaml-tag field-duplicate"},
		{"Unexpected fields", "fields-unexpected"},
		{"Missing required field", "fields-missing"},
		{"must be a non-empty string", "fields-missing field-type"},
		{"Missing required file", "file-missing"},
		{"Skill name", "name-length name-case name-edge name-double name-invalid name-underscore"},
		{"exceeds 64", "name-length"},
		{"must be lowercase", "name-case"},
		{"start or end with a hyphen", "name-edge"},
		{"consecutive hyphens", "name-double"},
		{"invalid characters", "name-invalid name-underscore"},
		{"must match skill name", "name-directory"},
		{"Description exceeds", "description-length"},
		{"Compatibility exceeds", "compatibility-length"},
		{"'compatibility' must be a string", "field-type"},
	} {
		if strings.Contains(message, c.part) && (c.part != "Skill name" || !containsAny(message, "exceeds 64", "must be lowercase", "start or end", "consecutive", "invalid characters")) {
			return strings.Fields(c.codes)
		}
	}
	return nil
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

func TestSpecEdge(t *testing.T) { // C4, C39, R12, R13, R18, R19, R24
	text, err := os.ReadFile("testdata/spec_edge.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []specEdge
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 130 {
		t.Fatalf("%d cases, want 130", len(rows))
	}
	used := 0
	for _, row := range rows {
		t.Run(row.Case, func(t *testing.T) {
			fsys := fstest.MapFS{row.File: {Data: []byte(row.Raw)}}
			m, problems := Folder(fsys, row.Dir, &Options{Profile: &manifest.Profile{Name: "spec"}})
			got := errorCodes(problems)
			if d, ok := deviations[row.Case]; ok {
				used++
				if d.want == "" && len(got) > 0 || d.want != "" && !slices.Contains(got, d.want) {
					t.Errorf("got %v, want %q: %s", got, d.want, d.why)
				}
				return
			}
			compareVerdict(t, row, got)
			compareRead(t, row, m)
		})
	}
	if used != len(deviations) {
		t.Errorf("%d of %d deviations are used", used, len(deviations))
	}
}

func compareVerdict(t *testing.T, row specEdge, got []string) {
	var messages []string
	if err := json.Unmarshal(row.Validate, &messages); err != nil {
		t.Fatalf("the library crashes, and no deviation says why: %s", row.Validate)
	}
	if (len(messages) == 0) != (len(got) == 0) {
		t.Fatalf("got %v, the library says %q", got, messages)
	}
	var explained []string
	early := false // the library says nothing more
	for _, msg := range messages {
		early = early || strings.Contains(msg, "Invalid YAML")
		codes := category(msg)
		if !containsCode(got, codes) {
			t.Errorf("got %v, want one of %v for %q", got, codes, msg)
		}
		explained = append(explained, codes...)
	}
	for _, code := range got {
		if !early && !slices.Contains(explained, code) {
			t.Errorf("%s has no counterpart in %q", code, messages)
		}
	}
}

// compareRead holds name and description against what the library reads.
func compareRead(t *testing.T, row specEdge, m *manifest.Manifest) {
	var read struct{ Name, Description string }
	var messages []string
	if json.Unmarshal(row.Validate, &messages) != nil || len(messages) > 0 || json.Unmarshal(row.Read, &read) != nil {
		return
	}
	if m.Name != read.Name || m.Description != read.Description {
		t.Errorf("got %q, %q, want %q, %q", m.Name, m.Description, read.Name, read.Description)
	}
}

func containsCode(got, codes []string) bool {
	return slices.ContainsFunc(codes, func(c string) bool { return slices.Contains(got, c) })
}

func errorCodes(problems []manifest.Problem) []string {
	var out []string
	for _, p := range problems {
		if p.Severity == manifest.SeverityError {
			out = append(out, p.Code)
		}
	}
	return out
}
