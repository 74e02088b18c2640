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
	if _, err := run(t, r, open(t, front, tree{"scripts/a.sh": "", "scripts/b.py": ""}), "a", nil); err != nil {
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
			if home := value(c, "HOME"); slices.Contains(c.Write, home) == tt.grant.ownHome() {
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
				res, err := run(t, r, s, "a", nil)
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
	_, err := run(t, r, s, "a", nil)
	failure(t, err, PermissionDenied, ReasonSandbox, "Script a is not run: the sandbox has no landlock. Use a newer kernel.")
}

// A failure at a file that the sandbox keeps from a script names the folder that a grant would open, or where it can write.
func TestBlocked(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"skill/scripts", "work/.git/hooks", "data"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"data/in.csv", "work/a.txt"} {
		if err := os.WriteFile(at(file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	readOnly := &runner.Command{Dir: at("work"), Read: []string{at("skill"), at("work")}, Write: []string{at("run")}}
	writable := &runner.Command{Dir: at("work"), Read: []string{at("skill")}, Write: []string{at("work")}, Keep: []string{at("work/.git/hooks"), at("work/AGENTS.md")}}
	ownTmp := &runner.Command{Dir: at("work"), Temp: at("run"), Read: readOnly.Read, Write: readOnly.Write}
	tests := []struct {
		name   string
		cmd    *runner.Command
		stderr string
		want   *refusedFile
	}{
		{"Python, beside itself", readOnly, "OSError: [Errno 30] Read-only file system: 'SKILL/scripts/out.txt'", &refusedFile{Path: at("skill/scripts/out.txt"), Write: true, Own: true}},
		{"Python, in a sealed copy", readOnly, "PermissionError: [Errno 13] Permission denied: 'SKILL/out'", &refusedFile{Path: at("skill/out"), Write: true, Own: true}},
		{"Python, where the user stands", readOnly, "Traceback\nOSError: [Errno 30] Read-only file system: 'out.txt'", &refusedFile{Path: at("work/out.txt"), Dir: at("work"), Write: true, Here: true}},
		{"a shell", readOnly, "a.sh: line 3: out.txt: Read-only file system", &refusedFile{Path: at("work/out.txt"), Dir: at("work"), Write: true, Here: true}},
		{"coreutils", readOnly, "mkdir: cannot create directory ‘out’: Permission denied", &refusedFile{Path: at("work/out"), Dir: at("work"), Write: true, Here: true}},
		{"Node.js", readOnly, "Error: EROFS: read-only file system, open 'WORK/a.txt'", &refusedFile{Path: at("work/a.txt"), Dir: at("work"), Write: true, Here: true}},
		{"a file that is not seen", readOnly, "FileNotFoundError: [Errno 2] No such file or directory: 'DATA/in.csv'", &refusedFile{Path: at("data/in.csv"), Dir: at("data/in.csv")}},
		{"a file that may not be read", readOnly, "cat: DATA/in.csv: Permission denied", &refusedFile{Path: at("data/in.csv"), Dir: at("data/in.csv")}},
		{"a new file in a folder that is not seen", readOnly, "FileNotFoundError: [Errno 2] No such file or directory: 'DATA/out.csv'", &refusedFile{Path: at("data/out.csv"), Dir: at("data"), Write: true}},
		{"folders made at once, not seen", readOnly, "Error: EACCES: permission denied, mkdir 'DATA/a/b/c'", &refusedFile{Path: at("data/a/b/c"), Dir: at("data"), Write: true}},
		{"folders made at once", readOnly, "Error: EACCES: permission denied, mkdir 'WORK/a/b/c'", &refusedFile{Path: at("work/a/b/c"), Dir: at("work"), Write: true, Here: true}},
		{"kept", writable, "OSError: [Errno 30] Read-only file system: '.git/hooks/pre-commit'", &refusedFile{Path: at("work/.git/hooks/pre-commit"), Write: true, Kept: true}},
		{"instructions for agents", writable, "a.sh: line 1: AGENTS.md: Read-only file system", &refusedFile{Path: at("work/AGENTS.md"), Dir: at("work/AGENTS.md"), Write: true, Kept: true}},
		{"not there at all", readOnly, "FileNotFoundError: [Errno 2] No such file or directory: 'gone.txt'", nil},
		{"not there at all, elsewhere", readOnly, "FileNotFoundError: [Errno 2] No such file or directory: '/no/such/folder/file'", nil},
		{"not there, in a /tmp of its own", ownTmp, "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/no-such-file'", nil},
		{"not there, in no /tmp of its own", readOnly, "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/no-such-file'", &refusedFile{Path: "/tmp/no-such-file", Dir: "/tmp", Write: true}},
		{"its own fault", writable, "PermissionError: [Errno 13] Permission denied: 'a.txt'", nil},
		{"nothing of files", readOnly, "ValueError: 'x'", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stderr := strings.NewReplacer("SKILL", at("skill"), "WORK", at("work"), "DATA", at("data")).Replace(tt.stderr)
			out := &runner.Output{Stderr: []byte(stderr + "\n"), ExitCode: 1, Sandbox: &runner.Sandbox{Tier: "A"}}
			if diff := cmp.Diff(tt.want, blocked(tt.cmd, out, []string{at("work")}), cmp.AllowUnexported(refusedFile{})); diff != "" {
				t.Error(diff)
			}
			out.Sandbox = nil
			if got := blocked(tt.cmd, out, []string{at("work")}); got != nil && !got.Own {
				t.Errorf("without a sandbox: %+v", got)
			}
		})
	}
	for _, tt := range []struct {
		args []string
		want *refusedFile
	}{
		{[]string{"DATA/in.csv"}, &refusedFile{Path: at("data/in.csv"), Dir: at("data/in.csv")}},
		{[]string{"-v", "--input=../data"}, &refusedFile{Path: at("data"), Dir: at("data")}},
		{[]string{"WORK/a.txt", "a.txt", "SKILL/scripts", "/usr/bin", "/no/such", "/"}, nil},
	} {
		cmd := *readOnly
		cmd.Args = []string{"/usr/bin/python3"}
		for _, arg := range tt.args {
			cmd.Args = append(cmd.Args, strings.NewReplacer("SKILL", at("skill"), "WORK", at("work"), "DATA", at("data")).Replace(arg))
		}
		out := &runner.Output{Stderr: []byte("not found\n"), ExitCode: 1, Sandbox: &runner.Sandbox{Tier: "A"}}
		if diff := cmp.Diff(tt.want, blocked(&cmd, out, nil), cmp.AllowUnexported(refusedFile{})); diff != "" {
			t.Errorf("%q: %s", tt.args, diff)
		}
	}
	hidden := &refusedFile{Path: at("data"), Dir: at("data"), Write: true}
	out := &runner.Output{Stderr: []byte("OSError: [Errno 30] Read-only file system: '" + at("data") + "'\n"), ExitCode: 1, Sandbox: &runner.Sandbox{Tier: "A"}}
	if diff := cmp.Diff(hidden, blocked(readOnly, out, nil), cmp.AllowUnexported(refusedFile{})); diff != "" {
		t.Errorf("a write in a folder that the script does not see: %s", diff)
	}
	for text, b := range map[string]*refusedFile{
		"AGENT_SKILL_CACHE_DIR": {Path: "/s/x", Write: true, Own: true}, "may not write in /d": {Path: "/d/x", Dir: "/d", Write: true},
		"may not read /d/x": {Path: "/d/x", Dir: "/d"}, "no script may write /d/.git": {Path: "/d/.git", Write: true, Kept: true},
		"granted by its name": {Path: "/d/AGENTS.md", Dir: "/d/AGENTS.md", Write: true, Kept: true},
	} {
		if !strings.Contains(b.Error(), text) {
			t.Errorf("%q has not %q", b.Error(), text)
		}
	}
}

// C65, security 1.2: a script that changed what was put back has failed, whatever its exit code is, and the error says what became of
// the change and which file can be granted.
func TestUndone(t *testing.T) {
	r := host(t)
	r.Runner = &canned{out: runner.Output{Stdout: []byte("{}"), Undone: []runner.Undone{{Path: "/w/AGENTS.md", Moved: "/w/aside"}, {Path: "/w/.npmrc", Err: errors.New("why")}, {Path: "/w/.x", Moved: "/w/aside", Why: "programs can read .x"}}}}
	s := open(t, "", tree{"scripts/a.sh": ""})
	_, err := run(t, r, s, "a", nil)
	failure(t, err, ExecutionFailed, ReasonBlocked, "Script changed /w/AGENTS.md", "in /w/aside", "/w/.npmrc", "could not be put back: why", "Script made /w/.x, and programs can read .x: it is now in /w/aside")
	var b *refusedFile
	if !errors.As(err, &b) || b.Here || !b.Kept {
		t.Errorf("got %+v", b)
	}
}
