package config

import (
	"fmt"
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

// The table of tenants is read whole, or it is known that it was not: nobody may then be served.
func TestServeTenants(t *testing.T) {
	for _, tt := range []struct {
		name, env, file, want string
		wrong                 bool
	}{
		{"none", "", "", "map[]", false},
		{"a map", "", "serve:\n  tenants:\n    ada: acme\n    oauth:7=: corp\n    claim:org=acme=x: acme\n", "map[ada:acme claim:org=acme=x:acme oauth:7=:corp]", false},
		{"the environment", "ada=acme, claim:org=x=corp", "serve: {tenants: {bob: acme}}\n", "map[ada:acme claim:org=x:corp]", false},
		{"nobody", "", "serve:\n  tenants:\n", "map[]", false},
		{"no name of a tenant", "", "serve: {tenants: {ada: ../acme, bob: corp}}\n", "map[bob:corp]", true},
		{"no tenant", "", "serve: {tenants: {ada: [acme], bob: corp}}\n", "map[bob:corp]", true},
		{"two tenants", "ada=acme,ada=corp", "", "map[ada:acme]", true},
		{"no pair", "acme", "", "map[]", true},
		{"another setting", "", "serve: {tokens: [a]}\n", "map[]", true},
		{"no settings", "", "serve: [ada]\n", "map[]", true},
		{"no file", "", "serve: {\n", "map[]", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.env["AGENT_SERVE_TENANTS"] = tt.env
			w.user(tt.file)
			c, problems := Load(w.options())
			s := c.Serve
			if got := fmt.Sprint(s.Tenants); got != tt.want || (s.Wrong != nil) != tt.wrong || tt.wrong && len(problems) == 0 {
				t.Errorf("got %s, %v, %v", got, s.Wrong, problems)
			}
			if none := tt.name == "none"; (s.Tenants == nil) != (none || len(s.Tenants) == 0 && tt.wrong && tt.env == "") || s.Calls != 64 {
				t.Errorf("got %v, %d", s.Tenants == nil, s.Calls)
			}
		})
	}
}

// A tenant has skills of its own besides those of all.
func TestSkillsOfTenant(t *testing.T) {
	w := newWorld(t)
	w.env["AGENT_TENANT"] = "acme"
	c, _ := Load(w.options())
	var dirs []string
	for _, l := range c.Layers() {
		if l.Name == UserDir {
			dirs = append(dirs, filepath.ToSlash(w.tidy(l.Dir)))
		}
	}
	if len(dirs) < 2 || dirs[0] != "HOME/.agent/tenants/acme/skills" || dirs[1] != "HOME/.agent/skills" {
		t.Errorf("got %q", dirs)
	}
}
