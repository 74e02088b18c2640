package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/agent-base/agent-base/skill/manifest"
)

const problemsIntro = `# Problems

` + "`agent skill validate`, `why`, `info`, `agent doctor`" + ` and ` + "`agent --check`" + ` report what is wrong with a skill in this
form, with the cure on the next line:

` + "```text" + `
%s
` + "```" + `

The code in brackets is stable. ` + "`agent skill validate --codes`" + ` prints this list, with ` + "`--json`" + ` for a program.

A problem is an **error** or a **warning**, depending on the profile (` + "`--profile`, `--strict` for `spec`" + `). Errors make
` + "`agent skill validate`" + ` end with exit code 4; warnings do not. In the profile ` + "`default`" + ` a skill with errors is loaded as far
as it can be read, unless an error is **fatal**. In every other profile a skill with an error is not loaded.

## All problems of a skill

E is an error, W a warning, – means that the profile ignores it, and ! that it is fatal. Below, the cure follows the arrow.

`

// problemsPage returns the page about problems.
func problemsPage() (string, error) {
	var b strings.Builder
	b.WriteString(made("manifest.Codes"))
	fmt.Fprintf(&b, problemsIntro, sample())
	b.WriteString("| code | `default` | other profiles, where they differ |\n|---|:-:|---|\n")
	rules := manifest.Codes()
	for _, r := range rules {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", r.Code, r.Code, letter(r, manifest.Profiles()[0]), others(r))
	}
	b.WriteString("\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "### %s\n\n%s → %s.\n\n", r.Code, sentence(r.Description), cure(r))
		if ex := findExample(r.Code); ex.code != "" {
			fmt.Fprintf(&b, "```yaml\n%s   # %s\n%s   # better\n```\n\n", ex.wrong, r.Code, ex.right)
		}
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n| code | | meaning | cure |\n|---|---|---|---|\n", g.title, g.intro)
		for _, c := range g.codes {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.code, c.severity, c.about, c.cure)
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// cure returns the cure of a rule as Markdown, with what repairs it.
func cure(r manifest.Rule) string {
	text := quoted.ReplaceAllString(r.Cure, "`$1`")
	if manifest.Fixes(r.Code) {
		text += "; `agent skill validate --fix` does"
	}
	return text
}

// sample returns a problem as the command prints it.
func sample() string {
	_, problems := manifest.Parse([]byte("---\nname: csv-report\n"+findExample("yaml-colon").wrong+"\n---\nText.\n"), nil)
	if len(problems) == 0 {
		return ""
	}
	return problems[0].Error() + "\n    " + problems[0].Cure
}

func letter(r manifest.Rule, profile string) string {
	text := map[manifest.Severity]string{manifest.SeverityOff: "–", manifest.SeverityWarning: "W", manifest.SeverityError: "E"}[r.Severity[profile]]
	if r.Fatal {
		text += "!"
	}
	return text
}

// others says which profiles differ from the first one, and how: "`spec`, `wink` E; `harness` –".
func others(r manifest.Rule) string {
	var order []string
	names := map[string][]string{}
	first, rest := manifest.Profiles()[0], manifest.Profiles()[1:]
	for _, name := range rest {
		if l := letter(r, name); l != letter(r, first) {
			if names[l] == nil {
				order = append(order, l)
			}
			names[l] = append(names[l], code(name))
		}
	}
	for i, l := range order {
		if len(names[l]) == len(rest) {
			names[l] = []string{"all"}
		}
		order[i] = strings.Join(names[l], ", ") + " " + l
	}
	return strings.Join(order, "; ")
}

// quoted matches what a user types.
var quoted = regexp.MustCompile(`"([^"]*)"`)

// sentence returns the description of a rule as a sentence. A key at its beginning becomes code.
func sentence(text string) string {
	if word, rest, _ := strings.Cut(text, " "); strings.ContainsAny(word, "_-") {
		return code(word) + " " + rest
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
