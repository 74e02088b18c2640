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
)

const showEnvironment = "import json, os\nprint(json.dumps(dict(os.environ)))\n"

func environmentOfRun(t *testing.T, front string, h *rig, o *RunOptions) map[string]string {
	t.Helper()
	res, err := run(t, h, open(t, front, tree{"scripts/a.py": showEnvironment}), "a", o)
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

func TestAllows(t *testing.T) {
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"KALSHI_*", "KALSHI_API_BASE", true}, {"KALSHI_*", "XKALSHI_A", false}, {"KALSHI_*", "kalshi_a", false}, {"KEY", "KEY", true}, {"KEY", "KEYS", false},
		{"KEY_?", "KEY_S", false}, {"KEY_[AB]", "KEY_A", false}, {"KEY?", "KEYS", false}, {"K[AB]", "KA", false}, {"*", "SECRET", false}, {"*_TOKEN", "GITHUB_TOKEN", false}, {"?", "A", false}, {"[A-Z]*", "SECRET", false},
		{"LD_PRELOAD", "LD_PRELOAD", false}, {"L*", "LD_PRELOAD", false}, {"l*", "ld_preload", false}, {"PYTHON*", "PYTHONPATH", false}, {"P*", "PATH", false}, {"P*", "PAGER", false},
		{"A*", "AGENT_SKILL_DIR", false}, {"UV_*", "UV_INDEX", false}, {"NODE_OPTIONS", "NODE_OPTIONS", false}, {"GIT_*", "GIT_SSH_COMMAND", false}, {"ENV", "ENV", false},
		{"BASH*", "BASH_FUNC_x%%", false}, {"GLIBC*", "GLIBC_TUNABLES", false}, {"DYLD_*", "DYLD_INSERT_LIBRARIES", false}, {"RUBYOPT", "RUBYOPT", false}, {"A", "", false}, {"[", "[", false},
		// a wildcard needs three letters and "_"
		{"AB_*", "AB_C", false}, {"ABC*", "ABC_D", false}, {"A1B_*", "A1B_C", false}, {"ABC_*", "ABC_D", true}, {"abc_*", "abc_d", true}, {"AB_CDE*", "AB_CDEF", false},
		{"A*", "ANTHROPIC_API_KEY", false}, {"O*", "OPENAI_API_KEY", false}, {"G*", "GEMINI_API_KEY", false},
		// a manifest cannot have keys of model providers, whatever it writes
		{"ANTHROPIC_*", "ANTHROPIC_API_KEY", false}, {"OPENAI_API_KE?", "OPENAI_API_KEY", false}, {"GOOGLE_*", "GOOGLE_API_KEY", false}, {"OPEN*_*", "OPENAI_API_KEY", false},
		{"openai_*", "openai_api_key", false}, {"OPENAI_API_KEY", "OPENAI_API_KEY", false}, {"HF_TOKEN", "HF_TOKEN", false}, {"GOOGLE_*", "GOOGLE_CLOUD_PROJECT", true},
	}
	for _, tt := range tests {
		if got := (&passing{declared: []string{tt.pattern}}).allows(tt.name); got != tt.want {
			t.Errorf("%q allows %q: got %v", tt.pattern, tt.name, got)
		}
	}
}

// C65: a grant is for one exact name. Only a grant lets the key of a model provider pass.
func TestGranted(t *testing.T) {
	p := &passing{declared: []string{"KALSHI_*", "OPENAI_API_KEY"}, granted: []string{"OTHER", "ANTHROPIC_API_KEY", "SOME_*", "PATH"}}
	for name, want := range map[string]bool{
		"KALSHI_A": true, "OTHER": true, "other": false, "ANTHROPIC_API_KEY": true, "anthropic_api_key": false, "OPENAI_API_KEY": false, "SOME_KEY": false, "PATH": false,
	} {
		if got := p.allows(name); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	for name, want := range map[string]string{
		"OPENAI_API_KEY": "", "a": "", "_X1": "", "KEY_*": "is a pattern", "*": "is a pattern", "K[A]": "is a pattern", "": "is not the name", "A B": "is not the name",
		"A=b": "is not the name", "1A": "is not the name", "Ä": "is not the name", strings.Repeat("A", 201): "is not the name", "LD_PRELOAD": "never passes to a script: it decides",
		"agent_home": "the engine's own", "PATH": "never passes", "Home": "never passes",
	} {
		if err := CheckGrant(name); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", name, err, want)
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

// security 2.5 #57: none of these passes, whatever a manifest asks for.
func TestDangerousVariables(t *testing.T) {
	names := []string{
		"LD_PRELOAD", "LD_AUDIT", "DYLD_LIBRARY_PATH", "GLIBC_TUNABLES", "GCONV_PATH", "BASH_ENV", "BASHOPTS", "SHELLOPTS", "ENV", "IFS", "PS4",
		"BUN_OPTIONS", "BUN_CONFIG_REGISTRY", "DENO_DIR", "DENO_CERT", "TSX_TSCONFIG_PATH", "TS_NODE_PROJECT", "PERL_USE_UNSAFE_INC", "LUA_INIT_5_4", "LUA_PATH",
		"R_PROFILE_USER", "GEM_PATH", "BUNDLE_GEMFILE", "JULIA_LOAD_PATH", "PHPRC", "PSMODULEPATH", "CLASSPATH", "ERL_AFLAGS", "ZDOTDIR", "NPM_CONFIG_NODE_OPTIONS",
		"PYTHONPATH", "NODE_OPTIONS", "NODE_PATH", "PERL5LIB", "PERL5OPT", "PERLLIB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
		"JDK_JAVA_OPTIONS", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "SSLKEYLOGFILE", "GIT_SSH_COMMAND", "SSH_AUTH_SOCK", "UV_INDEX", "PIP_INDEX_URL",
		"BASH_FUNC_ls%%", "NODE_REPL_EXTERNAL_MODULE", "NODE_COMPILE_CACHE", "NODE_V8_COVERAGE", "BOOTSNAP_CACHE_DIR", "GUILE_LOAD_COMPILED_PATH", "BUN_RUNTIME_TRANSPILER_CACHE_PATH", "BUN_INSTALL_CACHE_DIR", "RUBYPATH", "GEM_HOME", "BUNDLER_VERSION", "LUA_CPATH_5_4", "R_ENVIRON_USER",
		"R_LIBS_SITE", "OCTAVE_PATH", "BABASHKA_PRELOADS", "PHP_INI_SCAN_DIR", "TCLLIBPATH", "DOTNET_STARTUP_HOOKS", "CORECLR_PROFILER_PATH",
		"COR_PROFILER_PATH", "COR_ENABLE_PROFILING", "ERL_LIBS", "GTK_MODULES", "YARN_RC_FILENAME", "FPATH", "LESSOPEN", "LESSCLOSE",
		"PATH", "HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "AGENT_HOME",
	}
	for _, name := range names {
		for _, pattern := range []string{name, name[:len(name)-1] + "?", strings.ToLower(name)} {
			for _, asked := range []string{name, strings.ToLower(name)} {
				if (&passing{declared: []string{pattern}, granted: []string{pattern, asked}}).allows(asked) {
					t.Errorf("%q allows %s", pattern, asked)
				}
				if CheckGrant(asked) == nil {
					t.Errorf("%s can be granted", asked)
				}
			}
		}
	}
}

// security 2.5 #57: the keys of model providers pass by a grant of their exact name alone.
func TestProviderVariables(t *testing.T) {
	names := []string{
		"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL",
		"GOOGLE_GENAI_USE_VERTEXAI", "VERTEX_AI_KEY", "AWS_BEARER_TOKEN_BEDROCK", "MISTRAL_API_KEY", "GROQ_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY",
		"OPENROUTER_API_KEY", "TOGETHER_API_KEY", "FIREWORKS_API_KEY", "COHERE_API_KEY", "CO_API_KEY", "CEREBRAS_API_KEY", "PERPLEXITY_API_KEY",
		"MOONSHOT_API_KEY", "DASHSCOPE_API_KEY", "REPLICATE_API_TOKEN", "HF_TOKEN", "HUGGINGFACE_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OLLAMA_API_KEY",
	}
	for _, pattern := range providers {
		if !slices.ContainsFunc(names, func(name string) bool { return program.Matches([]string{pattern}, name) }) {
			t.Errorf("no variable of this test has the form %s", pattern)
		}
	}
	for _, name := range names {
		if (&passing{declared: []string{name}}).allows(name) {
			t.Errorf("a manifest alone gets %s", name)
		}
		if !(&passing{declared: []string{name}, granted: []string{name}}).allows(name) {
			t.Errorf("%s does not pass although the user granted it", name)
		}
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
		_, err := run(t, h, s, "a", &RunOptions{Env: []string{kv}})
		if e := failure(t, err, PermissionDenied, ""); e.Message != "Env var 'SECRET_KEY' not in allowlist" {
			t.Errorf("got %q", e.Message)
		}
	}
	_, err := run(t, h, s, "a", &RunOptions{Env: []string{"LD_PRELOAD=/x.so"}})
	failure(t, err, PermissionDenied, "", "'LD_PRELOAD'")
}

// R66: a command that makes the skill available is on its scripts' PATH.
func TestRequiredCommandsAreOnPath(t *testing.T) {
	bin := t.TempDir()
	tree{"sometool": "#!/bin/sh\necho tool\n"}.write(t, bin)
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

// security 2.5 #57: which variables are secrets: by their names, else by values that look like keys. Settings are not, so that output
// stays readable.
func TestIsSecret(t *testing.T) {
	for variable, want := range map[string]bool{
		"GITHUB_TOKEN=x": true, "DB_PASSWORD=": true, "SERVICE=k3y7abcdefghijklmnop9": true,
		"DATABASE_URL=postgres://ada:pw@db.example/x": true, "HOOK=https://hooks.example/x?key=1": true,
		"PAGE=https://example.com/a1b2c3d4e5f6g7h8": false, "GREETING=internationalisation": false, "COUNT=12345678901234567890": false,
		"FILE=/srv/data123456789012345": false, "VERSION=1.22.333.4444.55555.666": false, "SHORT=a1b2c3": false,
	} {
		name, value, _ := strings.Cut(variable, "=")
		if got := IsSecret(name, value); got != want {
			t.Errorf("%s: got %v", variable, got)
		}
	}
}
