package script

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

const showEnvironment = "import json, os\nprint(json.dumps(dict(os.environ)))\n"

func environmentOfRun(t *testing.T, front string, h *rig, o *RunOptions) map[string]string {
	t.Helper()
	res, err := runAs(t, h, open(t, front, tree{"scripts/a.py": showEnvironment}), "a", o)
	if err != nil {
		t.Fatal(err)
	}
	var env map[string]string
	if err := json.Unmarshal(res.JSON, &env); err != nil {
		t.Fatal(err)
	}
	return env
}

// C28, security 2.5 #56, #57: exactly these variables, whatever the operator has.
func TestEnvironment(t *testing.T) {
	h := host(t)
	h.Workspace = "/somewhere"
	for _, name := range []string{
		"AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "LD_PRELOAD_X", "LD_LIBRARY_PATH_X", "PYTHONPATH", "PYTHONSTARTUP", "NODE_OPTIONS", "BASH_ENV",
		"UV_INDEX_PRIV_PASSWORD", "UV_DEFAULT_INDEX", "PIP_INDEX_URL", "GIT_DIR", "VIRTUAL_ENV", "EDITOR",
	} {
		h.Env = append(h.Env, name+"=/planted")
	}
	env := environmentOfRun(t, "", h, nil)
	want := []string{
		"AGENT_SKILL_CACHE_DIR", "AGENT_SKILL_DIR", "AGENT_SKILL_NAME", "AGENT_SKILL_WORK_DIR", "AGENT_WORKSPACE", "HOME", "LANG", "NO_COLOR", "PATH",
		"PIP_RETRIES", "PYTHONDONTWRITEBYTECODE", "PYTHONNOUSERSITE", "PYTHONUTF8", "TERM", "TMPDIR", "npm_config_fetch_retries",
	}
	if got := slices.Sorted(maps.Keys(env)); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if env["PATH"] != "/usr/local/bin:/usr/bin:/bin" || env["TERM"] != "dumb" || env["LANG"] != "C.UTF-8" || env["AGENT_WORKSPACE"] != "/somewhere" {
		t.Errorf("got %v", env)
	}
}

// C28: with a network a script gets the operator's certificates and proxies.
func TestEnvironmentForTheNetwork(t *testing.T) {
	h := host(t)
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "TZ"} {
		h.Env = append(h.Env, name+"=of "+name)
	}
	env := environmentOfRun(t, "", h, nil)
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "TZ"} {
		if env[name] != "of "+name {
			t.Errorf("%s: got %q", name, env[name])
		}
	}
}

// C65, C66, C67: what is granted is in the environment, and PATH is the host's.
func TestGrantsInTheEnvironment(t *testing.T) {
	h := host(t)
	real := t.TempDir()
	h.Path = "/somewhere/bin:/usr/bin:/bin"
	h.Env = append(h.Env, "SOME_KEY=1", "OTHER_KEY=2", "OPENAI_API_KEY=3", "HOME="+real)
	front := "permissions:\n  env: [OTHER_*, OPENAI_API_KEY]\n"
	env := environmentOfRun(t, front, h, nil)
	if env["SOME_KEY"] != "" || env["OTHER_KEY"] != "2" || env["OPENAI_API_KEY"] != "" || env["HOME"] == real || env["PATH"] != h.Path {
		t.Errorf("without grants: %v", env)
	}
	h.Granted = func(context.Context, *skill.Skill) (Grant, error) {
		return Grant{Declared: true, Withheld: given(t, "env:OTHER_*"), Given: given(t, "env:SOME_KEY, env:OPENAI_API_KEY, home")}, nil
	}
	env = environmentOfRun(t, front, h, nil)
	if env["SOME_KEY"] != "1" || env["OTHER_KEY"] != "" || env["OPENAI_API_KEY"] != "3" || env["HOME"] != real {
		t.Errorf("with grants: %v", env)
	}
}

// What is forwarded now is known before anything runs, and is what a script then sees.
func TestForwarded(t *testing.T) {
	h := host(t)
	h.Env = append(h.Env, "KALSHI_B=2", "KALSHI_A=1", "KALSHI_A=3", "KALSHIX=4", "ANTHROPIC_API_KEY=5", "ANTHROPIC_MODEL=6")
	front := "permissions:\n  env: [KALSHI_*, ANTHROPIC_*, MISSING]\n"
	want := []string{"KALSHI_A", "KALSHI_B"}
	if got := Forwarded(open(t, front, nil).Manifest(), h.Env); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	env := environmentOfRun(t, front, h, nil)
	for _, kv := range h.Env {
		name, _, _ := strings.Cut(kv, "=")
		if _, passed := env[name]; name != "PATH" && name != "HOME" && passed != slices.Contains(want, name) {
			t.Errorf("%s: passed %t", name, passed)
		}
	}
	var asked []string
	h.Granted = func(_ context.Context, s *skill.Skill) (Grant, error) {
		asked = append(asked, s.Name())
		return Grant{}, nil
	}
	if env := environmentOfRun(t, front, h, nil); env["KALSHI_A"] != "" || !slices.Equal(asked, []string{"probe"}) {
		t.Errorf("without grants the script sees %q; asked about %q", env["KALSHI_A"], asked)
	}
}

// R34, R104: the manifest names what passes; a caller can set no more.
func TestPermissionsEnv(t *testing.T) {
	h := host(t)
	h.Env = append(h.Env, "KALSHI_A=1", "KALSHI_B=2", "OTHER=3", "PYTHONPATH=/planted")
	env := environmentOfRun(t, "permissions:\n  env: [KALSHI_*, PYTHON*]\n", h, &RunOptions{Env: []string{"KALSHI_B=mine=x"}})
	if env["KALSHI_A"] != "1" || env["KALSHI_B"] != "mine=x" || env["OTHER"] != "" || env["PYTHONPATH"] != "" {
		t.Errorf("got %v", env)
	}
	s := open(t, "permissions:\n  env: [KALSHI_*]\n", tree{"scripts/a.py": ""})
	for _, kv := range []string{"SECRET_KEY=x", "SECRET_KEY"} {
		_, err := runAs(t, h, s, "a", &RunOptions{Env: []string{kv}})
		if e := failure(t, err, PermissionDenied, ""); e.Message != "Env var 'SECRET_KEY' not in allowlist" {
			t.Errorf("got %q", e.Message)
		}
	}
	_, err := runAs(t, h, s, "a", &RunOptions{Env: []string{"LD_PRELOAD=/x.so"}})
	failure(t, err, PermissionDenied, "", "'LD_PRELOAD'")
}

// R66: a command that makes the skill available is on its scripts' PATH.
func TestRequiredCommandsAreOnPath(t *testing.T) {
	bin := t.TempDir()
	tree{"sometool": "#!/bin/sh\necho tool\n"}.Write(t, bin)
	h := host(t)
	look := h.LookPath
	h.LookPath = func(name string) (string, error) {
		if name == "sometool" {
			return filepath.Join(bin, name), nil
		}
		return look(name)
	}
	s := open(t, "metadata:\n  requires: sometool, gone-for-sure\n", tree{"scripts/a.sh": "sometool; echo $PATH\n"})
	if len(s.Manifest().Requires) == 0 {
		s.Manifest().Requires = []string{"sometool", "gone-for-sure"}
	}
	if got, want := mustText(t, h, s, "a"), "tool\n"+program.FixedPath+string(os.PathListSeparator)+bin+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if strings.Contains(mustText(t, h, open(t, "", tree{"scripts/a.sh": "echo $PATH\n"}), "a"), bin) {
		t.Error("the folder is on the PATH of a skill that does not require the command")
	}
}

// A script that has the variable TRACEPARENT gets the span of its run in it, in place of that of the operator.
func TestParent(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	h := host(t)
	h.Env = append(h.Env, "TRACEPARENT=of the operator")
	for _, tt := range []struct {
		permissions, parent, want string
	}{{"", parent, ""}, {"permissions: {env: [TRACEPARENT]}\n", "", "of the operator"}, {"permissions: {env: [TRACEPARENT]}\n", parent, parent}} {
		s := open(t, tt.permissions, tree{"scripts/a.sh": "echo \"$TRACEPARENT\"\n"})
		r, err := h.host().Run(trace.WithParent(t.Context(), tt.parent), s, Script{Name: "a", File: "scripts/a.sh"}, &RunOptions{JSON: JSONNo})
		if err != nil || strings.TrimSpace(r.Text) != tt.want {
			t.Errorf("%+v: got %+v, %v", tt, r, err)
		}
	}
}
