package rule_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skill/scan/rule"
)

// script is a place in a script.
var script = scan.Place{File: "scripts/a.sh", Line: 3}

func TestJudge(t *testing.T) {
	download := scan.Fact{Kind: "sends", Object: "host", Name: "203.0.113.9", Detail: "http://203.0.113.9/x", Place: script}
	install := scan.Fact{Kind: "sends", Object: "host", Name: "get.example.net", Detail: "https://get.example.net/x", Place: script}
	decode := scan.Fact{Kind: "decodes", Object: "encoding", Name: "base64", Place: script, From: []int{0}}
	run := scan.Fact{Kind: "runs", Object: "code", Place: script, From: []int{0}}
	change := func(f scan.Fact, change func(*scan.Fact)) scan.Fact { change(&f); return f }
	for _, test := range []struct {
		name  string
		facts []scan.Fact
		want  []string
	}{
		{"a machine without a name", []scan.Fact{download, run}, []string{"fetch-run critical"}},
		{"a named host", []scan.Fact{install, run}, []string{"fetch-run medium"}},
		{"without a check of the host", []scan.Fact{change(install, func(f *scan.Fact) { f.From = []int{2} }), run, {Kind: "runs", Object: "program", Name: "curl", Detail: "curl -sk https://get.example.net/x", Place: script}}, []string{"fetch-run high"}},
		{"a hidden file", []scan.Fact{install, {Kind: "writes", Object: "file", Name: "/tmp/.x", Place: script, From: []int{0}}, change(run, func(f *scan.Fact) { f.From = []int{1} })}, []string{"fetch-run high"}},
		{"a secret for its own service", []scan.Fact{{Kind: "reads", Object: "variable", Name: "GEMINI_API_KEY", Place: script}, {Kind: "sends", Object: "host", Name: "x.googleapis.com", Detail: "https://x.googleapis.com/", Place: script, From: []int{0}}}, nil},
		{"a secret for another", []scan.Fact{{Kind: "reads", Object: "variable", Name: "GEMINI_API_KEY", Place: script}, {Kind: "sends", Object: "host", Name: "x.example.net", Detail: "https://x.example.net/", Place: script, From: []int{0}}}, []string{"token-sent high"}},
		{"decoded on the way", []scan.Fact{install, decode, change(run, func(f *scan.Fact) { f.From = []int{1} })}, []string{"fetch-run critical", "decode-run high"}},
		{"decoded elsewhere", []scan.Fact{install, change(decode, func(f *scan.Fact) { f.From = nil }), run}, []string{"fetch-run medium"}},
		{"a guess", []scan.Fact{download, change(run, func(f *scan.Fact) { f.Maybe = true })}, []string{"fetch-run medium"}},
		{"an example", []scan.Fact{download, change(run, func(f *scan.Fact) { f.Role = "example" })}, []string{"fetch-run high example"}},
		{"this machine", []scan.Fact{change(download, func(f *scan.Fact) { f.Name = "127.0.0.1" }), run}, nil},
		{"nothing reaches it", []scan.Fact{download, change(run, func(f *scan.Fact) { f.From = nil })}, nil},
		{"a circle", []scan.Fact{change(download, func(f *scan.Fact) { f.From = []int{1} }), run}, []string{"fetch-run critical", "backdoor-commands critical"}},
		{"the same twice", []scan.Fact{download, run, change(run, func(f *scan.Fact) { f.Place.Line = 9 })}, []string{"fetch-run critical"}},
	} {
		var got []string
		for _, f := range rule.Builtin().Judge(&scan.Report{Facts: test.facts, Files: []scan.File{{Path: script.File, Digest: "sha256:00"}}}) {
			line := f.Rule + " " + string(f.Severity)
			if f.Role != "" {
				line += " " + string(f.Role)
			}
			got = append(got, line)
			if f.Digest != "sha256:00" {
				t.Errorf("%s: the digest is %q", test.name, f.Digest)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}
