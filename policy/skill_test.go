package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/policy"
)

const content = "sha256:0123456789012345678901234567890123456789012345678901234567890123"

// A skill is judged by its name, where it comes from, what is in it and who signed it. One that comes with the program is judged by its
// name alone.
func TestSkill(t *testing.T) {
	is := func(digest string) func() (string, error) { return func() (string, error) { return digest, nil } }
	acme := policy.Skill{Name: "pdf-tools", Source: "https://github.com/acme/skills", Digest: is(content)}
	folder := policy.Skill{Name: "pdf-tools", Source: "/srv/skills/pdf-tools", Digest: is("sha256:1")}
	bundled := policy.Skill{Name: "pdf-tools"}
	served := policy.Skill{Name: "docs:pdf-tools", Source: "mcp:docs/pdf-tools"}
	unreadable := policy.Skill{Name: "x", Source: "/x", Digest: func() (string, error) { return "", errors.New("too many files") }}
	for _, tt := range []struct {
		document string
		skill    policy.Skill
		why      string // "" if it is used
	}{
		{"skills: {deny: [pdf-*]}", acme, "the skills that pdf-* names are not used"},
		{"skills: {deny: [PDF_*]}", acme, "not used"},
		{"skills: {deny: [pdf-*]}", bundled, "not used"},
		{"skills: {deny: [pdf-*]}", served, "not used"},
		{"skills: {deny: [other]}", acme, ""},
		{"skills: {allow: [pdf-tools]}", acme, ""},
		{"skills: {allow: [pdf-tools]}", served, ""},
		{"skills: {allow: [other]}", acme, "only the skills that it lists are used"},
		{"skills: {allow: []}", bundled, "only the skills"},
		{"skills: {allow: ['*'], deny: [pdf-tools]}", acme, "not used"},
		{"skills: {sources: ['https://github.com/acme/*']}", acme, ""},
		{"skills: {sources: ['https://github.com/acme/skills.git']}", acme, ""},
		{"skills: {sources: ['https://github.com/*']}", acme, "only skills from the sources"},
		{"skills: {sources: ['https://github.com/acme/*']}", folder, "only skills from the sources"},
		{"skills: {sources: ['https://github.com/acme/*']}", bundled, ""},
		{"skills: {sources: ['/srv/skills/**']}", folder, ""},
		{"skills: {sources: ['mcp:docs/*']}", served, ""},
		{"skills: {sources: []}", served, "only skills from the sources"},
		{"skills: {digests: ['" + content + "']}", acme, ""},
		{"skills: {digests: ['" + content + "']}", folder, "this one has sha256:1"},
		{"skills: {digests: ['" + content + "']}", unreadable, "cannot be read: too many files"},
		{"skills: {signers: [/no/such.pem]}", acme, "only skills that one of those that it lists signed are used; /no/such.pem: "},
	} {
		p := organisation(t, tt.document)
		if !p.AsksAboutSkills() {
			t.Errorf("%s: it asks nothing", tt.document)
		}
		d := p.Skill(&tt.skill)
		if (d.Level == policy.Never) != (tt.why != "") || !strings.Contains(d.Why, tt.why) {
			t.Errorf("%s, %s: got %+v, want %q", tt.document, tt.skill.Source, d, tt.why)
		}
	}
	if p := organisation(t, "mode: ask"); p.AsksAboutSkills() || p.Skill(&unreadable).Level != policy.Free {
		t.Error("a document that says nothing of skills asks about one")
	}
}

// The certificates of signers are read from files that only root can change.
func TestSigners(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a file that only root can change")
	}
	dir, err := os.MkdirTemp("/root", "policy")
	if err != nil {
		t.Skipf("there is no folder that only root can change: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	file := filepath.Join(dir, "acme.pem")
	if err := os.WriteFile(file, []byte("certificates"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := organisation(t, "skills: {signers: ["+file+"]}")
	for _, signed := range []bool{true, false} {
		got := ""
		d := p.Skill(&policy.Skill{Name: "x", Source: "/x", Signed: func(c []byte) (bool, error) { got = string(c); return signed, nil }})
		if got != "certificates" || (d.Level == policy.Never) == signed {
			t.Errorf("signed %t: %+v with %q", signed, d, got)
		}
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	d := p.Skill(&policy.Skill{Name: "x", Source: "/x", Signed: func([]byte) (bool, error) { return true, nil }})
	if d.Level != policy.Never || !strings.Contains(d.Why, "can be changed by others than root") {
		t.Errorf("with a file that others can change: %+v", d)
	}
}
