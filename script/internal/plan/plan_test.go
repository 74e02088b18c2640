package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

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
		if got := (&Passing{declared: []string{tt.pattern}}).Allows(tt.name); got != tt.want {
			t.Errorf("%q allows %q: got %v", tt.pattern, tt.name, got)
		}
	}
}

// C65: a grant is for one exact name. Only a grant lets the key of a model provider pass.
func TestGranted(t *testing.T) {
	p := &Passing{declared: []string{"KALSHI_*", "OPENAI_API_KEY"}, granted: []string{"OTHER", "ANTHROPIC_API_KEY", "SOME_*", "PATH"}}
	for name, want := range map[string]bool{
		"KALSHI_A": true, "OTHER": true, "other": false, "ANTHROPIC_API_KEY": true, "anthropic_api_key": false, "OPENAI_API_KEY": false, "SOME_KEY": false, "PATH": false,
	} {
		if got := p.Allows(name); got != want {
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
				if (&Passing{declared: []string{pattern}, granted: []string{pattern, asked}}).Allows(asked) {
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
		if !slices.ContainsFunc(names, func(name string) bool { return variable.Matches([]string{pattern}, name) }) {
			t.Errorf("no variable of this test has the form %s", pattern)
		}
	}
	for _, name := range names {
		if (&Passing{declared: []string{name}}).Allows(name) {
			t.Errorf("a manifest alone gets %s", name)
		}
		if !(&Passing{declared: []string{name}, granted: []string{name}}).Allows(name) {
			t.Errorf("%s does not pass although the user granted it", name)
		}
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

// asking returns a manifest that asks for these.
func asking(list ...want.Want) *manifest.Manifest {
	m := &manifest.Manifest{}
	for _, w := range list {
		w.From = want.Declared
		m.Permissions.Asked = m.Permissions.Asked.Add(w)
	}
	return m
}

// A script has the standard variables, those of the operator that pass, and the engine's own, which nothing changes.
func TestEnvironment(t *testing.T) {
	m := asking(want.VariableOf("KALSHI_*"), want.VariableOf("OPENAI_API_KEY"), want.VariableOf("LD_PRELOAD"))
	operator := []string{"TZ=UTC", "HTTPS_PROXY=p", "PATH=/evil", "KALSHI_A=1", "OPENAI_API_KEY=2", "LD_PRELOAD=3", "GIVEN=4", "OTHER=5", "LANG=x"}
	g := &Grant{Declared: true, Given: want.New(want.VariableOf("GIVEN"))}
	Declare(g, m, "")
	got := Environment(PassingOf(g), "/bin", operator, map[string]string{"HOME": "/home", "GIVEN": "own"})
	for name, value := range map[string]string{"TZ": "UTC", "HTTPS_PROXY": "p", "PATH": "/bin", "KALSHI_A": "1", "GIVEN": "own", "HOME": "/home", "LANG": "C.UTF-8"} {
		if got[name] != value {
			t.Errorf("%s: got %q", name, got[name])
		}
	}
	for _, name := range []string{"OPENAI_API_KEY", "LD_PRELOAD", "OTHER"} {
		if _, ok := got[name]; ok {
			t.Errorf("it has %s", name)
		}
	}
	if got := Forwarded(m, operator); !slices.Equal(got, []string{"KALSHI_A"}) {
		t.Errorf("forwarded are %q", got)
	}
	for name, always := range map[string]bool{"TZ": true, "LANG": true, "KALSHI_A": false} {
		if AlwaysPasses(name) != always {
			t.Errorf("%s: always %v", name, !always)
		}
	}
	one := &Grant{Declared: true}
	if !one.Passes(m, "KALSHI_A") || one.Passes(m, "GIVEN") || (&Grant{}).Passes(m, "KALSHI_A") {
		t.Error("another variable passes")
	}
}

// C65: what a manifest declares is given unless it is withheld, with folders of this machine. Hosts that a text or a manifest named are
// reached at public addresses only.
func TestDeclare(t *testing.T) {
	m := asking(want.ReadOf("~/notes"), want.WriteOf(want.Here), want.ReadOf("/data"), want.HostOf("a.example"), want.VariableOf("KEPT_*"))
	for home, want := range map[string]string{"/home/ada": "/data /home/ada/notes", "": "/data"} {
		g := &Grant{Declared: true, Given: given("host:b.example, package:dep, home"), Withheld: given("env:KEPT_*")}
		Declare(g, m, home)
		if got := strings.Join(g.Given.Named("read"), " "); got != want {
			t.Errorf("%q: it reads %s", home, got)
		}
		if n := Network(g); n.All || strings.Join(n.Hosts, " ") != "a.example b.example" || strings.Join(n.Private, " ") != "b.example" {
			t.Errorf("got %+v", n)
		}
		if !Writes(g) || !OwnHome(g) || !slices.Equal(Packages(g), []string{"dep"}) || PassingOf(g).Allows("KEPT_A") {
			t.Errorf("got %s", g.Given)
		}
	}
	if n := Network(&Grant{Given: given("host:*")}); !n.All || Writes(&Grant{}) || OwnHome(&Grant{}) {
		t.Errorf("got %+v", n)
	}
}

// given returns what a user gave, as Grant.Given has it.
func given(list string) want.Set {
	var out want.Set
	for item := range strings.SplitSeq(list, ", ") {
		kind, name, _ := strings.Cut(item, ":")
		out = out.Add(want.Want{Kind: want.Kind(kind), Name: name, From: want.User})
	}
	return out
}

// Secrets are the values of what a script was given, the password in an address, and keys of model providers that it was not given.
func TestSecrets(t *testing.T) {
	p := &Passing{granted: []string{"GITHUB_TOKEN", "DSN_URL", "MODE"}}
	r := Secrets(p, []string{"GITHUB_TOKEN=tok-123456789", "DSN_URL=postgres://bob:hunter2222@db/x", "MODE=production", "OPENAI_API_KEY=sk-provider-1234", "OTHER_TOKEN=not-given-123", "TZ=Europe/Berlin"},
		map[string]string{"OWN_TOKEN": "own-98765432", "OWN_MODE": "verbose-mode"})
	got := string(r.Bytes([]byte("tok-123456789 hunter2222 production sk-provider-1234 not-given-123 Europe/Berlin own-98765432 verbose-mode")))
	want := "[redacted GITHUB_TOKEN] [redacted DSN_URL] production [redacted OPENAI_API_KEY] not-given-123 Europe/Berlin [redacted OWN_TOKEN] verbose-mode"
	if got != want {
		t.Errorf("got %s", got)
	}
}
