package skill

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill/manifest"
)

// R128, security 2.14 #188: a skill that is not for who asks is not in the catalogue in any way, and its name is free.
func TestAudience(t *testing.T) {
	upper := disk(t, t.TempDir(), map[string]string{
		"everyone/SKILL.md": skillText("everyone", ""),
		"acme/SKILL.md":     skillText("acme", "scope: {tenants: [acme]}"),
		"both/SKILL.md":     skillText("both", "scope: {tenants: [acme, corp], environments: prod, agents: [coder]}"),
		"deploy/SKILL.md":   skillText("deploy", "scope: {tenants: [acme]}"),
		"odd/SKILL.md":      skillText("odd", "scope: [acme]"),
		"deep/SKILL.md":     skillText("deep", "scope: {tenants: [{id: acme}]}"),
		"map/SKILL.md":      skillText("map", "scope: {tenants: {id: acme}}"),
		"star/SKILL.md":     skillText("star", `scope: {tenants: ["*", "../acme", ""]}`),
		"twin/SKILL.md":     skillText("twin", "scope: {tenants: [\u0430cme]}"), // a Cyrillic letter
		"broken/SKILL.md":   "---\nname: [\n---\n",
	})
	lower := disk(t, t.TempDir(), map[string]string{"deploy/SKILL.md": skillText("deploy", "")})
	layers := []Layer{{Name: "enterprise", Source: Dir(upper, nil)}, {Name: "user", Source: Dir(lower, nil)}}
	for _, tt := range []struct {
		who  *Audience
		want string
	}{
		{nil, "acme both broken deep deploy/enterprise deploy/user everyone map odd star twin"},
		{&Audience{}, "deploy/user everyone"},
		{&Audience{Tenant: "acme"}, "acme deploy/enterprise deploy/user everyone"},
		{&Audience{Tenant: "acme", Agent: "coder", Environment: "prod"}, "acme both deploy/enterprise deploy/user everyone"},
		{&Audience{Tenant: "acme", Agent: "coder", Environment: "Prod"}, "acme deploy/enterprise deploy/user everyone"},
		{&Audience{Tenant: "corp", Agent: "coder", Environment: "prod"}, "both deploy/user everyone"},
		{&Audience{Tenant: "*"}, "deploy/user everyone star"},
		{&Audience{Tenant: "../acme"}, "deploy/user everyone star"},
		{&Audience{Tenant: "acme\n"}, "deploy/user everyone"},
		{&Audience{Tenant: "ACME"}, "deploy/user everyone"},
	} {
		c := opened(t, &Options{Layers: layers, Audience: tt.who})
		var got []string
		for e := range c.All() {
			name := e.Canonical()
			if name == "deploy" {
				name += "/" + e.Layer()
			}
			got = append(got, name)
			for _, s := range e.Shadows() {
				got = append(got, s.Canonical()+"/"+s.Layer())
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%+v sees %q, want %q", tt.who, got, tt.want)
		}
	}
	c := opened(t, &Options{Layers: layers, Audience: &Audience{Tenant: "corp"}})
	_, hidden := c.Lookup("acme")
	_, absent := c.Lookup("acmf")
	var a, b *NotFoundError
	if !errors.As(hidden, &a) || !errors.As(absent, &b) || len(a.Suggest) > 0 || strings.ReplaceAll(a.Error(), "acme", "acmf") != b.Error() {
		t.Errorf("a hidden skill differs from an absent one: %v, %v", hidden, absent)
	}
	for _, p := range c.Problems() {
		if strings.Contains(p.Message+p.Skill+p.File, "acme") {
			t.Errorf("a problem names a hidden skill: %v", p)
		}
	}
	if (&Audience{}).Admits(manifest.Scope{Unclear: true}) || !(&Audience{}).Admits(manifest.Scope{}) {
		t.Error("an unclear scope admits somebody")
	}
}
