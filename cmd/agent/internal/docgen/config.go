package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
)

const configIntro = `# Settings

Every setting has a default that works: no file is needed. ` + "`agent doctor`" + ` shows each one with the place that its
value came from.

## Where a setting comes from

The first of these that names it wins:

1. a **flag**: ` + "`--profile`, `--strict`, `--skills-dir`, `--timeout`" + `
2. the **environment**: the variable in the table below. An empty one counts as not set, but for ` + "`AGENT_SKILLS`" + `.
3. the **project's file**: ` + "`.agent/config.yaml`" + ` in the project, as far as the column "project" lets it
4. **your file**: ` + "`config.yaml` in `$AGENT_HOME`, which is `~/.agent`" + ` by default
5. the **profile**, see below
6. the **default**

Lists that a project "may add" to are joined from all of them; every other value is replaced as a whole. The project is
the nearest folder upwards with ` + "`.git`, else the working directory; `--project DIR`" + ` names another one. No ` + "`.env`" + ` file
is read.

A damaged file or a value that makes no sense never stops the command: it is a problem with its place and its cure.
What protects somebody then has its strictest value.

A project's file comes with a clone, so it can narrow and never widen: it cannot give trust, choose programs, set
` + "`AGENT_SKILLS`" + `, loosen a protection, or name a folder outside the project. No settings file gives trust: that is what
` + "`agent skill trust`" + ` is for.

## An example

` + "```yaml\n" + configExample + "```" + `

Keys may be written in snake case too: ` + "`max_skills`" + `. Paths may begin with ` + "`~/`" + `; relative ones start from
` + "`$AGENT_HOME`" + ` in your file, and from the project in its own.

## Every setting

They stand below ` + "`skills:`, those of the agent itself below `agent:`" + `.
`

// configExample is the text of the example file. A test reads it, without a problem.
const configExample = `# ~/.agent/config.yaml
skills:
  disabled: [gh]
  deny: ["*-deprecated"]
  roots:
    - ~/src/team-skills
    - path: /srv/skills
      mount: skills/org
  budget: 1500          # tokens for the list that a model is told
  scriptTimeout: 2m
agent:
  model: ollama/qwen3
`

// configPage is the reference of the settings.
func configPage() (string, error) {
	var b strings.Builder
	b.WriteString(made("cmd/agent/internal/config") + configIntro)
	section := ""
	for _, k := range config.Keys() {
		if k.Section != section {
			section = k.Section
			fmt.Fprintf(&b, "\n| key below `%s:` | value | default | variable | project |\n|---|---|---|---|---|\n", section)
		}
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | `%s` | %s |\n", k.Name, strings.ToLower(k.Name), form(k), code(k.Default), k.Variable, k.Project)
	}
	b.WriteString("\nThe column \"project\" says what a project's file may do with the key.\n\n")
	for _, k := range config.Keys() {
		fmt.Fprintf(&b, "### %s\n\n%s%s\n\n", k.Name, k.About, aliases(k))
	}
	writeLayers(&b)
	writeProfiles(&b)
	b.WriteString(configMore)
	return b.String(), nil
}

const configMore = `
## Other variables

| variable | meaning |
|---|---|
| ` + "`AGENT_HOME`" + ` | the folder of your settings, skills, approvals and cache; absolute; ` + "`~/.agent`" + ` by default |
| ` + "`NO_COLOR`" + ` | no colours, when it is not empty |
| ` + "`ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` or `GOOGLE_API_KEY`" + ` | the keys of the models' providers |
| ` + "`ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL`, `GOOGLE_GEMINI_BASE_URL`" + ` | servers that stand in for the providers' own |
`

func form(k config.KeyInfo) string {
	if len(k.Values) == 0 {
		return k.Kind
	}
	if k.Name == "profile" {
		return "[a profile](#profiles)"
	}
	values := make([]string, len(k.Values))
	for i, v := range k.Values {
		values[i] = code(v)
	}
	if k.Kind == "list of" {
		return k.Kind + " " + strings.Join(values, ", ")
	}
	return strings.Join(values, ", ")
}

func aliases(k config.KeyInfo) string {
	if len(k.Aliases) == 0 {
		return ""
	}
	words := make([]string, len(k.Aliases))
	for i, a := range k.Aliases {
		words[i] = code(a)
	}
	return " Also read: " + strings.Join(words, ", ") + "."
}

func code(s string) string {
	if s == "" {
		return "–"
	}
	return "`" + s + "`"
}

// writeLayers writes the folders of each layer, as a configuration without any file has them.
func writeLayers(b *strings.Builder) {
	b.WriteString("## Layers\n\nA skill of a higher layer hides one of the same name in a lower one; `agent skill why NAME` shows both. Highest first:\n\n" +
		"| layer | folders |\n|---|---|\n")
	c, _ := config.Load(&config.Options{Home: "/~", Project: "/PROJECT"})
	folders := map[string][]string{config.Extra: {"`roots` of your settings, `--skills-dir`"}, config.Bundled: {"in the command itself, or `coreDir`"}}
	for _, l := range c.Layers() {
		if l.Dir != "" {
			folders[l.Name] = append(folders[l.Name], code(folder(l.Dir)))
		}
	}
	for _, name := range c.Precedence {
		fmt.Fprintf(b, "| `%s` | %s |\n", name, strings.Join(folders[name], ", "))
	}
	b.WriteString("\nA project's own `roots` belong to its layer. `enterprise` is first whatever `precedence` says, and layers that it\nleaves out follow in this order. Orders that have a name:\n\n")
	for _, p := range config.Presets() {
		fmt.Fprintf(b, "* `%s`: %s\n", p.Name, strings.Join(p.Order, ", "))
	}
	b.WriteString("\nWith `omniforge` the folders `.omniforge/skills` of the project, `~/.omniforge/skills` and\n`~/.omniforge/enterprise/skills` are read as well, and `priority` of a skill counts.\n\n")
}

// folder writes a path as people do.
func folder(path string) string {
	if rest, ok := strings.CutPrefix(path, "/~/"); ok {
		return "~/" + rest
	}
	return strings.TrimPrefix(path, "/PROJECT/")
}

// writeProfiles writes what each profile sets, next to the default.
func writeProfiles(b *strings.Builder) {
	b.WriteString("## Profiles\n\nA profile is a set of defaults, and a severity for each problem: [problems.md](problems.md) has those.\n`--strict` is `--profile spec`.\n\n| profile | what it is |\n|---|---|\n")
	all := config.Profiles()
	set := map[string]bool{}
	for _, p := range all {
		fmt.Fprintf(b, "| `%s` | %s |\n", p.Name, rows.ReplaceAllString(p.About, ""))
		for key := range p.Options {
			set[key] = true
		}
	}
	b.WriteString("\nWhat they set, where it is not the default:\n\n| key |")
	for _, p := range all {
		fmt.Fprintf(b, " %s |", p.Name)
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(all)+1) + "\n")
	keys := slices.DeleteFunc(config.Keys(), func(k config.KeyInfo) bool { return !set[k.Name] })
	for _, k := range keys {
		fmt.Fprintf(b, "| `%s` |", k.Name)
		for i, p := range all {
			value := p.Options[k.Name]
			switch {
			case i == 0:
				value = code(k.Default)
			case value != "" && value != k.Default:
				value = code(value)
			default:
				value = ""
			}
			fmt.Fprintf(b, " %s |", value)
		}
		b.WriteString("\n")
	}
}
