package manifest_test

import (
	"fmt"

	"github.com/agent-base/agent-base/skill/manifest"
)

// A value with a colon is the most common mistake in a SKILL.md. Parse repairs it and reports it.
func ExampleParse() {
	src := "---\nname: csv-report\ndescription: Summarises CSV files. Usage: give it a path\n---\nRead the header first.\n"
	m, problems := manifest.Parse([]byte(src), &manifest.Options{Dir: "csv-report"})
	fmt.Println(m.Description)
	for _, p := range problems {
		fmt.Printf("%s:%d: %s[%s]\n", p.File, p.Line, p.Severity, p.Code)
	}
	// Output:
	// Summarises CSV files. Usage: give it a path
	// SKILL.md:3: warning[yaml-colon]
}

func ExampleFix() {
	src := []byte("---\nname: Tide_Tables\ndescription: Reads tide tables: times and heights. # for sailors\n---\n")
	fixed, changed, err := manifest.Fix(src, &manifest.Options{Dir: "tide-tables"})
	fmt.Print(string(fixed))
	for _, c := range changed {
		fmt.Println(c.Line, c.Message)
	}
	fmt.Println(err)
	// Output:
	// ---
	// name: tide-tables
	// description: 'Reads tide tables: times and heights.' # for sailors
	// ---
	// 2 wrote the name "Tide_Tables" as "tide-tables"
	// 3 put the value of "description" in quotes
	// <nil>
}

func ExampleProfileNamed() {
	p, err := manifest.ProfileNamed("spec")
	fmt.Println(p.Severity("name-case"), p.Strict(), err)
	_, err = manifest.ProfileNamed("specs")
	fmt.Println(err)
	// Output:
	// error true <nil>
	// unknown profile "specs", did you mean "spec"? (there are default, spec, agent-base, wink, harness, harness-mvp, omniforge)
}

func ExampleCodes() {
	for _, r := range manifest.Codes() {
		if r.Code == "name-case" {
			fmt.Println(r.Description, "-", r.Severity["default"], r.Severity["spec"])
		}
	}
	// Output: the name has capital letters - warning error
}
