// Package plan says what the scripts of a skill get of what the operator has, by what its manifest declares and the user gave, and makes
// the command of a run. It runs nothing and changes nothing.
package plan

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
	return !variable.IsPattern(name) && variable.Matches(providers, strings.ToUpper(name))
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

// Passing decides which of the operator's variables pass to the scripts of a skill.
type Passing struct {
	declared []string // names and patterns of the manifest
	granted  []string // exact names that the user granted
}

// Allows reports whether a variable passes: the user granted it, or the manifest names it and it is no provider's.
func (p *Passing) Allows(name string) bool {
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
		return variable.CheckDeclared(g) == nil && variable.Matches([]string{g}, name)
	})
}

// Forwarded returns the names of the variables of env, which are NAME=value, that the scripts of a skill get because its
// manifest asks for them, sorted. The variables of model providers are not among them.
func Forwarded(m *manifest.Manifest, env []string) []string {
	var out []string
	p := Passing{declared: m.Permissions.Asked.Named(want.Variable)}
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); p.Allows(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// AlwaysPasses reports whether every script gets a variable: with the operator's value, such as TZ, or with the engine's, such as
// LANG.
func AlwaysPasses(name string) bool {
	return FromOperator(name) || slices.ContainsFunc(standard(), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

// FromOperator reports whether a variable of the operator's environment passes to every script.
func FromOperator(name string) bool {
	return program.NeededByNetwork(name) || name == "TZ" || program.NeededBySystem(name)
}

// Environment returns a script's whole environment by name: the standard variables, those of the operator that pass, and the
// engine's own. searchPath is its PATH, and env the operator's environment.
func Environment(p *Passing, searchPath string, env []string, own map[string]string) map[string]string {
	out := map[string]string{}
	for _, kv := range standard() {
		name, value, _ := strings.Cut(kv, "=")
		out[name] = value
	}
	out["PATH"] = searchPath
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if FromOperator(name) || p.Allows(name) {
			out[name] = value
		}
	}
	if runtime.GOOS == "windows" && searchPath == program.FixedPath {
		out["PATH"] = filepath.Join(out["SYSTEMROOT"], "System32") + ";" + out["SYSTEMROOT"]
	}
	maps.Copy(out, own)
	return out
}

// UserHome returns the home that an operator's environment names, "" if it names no folder.
func UserHome(env []string) string {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	home := ""
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok && filepath.IsAbs(value) {
			home = value
		}
	}
	return home
}
