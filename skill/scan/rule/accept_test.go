package rule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skill/scan/rule"
)

func TestAccept(t *testing.T) {
	day := time.Date(2030, 6, 30, 0, 0, 0, 0, time.UTC)
	found := scan.Finding{Rule: "fetch-run", Place: script, Fingerprint: "0123456789abcdef", Digest: "sha256:" + strings.Repeat("a", 64)}
	a, err := rule.Accepting(&found, "one", " it's \"ours\" ", day)
	if err != nil {
		t.Fatal(err)
	}
	list, err := rule.Acceptances([]byte("accepted:\n"+a.Text()), "accepted.yaml", "you")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		change  func(*scan.Finding)
		now     time.Time
		want    string
		expired int
	}{
		{"the same", func(*scan.Finding) {}, day, `by you until 2030-06-30: it's "ours"`, 0},
		{"on another line", func(f *scan.Finding) { f.Place.Line = 99 }, day, `by you until 2030-06-30: it's "ours"`, 0},
		{"a day later", func(*scan.Finding) {}, day.AddDate(0, 0, 1), "", 1},
		{"another content", func(f *scan.Finding) { f.Digest = "sha256:" + strings.Repeat("b", 64) }, day, "", 0},
		{"another file", func(f *scan.Finding) { f.Place.File = "b.sh" }, day, "", 0},
		{"another rule", func(f *scan.Finding) { f.Rule = "other" }, day, "", 0},
		{"other facts", func(f *scan.Finding) { f.Fingerprint = "fedcba9876543210" }, day, "", 0},
		{"no content", func(f *scan.Finding) { f.Digest = "" }, day, "", 0},
	} {
		one := found
		test.change(&one)
		findings := []scan.Finding{one}
		if expired := rule.Accept(findings, list, test.now); findings[0].Accepted != test.want || len(expired) != test.expired {
			t.Errorf("%s: %q, %q", test.name, findings[0].Accepted, expired)
		}
	}
	for _, test := range []struct{ old, replacement, want string }{
		{"2030-06-30", "soon", "until is a day"},
		{"sha256:", "md5:", "hexadecimal digits"},
		{"0123456789abcdef", "1", "a fingerprint of 16 digits"},
		{"rule:", "ruel:", `unknown key "ruel"`},
		{`"ours\" "`, "", ""},
	} {
		text := strings.Replace("accepted:\n"+a.Text(), test.old, test.replacement, 1)
		if _, err := rule.Acceptances([]byte(text), "accepted.yaml", "you"); test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("with %q: %v, want %q", test.replacement, err, test.want)
		}
	}
	for name, f := range map[string]scan.Finding{"no digest": {Rule: "a", Place: script, Fingerprint: "0123456789abcdef"}} {
		if _, err := rule.Accepting(&f, "one", "because", day); err == nil {
			t.Errorf("%s: it is accepted", name)
		}
	}
	if _, err := rule.Accepting(&found, "one", "  ", day); err == nil {
		t.Error("it is accepted without a reason")
	}
}

// FuzzAcceptances holds that any text gives acceptances that can be written, or an error.
func FuzzAcceptances(f *testing.F) {
	f.Add("accepted:\n  - rule: a\n    until: 2030-01-01\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := rule.Acceptances([]byte(text), "accepted.yaml", "you")
		if err != nil {
			return
		}
		for _, a := range list {
			if _, err := rule.Acceptances([]byte("accepted:\n"+a.Text()), "again.yaml", "you"); err != nil {
				t.Errorf("%q is written as %q: %v", text, a.Text(), err)
			}
		}
	})
}
