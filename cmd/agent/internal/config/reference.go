package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// KeyInfo describes one setting for the documentation. All texts are Markdown.
type KeyInfo struct {
	Name     string
	Local    string   // how a file has it below Section
	Section  string   // the map of a settings file that has it: "skills", "agent" or "permissions"
	Kind     string   // the form of its value, such as "path" or "0 to 10"
	Values   []string // the possible values, if they can be listed; from loose to strict if Project is "stricter"
	Default  string   // as written in a file; "" means none
	Variable string   // its environment variable
	Aliases  []string // spellings other than snake case
	Project  string   // what a project's file may do: "yes", "stricter", "may add", "if you did not", "may propose" or "no"
	About    string   // what it does
	Means    []string // what each of Values does; nil if About says it
}

// Keys returns every setting in the order of the documentation.
func Keys() []KeyInfo {
	out := make([]KeyInfo, len(keys))
	for i, k := range keys {
		out[i] = KeyInfo{Name: k.name, Local: k.written(), Section: k.in(), Kind: k.form(), Values: slices.Clone(k.choices()), Default: k.initial,
			Variable: k.variable(), Aliases: slices.Clone(k.aliases), Project: k.project.String(), About: k.about, Means: slices.Clone(k.means)}
	}
	return out
}

// form describes the form of a value.
func (k *key) form() string {
	switch k.kind {
	case number:
		return fmt.Sprintf("%d to %d%s", k.min, k.max, k.orZero())
	case duration:
		return fmt.Sprintf("time, %s to %s", short(k.min), short(k.max))
	}
	return [...]string{
		choice: "one of", boolean: "true or false", names: "list of names", globs: "list of globs", place: "path",
		places: "list of paths", roots: "list of paths", plugins: "list of maps", layers: "name, or list of layers",
		selection: "word, or list of names", word: "one word", tenant: "one word", words: "list of", hosts: "list of hosts", variables: "list of variables", rules: "list of rules", texts: "list of words", table: "map of tenants", servers: "map", hooks: "map of events",
	}[k.kind]
}

// short formats a time in milliseconds without trailing zero parts, such as 30m.
func short(ms int64) string {
	text := (time.Duration(ms) * time.Millisecond).String()
	if rest, ok := strings.CutSuffix(text, "m0s"); ok {
		text = rest + "m"
	}
	if rest, ok := strings.CutSuffix(text, "h0m"); ok {
		text = rest + "h"
	}
	return text
}

// String returns what a project may do with a key, in a few words.
func (r rule) String() string {
	return [...]string{set: "yes", tighten: "stricter", add: "may add", ifUnset: "if you did not", propose: "may propose", never: "no"}[r]
}
