package script

import (
	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

// Grant is what the user gave the scripts of a skill; the zero value gives nothing. Given has it, Declared and Withheld say what counts of
// what the manifest asks for, Note is what the caller of a run should know, Confine whether they may run without a sandbox, and Env has
// variables in place of all the operator's, if it is not nil. Its method Passes says which of the operator's variables they get.
type Grant = plan.Grant

// ErrNeverPasses is wrapped by the error of CheckGrant for a variable that no script gets.
var ErrNeverPasses = plan.ErrNeverPasses

// CheckGrant returns an error if a variable cannot be granted: it can never pass, or the text names no single variable.
func CheckGrant(name string) error { return plan.CheckGrant(name) }

// Declared returns what a manifest's permissions give its scripts once the skill may run: patterns of variables, but not those of
// model providers and those that forward nothing, hosts, and folders.
func Declared(m *manifest.Manifest) want.Set { return plan.Declared(m) }

// Forwarded returns the names of the variables of env, which are NAME=value, that the scripts of a skill get because its
// manifest asks for them, sorted. The variables of model providers are not among them.
func Forwarded(m *manifest.Manifest, env []string) []string { return plan.Forwarded(m, env) }

// AlwaysPasses reports whether every script gets a variable: with the operator's value, such as TZ, or with the engine's, such as
// LANG.
func AlwaysPasses(name string) bool { return plan.AlwaysPasses(name) }

// IsProviderKey reports whether a variable belongs to a model provider, as OPENAI_API_KEY does.
func IsProviderKey(name string) bool { return plan.IsProviderKey(name) }

// IsKey reports whether the name of a variable looks like that of a secret.
func IsKey(name string) bool { return variable.IsKey(name) }

// IsSecret reports whether a variable holds what must not be printed. A name such as GITHUB_TOKEN shows that. With another
// name the value counts, unless it is plainly a setting: a number, words, a path, or an address without a password.
func IsSecret(name, value string) bool { return plan.IsSecret(name, value) }

// Shown reports whether a question shows a variable that a script reads: not one that every script has, or that can never pass.
func Shown(variable string) bool { return !AlwaysPasses(variable) && CheckGrant(variable) == nil }
