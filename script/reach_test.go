package script

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// reached runs a script with a grant and returns the command that a runner gets.
// given reads a set.
func given(t *testing.T, text string) want.Set {
	t.Helper()
	s, err := want.ParseSet(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func reached(t *testing.T, r *rig, front string, grant Grant) *runner.Command {
	t.Helper()
	c := &canned{out: runner.Output{Stdout: []byte("{}")}}
	r.Runner = c
	r.Granted = func(context.Context, *skill.Skill) (Grant, error) { return grant, nil }
	if _, err := runAs(t, r, open(t, front, tree{"scripts/a.sh": "", "scripts/b.py": ""}), "a", nil); err != nil {
		t.Fatal(err)
	}
	return c.commands[len(c.commands)-1]
}

// C65, C67, security 2.5 #72, #92: what a script may read and write is its own and what was granted.
func TestReach(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"home/.ssh", "home/work/sub", "home/work/.git", "home/work/.claude", "home/.git", "home/.config/x", "home/.agent/cache", "other", "trusted/x"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name        string
		user, space string // where the user stands, and the project
		grant       Grant
		read, write []string // some of them
		not         []string // neither
		hide, keep  []string // some of them
		seen        []string // not hidden
		free        []string // not kept
	}{
		{name: "nothing granted", user: "home/work/sub", space: "home/work", read: []string{"home/work/sub", "home/work"}, not: []string{"home", "other"}},
		{name: "here", user: "home/work", space: "home/work", grant: Grant{Given: given(t, "write:.")}, write: []string{"home/work"},
			keep: []string{"home/work/.git/hooks", "home/work/.git/config", "home/work/.claude"}, free: []string{"home/work/.mcp.json"}},
		{name: "named", user: "home/work", grant: Grant{Given: want.New(want.ReadOf(at("other")), want.WriteOf(at("home/out")))}, read: []string{"other", "home/work"}, write: []string{"home/out"}},
		{name: "here is the home", user: "home", space: "home", grant: Grant{Given: given(t, "write:.")}, write: []string{"home"},
			hide: []string{"home/.ssh", "home/.agent"}, keep: []string{"home/.config", "home/.ssh", "home/.git/hooks"}, seen: []string{"home", "home/work"}},
		{name: "here holds the home", user: ".", grant: Grant{Given: given(t, "write:.")}, write: []string{"."}, hide: []string{"home", "home/.agent"}},
		{name: "a hidden folder by name", user: "home", grant: Grant{Given: want.New(want.ReadOf(at("home/.ssh")))}, read: []string{"home/.ssh", "home"}, hide: []string{"home/.agent"}, seen: []string{"home/.ssh"}},
		{name: "the real home", user: "home/work", grant: Grant{Given: given(t, "home")}, read: []string{"home", "home/work"}, hide: []string{"home/.agent"}, seen: []string{"home/.ssh"}},
		{name: "a trusted folder", user: "trusted/x", grant: Grant{Given: given(t, "write:.")}, read: []string{"trusted/x"}},
		{name: "above a trusted folder", user: ".", grant: Grant{Given: given(t, "write:.")}, write: []string{"."}, keep: []string{"trusted"}},
		{name: "a trusted folder by name", user: ".", grant: Grant{Given: want.New(want.WriteOf(want.Here), want.WriteOf(at("trusted")))}, write: []string{".", "trusted"}, free: []string{"trusted"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := host(t)
			r.Env = append(r.Env, "HOME="+at("home"))
			r.UserDir, r.Private, r.Keep = at(tt.user), []string{at("home/.agent")}, []string{at("trusted")}
			if tt.space != "" {
				r.Workspace = at(tt.space)
			}
			c := reached(t, r, "", tt.grant)
			for _, row := range []struct {
				list []string
				name string
				has  []string
				not  []string
			}{
				{c.Read, "read", tt.read, append(slices.Clone(tt.not), tt.write...)},
				{c.Write, "write", tt.write, append(slices.Clone(tt.not), tt.read...)},
				{c.Hide, "hide", tt.hide, tt.seen},
				{c.Keep, "keep", tt.keep, tt.free},
			} {
				for _, name := range row.has {
					if !slices.Contains(row.list, at(name)) {
						t.Errorf("%s has not %s: %q", row.name, name, row.list)
					}
				}
				for _, name := range row.not {
					if slices.Contains(row.list, at(name)) {
						t.Errorf("%s has %s: %q", row.name, name, row.list)
					}
				}
			}
			if home := value(c, "HOME"); slices.Contains(c.Write, home) == plan.OwnHome(&tt.grant) {
				t.Errorf("HOME is %s, it writes %q", home, c.Write)
			}
		})
	}
}

// A user who stands in the root folder, or whose project is the root, does not open everything by that.
func TestReachInTheRoot(t *testing.T) {
	for _, tt := range []struct{ user, space, cwd string }{{"/", "", CwdUser}, {"/tmp", "/", CwdUser}, {"/tmp", "/", CwdWorkspace}, {"/", "/", CwdWorkspace}} {
		r := host(t)
		r.UserDir, r.Workspace, r.Cwd = tt.user, tt.space, tt.cwd
		for _, grant := range []Grant{{}, {Given: given(t, "write:.")}} {
			c := reached(t, r, "", grant)
			if slices.Contains(c.Read, "/") || slices.Contains(c.Write, "/") {
				t.Errorf("%+v, granted %q: reads %q, writes %q", tt, grant.Given, c.Read, c.Write)
			}
		}
	}
}

// C65, 1.4: a script reaches what was granted, and the addresses that the operator gave it in a variable: these may be private.
func TestNetworkOfScripts(t *testing.T) {
	r := host(t)
	r.Env = append(r.Env, "KALSHI_API_BASE=http://127.0.0.1:8080/v2", "KALSHI_KEY=secret", "OTHER_URL=http://10.0.0.1", "HTTPS_PROXY=http://proxy:3128")
	c := reached(t, r, "permissions:\n  env: [KALSHI_*, HTTPS_PROXY]\n", Grant{Declared: true, Given: given(t, "seen host:api.example.com")})
	wanted := runner.Network{Hosts: []string{"api.example.com", "127.0.0.1:8080"}, Private: []string{"127.0.0.1:8080"}}
	if diff := cmp.Diff(wanted, c.Network); diff != "" {
		t.Error(diff)
	}
	if c := reached(t, r, "permissions:\n  env: [KALSHI_*]\n", Grant{}); c.Network.All || len(c.Network.Hosts) > 0 {
		t.Errorf("got %+v", c.Network)
	}
}

// security 1.3: preparing reaches the package index and writes in its own folders; a question has neither network nor folders; the script has no
// network.
func TestPhasesOfCommands(t *testing.T) {
	var got []*runner.Command
	r := host(t)
	r.Confine = runner.ConfineRequired
	uv := filepath.Join(t.TempDir(), "uv")
	if err := os.WriteFile(uv, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	r.LookPath = func(name string) (string, error) {
		if name == "uv" {
			return uv, nil
		}
		return exec.LookPath(name)
	}
	r.Runner = runner.RunnerFunc(func(_ context.Context, c *runner.Command) (*runner.Output, error) {
		got = append(got, c)
		for _, dir := range c.Write {
			if _, err := os.Stat(dir); err != nil {
				t.Errorf("%q may write %s, which does not exist", c.Args, dir)
			}
		}
		return &runner.Output{Stdout: []byte("/usr/bin/python3\n3.11.2")}, nil
	})
	s := open(t, "", tree{"scripts/a.py": "# /// script\n# requires-python = \">=3.9\"\n# dependencies = [\"idna\"]\n# ///\n"})
	_, _ = r.host().Prepare(t.Context(), s, Script{Name: "a", File: "scripts/a.py"}, nil)
	asked, prepared := false, false
	for _, c := range got {
		if c.Phase != runner.Prepare || c.Confine != runner.ConfineRequired || c.Network.All {
			t.Errorf("got %+v", c)
		}
		isLock := len(c.Args) > 1 && c.Args[1] == "lock"
		if (len(c.Network.Hosts) > 0) != isLock || isLock && !slices.Equal(c.Network.Hosts, []string{"files.pythonhosted.org", "pypi.org"}) || (len(c.Write) > 0) != isLock {
			t.Errorf("%q: network %v, writes %q", c.Args, c.Network, c.Write)
		}
		asked, prepared = asked || !isLock, prepared || isLock
	}
	if !asked || !prepared {
		t.Errorf("asked %v, prepared %v", asked, prepared)
	}
}

// AGENT_SKILLS=all-untrusted: a skill that nobody approved is confined, whatever the host prefers, unless the user turned it
// off.
func TestConfinementOfSkills(t *testing.T) {
	for _, tt := range []struct{ host, own, want runner.Confinement }{
		{"", "", runner.ConfineAuto}, {"", runner.ConfineRequired, runner.ConfineRequired}, {runner.ConfineOff, runner.ConfineRequired, runner.ConfineOff}, {runner.ConfineRequired, "", runner.ConfineRequired},
	} {
		r := host(t)
		r.Confine = tt.host
		if c := reached(t, r, "", Grant{Confine: tt.own}); c.Confine != tt.want {
			t.Errorf("%q and %q: got %q", tt.host, tt.own, c.Confine)
		}
	}
}

// Every result says what confined the script, also that nothing did.
func TestSandboxOfResults(t *testing.T) {
	s := open(t, "", tree{"scripts/a.sh": ""})
	r := host(t)
	for _, tt := range []struct{ had, want *runner.Sandbox }{
		{nil, &runner.Sandbox{Tier: runner.NoSandbox, Layers: []string{}, Missing: []string{}}},
		{&runner.Sandbox{Tier: "B", Layers: []string{"landlock"}, Missing: []string{"namespaces"}}, &runner.Sandbox{Tier: "B", Layers: []string{"landlock"}, Missing: []string{"namespaces"}}},
	} {
		for code := range 2 {
			for _, stdout := range []string{"{}", "no JSON"} {
				r.Runner = &canned{out: runner.Output{Stdout: []byte(stdout), Sandbox: tt.had, ExitCode: code}}
				res, err := runAs(t, r, s, "a", nil)
				got := &runner.Sandbox{}
				if err == nil {
					got = &res.Sandbox
				} else {
					var e *Error
					if !errors.As(err, &e) {
						t.Fatal(err)
					}
					got = e.Sandbox
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%q, exit code %d: %s", stdout, code, diff)
				}
			}
		}
	}
	r.Runner = &canned{err: &runner.SandboxError{Layer: "landlock", Cure: "Use a newer kernel."}}
	_, err := runAs(t, r, s, "a", nil)
	failure(t, err, PermissionDenied, ReasonSandbox, "Script a is not run: the sandbox has no landlock. Use a newer kernel.")
}

// C65, security 1.2: a script that changed what was put back has failed, whatever its exit code is, and the error says what became of
// the change and which file can be granted.
func TestUndone(t *testing.T) {
	r := host(t)
	r.Runner = &canned{out: runner.Output{Stdout: []byte("{}"), Undone: []runner.Undone{{Path: "/w/AGENTS.md", Moved: "/w/aside"}, {Path: "/w/.npmrc", Err: errors.New("why")}, {Path: "/w/.x", Moved: "/w/aside", Why: "programs can read .x"}}}}
	s := open(t, "", tree{"scripts/a.sh": ""})
	_, err := runAs(t, r, s, "a", nil)
	e := failure(t, err, ExecutionFailed, ReasonBlocked, "Script changed /w/AGENTS.md", "in /w/aside", "/w/.npmrc", "could not be put back: why", "Script made /w/.x, and programs can read .x: it is now in /w/aside")
	if !strings.HasPrefix(e.Err.Error(), "no script may write /w/AGENTS.md") || len(e.Wants) > 0 {
		t.Errorf("got %v, lacks %s", e.Err, e.Wants)
	}
}
