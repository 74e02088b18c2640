package script

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/skill/manifest"
)

// standard is the environment of every script, without PATH.
var standard = map[string]string{
	"LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
	"PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1", "PYTHONUTF8": "1",
}

// dangerous holds the variables that never pass: they make programs load or run something else, or are the engine's own.
var dangerous = []string{
	"LD_*", "DYLD_*", "GLIBC_TUNABLES", "GCONV_PATH", "BASH_ENV", "BASH_FUNC_*", "BASHOPTS", "SHELLOPTS", "ENV", "IFS", "PS4",
	"PYTHON*", "NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "BUN_OPTIONS", "BUN_CONFIG_*", "BUN_INSTALL*", "DENO_*", "TSX_TSCONFIG_PATH", "TS_NODE_*",
	"PERL5*", "PERLLIB", "PERL_USE_UNSAFE_INC", "RUBYOPT", "RUBYLIB", "RUBYPATH", "GEM_HOME", "GEM_PATH", "BUNDLE_*", "BUNDLER_*", "LUA_INIT*", "LUA_PATH*", "LUA_CPATH*",
	"R_PROFILE*", "R_ENVIRON*", "R_LIBS*", "JULIA_*", "OCTAVE_*", "BABASHKA_*", "PHPRC", "PHP_INI_SCAN_DIR", "PSMODULEPATH", "TCLLIBPATH",
	"CLASSPATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "DOTNET_STARTUP_HOOKS", "CORECLR_*", "COR_PROFILER*", "COR_ENABLE_PROFILING", "ERL_*FLAGS", "ERL_LIBS", "GTK_MODULES",
	"NPM_CONFIG_*", "YARN_*", "ZDOTDIR", "FPATH", "LESSOPEN", "LESSCLOSE", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "SSLKEYLOGFILE", "GIT_*", "SSH_*", "UV_*", "PIP_*",
	"PATH", "HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "AGENT_*",
}

// providers are the variables of model providers. They pass only if the user granted them.
var providers = []string{
	"ANTHROPIC_*", "CLAUDE_*", "OPENAI_*", "AZURE_OPENAI_*", "GEMINI_*", "GOOGLE_API_KEY", "GOOGLE_GEMINI_*", "GOOGLE_GENAI_*", "VERTEX_*",
	"AWS_BEARER_TOKEN_BEDROCK", "MISTRAL_*", "GROQ_*", "XAI_*", "DEEPSEEK_*", "OPENROUTER_*", "TOGETHER_*", "FIREWORKS_*", "COHERE_*", "CO_API_KEY",
	"CEREBRAS_*", "PERPLEXITY_*", "MOONSHOT_*", "DASHSCOPE_*", "REPLICATE_*", "HF_TOKEN", "HUGGINGFACE_*", "HUGGING_FACE_*", "OLLAMA_API_KEY",
}

// wild holds the characters of a pattern.
const wild = `*?[\`

// IsProviderKey reports whether a variable belongs to a model provider, as OPENAI_API_KEY does.
func IsProviderKey(name string) bool {
	return !strings.ContainsAny(name, wild) && program.Matches(providers, strings.ToUpper(name))
}

// ErrNeverPasses is wrapped by the error of CheckGrant for a variable that no script gets.
var ErrNeverPasses = errors.New("never passes to a script")

// CheckGrant returns an error if a variable cannot be granted: it can never pass, or the text names no single variable.
func CheckGrant(name string) error {
	switch {
	case strings.ContainsAny(name, wild):
		return fmt.Errorf("%q is a pattern: name each variable by itself", name)
	case !isName(name):
		return fmt.Errorf("%q is not the name of a variable: it has letters, digits and _", name)
	case strings.HasPrefix(strings.ToUpper(name), "AGENT_"):
		return fmt.Errorf("%s %w: variables that begin with AGENT_ are the engine's own", name, ErrNeverPasses)
	case program.Matches(dangerous, strings.ToUpper(name)):
		return fmt.Errorf("%s %w: it decides which programs and files are loaded, or where they are", name, ErrNeverPasses)
	}
	return nil
}

// isName reports whether a text can be the name of a variable.
func isName(name string) bool {
	letter := func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' || r == '_' }
	return name != "" && len(name) <= maxName && letter(rune(name[0])) &&
		strings.IndexFunc(name, func(r rune) bool { return !letter(r) && !(r >= '0' && r <= '9') }) < 0
}

const maxName = 200 // bytes

// passing decides which of the operator's variables pass to the scripts of a skill.
type passing struct {
	declared []string // names and patterns of the manifest
	granted  []string // exact names that the user granted
}

// allows reports whether a variable passes: the user granted it, or the manifest names it and it is no provider's.
func (p *passing) allows(name string) bool {
	switch {
	case name == "" || len(p.granted) == 0 && len(p.declared) == 0:
		return false
	case program.Matches(dangerous, strings.ToUpper(name)):
		return false
	case slices.Contains(p.granted, name):
		return true
	case IsProviderKey(name):
		return false
	}
	return slices.ContainsFunc(p.declared, func(g string) bool { return namesVariables(g) && program.Matches([]string{g}, name) })
}

// namesVariables reports whether a pattern of permissions.env forwards anything: a name, or a prefix of three letters or
// more and "_" with wildcards after it. "*", "A*" and "*_TOKEN" would forward variables that no author meant.
func namesVariables(glob string) bool {
	if _, err := path.Match(glob, ""); err != nil || glob == "" || program.Matches(dangerous, strings.ToUpper(glob)) {
		return false
	}
	at := strings.IndexAny(glob, wild)
	if at < 0 {
		return true
	}
	first, _, found := strings.Cut(glob[:at], "_")
	return found && len(first) >= 3 && strings.IndexFunc(first[:3], func(r rune) bool { return !(r|0x20 >= 'a' && r|0x20 <= 'z') }) < 0
}

// Forwarded returns the names of the variables of env, which are NAME=value, that the scripts of a skill get because its
// manifest asks for them, sorted. The variables of model providers are not among them.
func Forwarded(m *manifest.Manifest, env []string) []string {
	var out []string
	p := passing{declared: m.Permissions.Env}
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); p.allows(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// AlwaysPasses reports whether every script gets a variable: with the operator's value, such as TZ, or with the engine's, such as
// LANG.
func AlwaysPasses(name string) bool {
	if _, ok := standard[name]; ok {
		return true
	}
	return fromOperator(name)
}

// fromOperator reports whether a variable of the operator's environment passes to every script.
func fromOperator(name string) bool {
	return program.NeededByNetwork(name) || name == "TZ" || program.NeededBySystem(name)
}

// environment returns a script's whole environment by name: the standard variables, those of the operator that pass, and the
// engine's own.
func (h *Host) environment(p *passing, own map[string]string) map[string]string {
	env := maps.Clone(standard)
	env["PATH"] = h.o.Path
	for _, kv := range h.o.Env {
		name, value, _ := strings.Cut(kv, "=")
		if fromOperator(name) || p.allows(name) {
			env[name] = value
		}
	}
	if runtime.GOOS == "windows" {
		own["USERPROFILE"], own["TEMP"], own["TMP"] = own["HOME"], own["TMPDIR"], own["TMPDIR"]
		if h.o.Path == program.FixedPath {
			env["PATH"] = filepath.Join(env["SYSTEMROOT"], "System32") + ";" + env["SYSTEMROOT"]
		}
	}
	maps.Copy(env, own)
	return env
}

// withCommands adds the folders of the commands that the skill requires to PATH: a skill that is available because of a
// command must find it when it runs.
func (h *Host) withCommands(searchPath string, commands []string) string {
	for _, name := range commands {
		p, err := h.o.LookPath(name)
		if err != nil || !filepath.IsAbs(p) {
			continue
		}
		if dir := filepath.Dir(p); !slices.Contains(filepath.SplitList(searchPath), dir) {
			searchPath += string(filepath.ListSeparator) + dir
		}
	}
	return searchPath
}

// NeverGiven returns the entries of a manifest's permissions.env that give its scripts nothing, such as LD_PRELOAD or A*.
func NeverGiven(m *manifest.Manifest) []string {
	return slices.DeleteFunc(slices.Clone(m.Permissions.Env), namesVariables)
}

// checkPermissions reports patterns of permissions.env that forward nothing.
func checkPermissions(m *manifest.Manifest) []manifest.Problem {
	var out []manifest.Problem
	for _, g := range NeverGiven(m) {
		why, cure := "names no variables: it forwards nothing", "write a name, or a prefix such as KALSHI_*"
		if program.Matches(dangerous, strings.ToUpper(g)) {
			why, cure = "is given to no script: it decides which programs and files are loaded, or where they are", "leave it out"
		}
		out = append(out, manifest.Problem{Code: "permissions-env", Severity: manifest.SeverityWarning, File: "SKILL.md", Field: "permissions",
			Message: fmt.Sprintf("%q in permissions.env %s", g, why), Cure: cure})
	}
	return out
}
