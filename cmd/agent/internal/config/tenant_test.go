package config

import (
	"path/filepath"
	"strings"
	"testing"
)

// security 2.14 #188: what is kept for a tenant has a folder of its own. A name that is no name is nobody's: there is no folder,
// and nothing is taken for that of no tenant.
func TestTenant(t *testing.T) {
	load := func(name *string, file string) (c *Config, kept string) {
		w := newWorld(t)
		if name != nil {
			w.env["AGENT_TENANT"] = *name
		}
		w.user(file)
		o := w.options()
		o.Cache = filepath.Join(w.home, ".agent", "cache")
		c, _ = Load(o)
		p := c.Paths
		return c, filepath.ToSlash(w.tidy(strings.Join([]string{p.State(), p.Trust(), p.Audit(), p.Homes(), p.Cache}, " ")))
	}
	below := func(dir string) string {
		return strings.ReplaceAll("DIR DIR/trust.json DIR/audit DIR/homes DIR/cache", "DIR", dir)
	}

	if c, kept := load(nil, ""); kept != below("HOME/.agent") || c.Nobody != nil {
		t.Errorf("no tenant: %s, %v", kept, c.Nobody)
	}
	for _, name := range []string{"acme", "a", "7", "a..b", "acme-2_x.example", strings.Repeat("a", 64)} {
		want := below("HOME/.agent/tenants/" + name)
		if c, kept := load(&name, "skills:\n  tenant: other\n"); kept != want || c.Tenant != name || c.Nobody != nil {
			t.Errorf("%s: %s, %v", name, kept, c.Nobody)
		}
		if c, kept := load(nil, "skills:\n  tenant: "+name+"\n"); kept != want || c.Tenant != name || c.Nobody != nil {
			t.Errorf("%s in the file: %s, %v", name, kept, c.Nobody)
		}
	}
	for _, name := range []string{"", "..", "../b", "a/../b", "a/b", `a\b`, "/etc", "~", "*", "ac*", "ACME", "\u0430cme", "acm\u00e9", "a b", "a\nb",
		"a\x00b", ".acme", "acme.", "-x", "x-", "con:", "%2e%2e", strings.Repeat("a", 65)} {
		if c, kept := load(&name, "skills:\n  tenant: other\n"); strings.TrimSpace(kept) != "" || c.Tenant != "" || c.Nobody == nil || !c.Scoped() {
			t.Errorf("%q: kept in %s, tenant %q, %v", name, kept, c.Tenant, c.Nobody)
		}
	}
	if c, kept := load(nil, "skills:\n  tenant: [a, b]\n"); strings.TrimSpace(kept) != "" || c.Nobody == nil {
		t.Errorf("a list: kept in %s, %v", kept, c.Nobody)
	}
}
