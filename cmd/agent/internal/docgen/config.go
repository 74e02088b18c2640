package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
)

const configIntro = `# Settings

Every setting has a default. ` + "`agent doctor`" + ` shows the settings and where their values come from.

## Where a setting comes from

The first of these that sets it wins:

1. a **flag**: ` + "`--profile`, `--strict`, `--skills-dir`, `--timeout`" + `
2. the **environment**: the variable in the table below. An empty variable counts as not set, except for ` + "`AGENT_SKILLS`" + `.
3. the **project's file**: ` + "`.agent/config.yaml`" + ` in the project, as far as the column "project" allows
4. **your file**: ` + "`config.yaml` in `$AGENT_HOME`, which is `~/.agent`" + ` by default
5. the **profile**, see below
6. the **default**

Lists that a project "may add" to are joined from all sources; any other value is replaced as a whole. The project is the
nearest folder upwards with ` + "`.git`, or the working directory if there is none; `--project DIR`" + ` names another one. No
` + "`.env`" + ` file is read.

A damaged file or an invalid value never stops the command: it is reported with its place and its cure. A setting that
protects you then has its strictest value. While your file, or one of its keys ` + "`enabledSkills`, `disabled`, `allow`" + `
and ` + "`deny`" + `, cannot be read, only the bundled skills are loaded. Your file and its folder must belong to you or to root, and
no other user may have permission to write to them; otherwise the file is not read.

A project's file comes with a clone, so it can narrow but never widen: it cannot grant trust, choose programs, set
` + "`AGENT_SKILLS`" + `, loosen a protection, or name a folder outside the project. No settings file grants trust; use
` + "`agent skill trust`" + `. A project that is your home folder has no layers of its own.

## An example

` + "```yaml\n" + configExample + "```" + `

Keys may also be written in snake case: ` + "`max_skills`" + `. Paths may begin with ` + "`~/`" + `. Relative paths start from
` + "`$AGENT_HOME`" + ` in your file and from the project in its file. A time is such as ` + "`30s` or `2m`" + `; a bare number is in milliseconds, and
in seconds in the environment and as ` + "`script_timeout`" + `.

## Every setting

Settings are below ` + "`skills:`; those of the agent itself are below `agent:`" + `.
`

// configExample is the text of the example file. A test loads it without a problem.
const configExample = `# ~/.agent/config.yaml
skills:
  disabled: [gh]
  deny: ["*-deprecated"]
  roots:
    - ~/src/team-skills
    - path: /srv/skills
      mount: skills/org
  budget: 1500          # tokens for the list of skills
  scriptTimeout: 2m
agent:
  model: ollama/qwen3
permissions:
  allow:
    - Bash(go test:*)
  deny:
    - Read(.env)
`

// configPage returns the page about settings.
func configPage() (string, error) {
	var b strings.Builder
	b.WriteString(made("cmd/agent/internal/config") + configIntro)
	section := ""
	for _, k := range config.Keys() {
		if k.Section != section {
			section = k.Section
			fmt.Fprintf(&b, "\n| key below `%s:` | value | default | variable | project |\n|---|---|---|---|---|\n", section)
		}
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | `%s` | %s |\n", k.Local, strings.ReplaceAll(strings.ToLower(k.Name), ".", ""), form(k), code(k.Default), k.Variable, k.Project)
	}
	b.WriteString("\nThe column \"project\" says what a project's file may do with a key.\n\n")
	for _, k := range config.Keys() {
		fmt.Fprintf(&b, "### %s\n\n%s%s\n\n", k.Name, k.About, aliases(k))
		for i, means := range k.Means {
			fmt.Fprintf(&b, "* %s: %s\n", code(k.Values[i]), means)
		}
		if len(k.Means) > 0 {
			b.WriteByte('\n')
		}
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
| ` + "`NO_COLOR`" + ` | no colours, if it is not empty |
| ` + "`ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` or `GOOGLE_API_KEY`" + ` | the keys of the models' providers |
| ` + "`ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL`, `GOOGLE_GEMINI_BASE_URL`" + ` | servers to use instead of the providers' own |
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

// writeLayers writes the folders of each layer without any settings.
func writeLayers(b *strings.Builder) {
	b.WriteString("## Layers\n\nA skill hides skills of the same name in lower layers; `agent skill why NAME` shows all of them. Highest first:\n\n" +
		"| layer | folders |\n|---|---|\n")
	c, _ := config.Load(&config.Options{Home: "/~", Project: "/PROJECT"})
	folders := map[string][]string{config.Extra: {"`roots` of your settings, `--skills-dir`"}, config.Bundled: {"built into the command, or `coreDir`"}}
	for _, l := range c.Layers() {
		if l.Dir != "" {
			folders[l.Name] = append(folders[l.Name], code(folder(l.Dir)))
		}
	}
	for _, name := range c.Precedence {
		fmt.Fprintf(b, "| `%s` | %s |\n", name, strings.Join(folders[name], ", "))
	}
	b.WriteString("\n`project` and `claude` are read in each folder from the working directory up to the root of the repository. The skills of the nearest\n" +
		"folder hide those of the others in their layer.\n")
	b.WriteString("\nThe `roots` of a project belong to its layer. `enterprise` is always first. Layers that `precedence` leaves out follow in\nthis order. Named orders:\n\n")
	for _, p := range config.Presets() {
		fmt.Fprintf(b, "* `%s`: %s\n", p.Name, strings.Join(p.Order, ", "))
	}
	b.WriteString("\nWith `omniforge` the folders `.omniforge/skills` of the project, `~/.omniforge/skills` and\n`~/.omniforge/enterprise/skills` are read as well, and the `priority` of a skill counts.\n\n")
}

// folder returns a path as users write it.
func folder(path string) string {
	if rest, ok := strings.CutPrefix(path, "/~/"); ok {
		return "~/" + rest
	}
	return strings.TrimPrefix(path, "/PROJECT/")
}

// writeProfiles writes what each profile sets, and the defaults.
func writeProfiles(b *strings.Builder) {
	b.WriteString("## Profiles\n\nA profile is a set of defaults and of severities of problems, which are in [problems.md](problems.md).\n`--strict` is `--profile spec`.\n\n| profile | about |\n|---|---|\n")
	all := config.Profiles()
	set := map[string]bool{}
	for _, p := range all {
		fmt.Fprintf(b, "| `%s` | %s |\n", p.Name, p.About)
		for key := range p.Options {
			set[key] = true
		}
	}
	b.WriteString("\nWhat they set, if it is not the default:\n\n| key |")
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
