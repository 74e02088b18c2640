package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/agent-base/agent-base/skill/manifest"
)

const problemsIntro = `# Problems

` + "`agent skill validate`, `why`, `info`, `agent doctor`" + ` and ` + "`agent --check`" + ` say what is wrong with a skill in this form,
with the cure on the next line:

` + "```" + `
%s
` + "```" + `

The code in brackets is stable. ` + "`agent skill validate --codes`" + ` prints this list, with ` + "`--json`" + ` for a program.

A problem is an **error** or a **warning**; how bad it is depends on the profile (` + "`--profile`, `--strict` for `spec`" + `).
Errors make ` + "`agent skill validate`" + ` end with exit code 4, warnings do not. In the profile ` + "`default`" + ` a skill with errors
is loaded all the same, as far as it can be read, unless the problem is **fatal**: then nothing is left to use. In every
other profile a skill with an error is not loaded.

## All problems of a skill

E is an error, W a warning, – means that the profile does not mind, and ! that the problem is fatal.

`

// problemsPage is the reference of the problems.
func problemsPage() (string, error) {
	var b strings.Builder
	b.WriteString(made("manifest.Codes"))
	fmt.Fprintf(&b, problemsIntro, sample())
	profiles := manifest.Profiles()
	fmt.Fprintf(&b, "| code | %s |\n|---|%s\n", strings.Join(profiles, " | "), strings.Repeat(":-:|", len(profiles)))
	rules := manifest.Codes()
	for _, r := range rules {
		fmt.Fprintf(&b, "| [`%s`](#%s) |", r.Code, r.Code)
		for _, name := range profiles {
			fmt.Fprintf(&b, " %s |", letter(r, name))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "### %s\n\n%s. **Cure**: %s.\n\n", r.Code, sentence(r.Description), prose(r.Cure))
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

// prose makes Markdown of a cure.
func prose(cure string) string {
	return strings.ReplaceAll(quoted.ReplaceAllString(cure, "`$1`"), "--fix", "`--fix`")
}

// sample is a problem as the command prints it.
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

// quoted is what a person types.
var quoted = regexp.MustCompile(`"([^"]*)"`)

// rows are references to the table of requirements, which no user has.
var rows = regexp.MustCompile(` \((?:[RC]\d+|1\.4|00\d)(?:, (?:[RC]\d+|1\.4))*\)`)

// sentence makes one of a rule's description. A key stays as it is written.
func sentence(text string) string {
	text = rows.ReplaceAllString(text, "")
	if word, rest, _ := strings.Cut(text, " "); strings.ContainsAny(word, "_-") {
		return code(word) + " " + rest
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
