package skill_test

import (
	"fmt"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill"
)

func ExampleValidate() {
	folder := fstest.MapFS{"SKILL.md": {Data: []byte("---\nname: Tide_Tables\ndescription: Reads tide tables: times and heights.\n---\nSee [the format](references/format.md).\n")}}
	m, problems := skill.Validate(folder, "tide-tables", nil)
	fmt.Println(m.Name, "-", m.Description)
	for _, p := range problems {
		fmt.Println(p.Error())
	}
	// Output:
	// Tide_Tables - Reads tide tables: times and heights.
	// SKILL.md:2:7: warning[name-case] the name "Tide_Tables" has capital letters
	// SKILL.md:2:7: warning[name-underscore] the name "Tide_Tables" has underscores
	// SKILL.md:3:31: warning[yaml-colon] the plain value of "description" holds a colon and a blank; it is read as text
	// SKILL.md:5:18: warning[reference-missing] "references/format.md" is not there
}

func ExampleFix() {
	src := []byte("---\nname: Tide_Tables\ndescription: Reads tide tables: times and heights. # for sailors\n---\n")
	fixed, changed, err := skill.Fix(src, &skill.ParseOptions{Dir: "tide-tables"})
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
	p, err := skill.ProfileNamed("spec")
	fmt.Println(p.Severity("name-case"), p.Strict(), err)
	_, err = skill.ProfileNamed("specs")
	fmt.Println(err)
	// Output:
	// error true <nil>
	// unknown profile "specs", did you mean "spec"? (there are default, spec, agent-base, wink, harness, harness-mvp, omniforge)
}

func ExampleCodes() {
	for _, r := range skill.Codes() {
		if r.Code == "name-case" {
			fmt.Println(r.Description, "-", r.Severity["default"], r.Severity["spec"])
		}
	}
	// Output: the name has capital letters (C1) - warning error
}
