package script

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

// standard returns the environment of every script, without PATH.
func standard() []string {
	return append([]string{"LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1"}, language.Set()...)
}

// providers are the variables of model providers. They pass only if the user granted them.
var providers = []string{
	"ANTHROPIC_*", "CLAUDE_*", "OPENAI_*", "AZURE_OPENAI_*", "GEMINI_*", "GOOGLE_API_KEY", "GOOGLE_GEMINI_*", "GOOGLE_GENAI_*", "VERTEX_*",
	"AWS_BEARER_TOKEN_BEDROCK", "MISTRAL_*", "GROQ_*", "XAI_*", "DEEPSEEK_*", "OPENROUTER_*", "TOGETHER_*", "FIREWORKS_*", "COHERE_*", "CO_API_KEY",
	"CEREBRAS_*", "PERPLEXITY_*", "MOONSHOT_*", "DASHSCOPE_*", "REPLICATE_*", "HF_TOKEN", "HUGGINGFACE_*", "HUGGING_FACE_*", "OLLAMA_API_KEY",
}

// IsProviderKey reports whether a variable belongs to a model provider, as OPENAI_API_KEY does.
func IsProviderKey(name string) bool {
	return !variable.IsPattern(name) && program.Matches(providers, strings.ToUpper(name))
}

// ErrNeverPasses is wrapped by the error of CheckGrant for a variable that no script gets.
var ErrNeverPasses = errors.New("never passes to a script")

// CheckGrant returns an error if a variable cannot be granted: it can never pass, or the text names no single variable.
func CheckGrant(name string) error {
	switch {
	case variable.IsPattern(name):
		return fmt.Errorf("%q is a pattern: name each variable by itself", name)
	case !variable.IsName(name):
		return fmt.Errorf("%q is not the name of a variable: it has letters, digits and _", name)
	case strings.HasPrefix(strings.ToUpper(name), "AGENT_"):
		return fmt.Errorf("%s %w: variables that begin with AGENT_ are the engine's own", name, ErrNeverPasses)
	case variable.NeverPasses(name):
		return fmt.Errorf("%s %w: %s", name, ErrNeverPasses, variable.Reason)
	}
	return nil
}

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
	case variable.NeverPasses(name):
		return false
	case slices.Contains(p.granted, name):
		return true
	case IsProviderKey(name):
		return false
	}
	return slices.ContainsFunc(p.declared, func(g string) bool {
		return variable.CheckDeclared(g) == nil && program.Matches([]string{g}, name)
	})
}

// Forwarded returns the names of the variables of env, which are NAME=value, that the scripts of a skill get because its
// manifest asks for them, sorted. The variables of model providers are not among them.
func Forwarded(m *manifest.Manifest, env []string) []string {
	var out []string
	p := passing{declared: m.Permissions.Asked.Named(want.Variable)}
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
	return fromOperator(name) || slices.ContainsFunc(standard(), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

// Shown reports whether a question shows a variable that a script reads: not one that every script has, or that can never pass.
func Shown(variable string) bool { return !AlwaysPasses(variable) && CheckGrant(variable) == nil }

// fromOperator reports whether a variable of the operator's environment passes to every script.
func fromOperator(name string) bool {
	return program.NeededByNetwork(name) || name == "TZ" || program.NeededBySystem(name)
}

// environment returns a script's whole environment by name: the standard variables, those of the operator that pass, and the
// engine's own.
func (h *Host) environment(p *passing, own map[string]string) map[string]string {
	env := map[string]string{}
	for _, kv := range standard() {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	env["PATH"] = h.o.Path
	for _, kv := range h.o.Env {
		name, value, _ := strings.Cut(kv, "=")
		if fromOperator(name) || p.allows(name) {
			env[name] = value
		}
	}
	if runtime.GOOS == "windows" && h.o.Path == program.FixedPath {
		env["PATH"] = filepath.Join(env["SYSTEMROOT"], "System32") + ";" + env["SYSTEMROOT"]
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
