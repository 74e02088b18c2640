// Package scaffold has the files of a new skill: a SKILL.md to fill in, and examples of what a skill can bring, which work at
// once. It also has a project's first AGENTS.md. It writes nothing.
package scaffold

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/draft"
)

//go:embed files
var files embed.FS

// Kind is what a new skill brings.
type Kind string

// The kinds.
const (
	Script     Kind = "script"     // a Python script with a test
	Toolset    Kind = "toolset"    // a Python class whose methods are tools
	TypeScript Kind = "typescript" // tools in TypeScript
	MCP        Kind = "mcp"        // an MCP server as a toolset
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Script, Toolset, TypeScript, MCP} }

// bare is the smallest skill that the open standard accepts. The name is plain: nothing needs quoting.
const bare = `---
name: %s
description: ` + draft.Description + `
---
# %s

` + draft.Body + `
`

// part is what one kind adds to the SKILL.md.
type part struct{ toolset, section string }

// parts are in the order of Kinds.
var parts = map[Kind]part{
	Script: {"", `
## Scripts

- ` + "`hello --name NAME`" + ` greets somebody; ` + "`--times N`" + ` says how often.
`},
	Toolset: {"toolsets.hello:Hello", `
## Tools

- ` + "`{{tool}}_greet(name, times)`" + ` greets somebody.
`},
	TypeScript: {"toolsets/index:HelloTools", `
## Tools in TypeScript

- ` + "`{{tool}}_hello(name, times)`" + ` greets somebody.
`},
	MCP: {"", `
## Tools of the server

- ` + "`{{tool}}_welcome(name)`" + ` welcomes somebody.
`},
}

// Files returns the files of a new skill by slash path. name is a name of the open standard. Kinds may repeat.
func Files(name string, kinds []Kind) (map[string][]byte, error) {
	if len(kinds) == 0 {
		return map[string][]byte{"SKILL.md": fmt.Appendf(nil, bare, name, title(name))}, nil
	}
	fill := strings.NewReplacer("{{name}}", name, "{{tool}}", tool(name), "{{other}}", other(name))
	out := map[string][]byte{"SKILL.md": []byte(fill.Replace(manifest(name, kinds)))}
	for _, kind := range append([]Kind{"any"}, kinds...) {
		top := path.Join("files", string(kind))
		err := fs.WalkDir(files, top, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := files.ReadFile(file)
			out[strings.TrimPrefix(file, top+"/")] = []byte(fill.Replace(string(text)))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// manifest returns a SKILL.md with a section for each kind.
func manifest(name string, kinds []Kind) string {
	var toolsets, sections strings.Builder
	for _, kind := range Kinds() {
		if !slices.Contains(kinds, kind) {
			continue
		}
		if entry := parts[kind].toolset; entry != "" {
			toolsets.WriteString("  - " + entry + "\n")
		}
		sections.WriteString(parts[kind].section)
	}
	front := "---\nname: {{name}}\ndescription: " + draft.Greets + "{{name}}.\n"
	if toolsets.Len() > 0 {
		front += "toolsets:\n" + toolsets.String()
	}
	return front + "---\n# " + title(name) + "\n\n" + draft.Body + "\n" + sections.String()
}

// other returns a request that is not for the skill.
func other(name string) string {
	if strings.Contains(name, "weather") {
		return "which film won the prize last year?"
	}
	return "what is the weather in Oslo tomorrow?"
}

// title makes "Csv report" of "csv-report".
func title(name string) string {
	first, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + strings.ReplaceAll(name[n:], "-", " ")
}

// longest is how much of a skill's name begins the names of its tools: these have 64 characters at most.
const longest = 40

// ToolOf returns the tool that a kind adds to a skill; "" if it adds none. It takes an argument called name.
func ToolOf(kind Kind, name string) string {
	verb := map[Kind]string{Toolset: "greet", TypeScript: "hello", MCP: "welcome"}[kind]
	if verb == "" {
		return ""
	}
	return tool(name) + "_" + verb
}

// tool makes "csv_report" of "csv-report": names of tools begin with it, so they do not collide with those of other skills. Tools have
// only letters of ASCII, so that it is "skill" for a name without any.
func tool(name string) string {
	out := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r == '-':
			return '_'
		case r >= utf8.RuneSelf:
			return -1
		}
		return r
	}, name), "_")
	if out == "" {
		out = "skill"
	}
	if out[0] >= '0' && out[0] <= '9' {
		out = "s" + out
	}
	return strings.TrimRight(out[:min(len(out), longest)], "_")
}
