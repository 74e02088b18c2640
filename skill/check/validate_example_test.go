package check_test

import (
	"fmt"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill/check"
)

func ExampleFolder() {
	folder := fstest.MapFS{"SKILL.md": {Data: []byte("---\nname: Tide_Tables\ndescription: Reads tide tables: times and heights.\n---\nSee [the format](references/format.md).\n")}}
	m, problems := check.Folder(folder, "tide-tables", nil)
	fmt.Println(m.Name, "-", m.Description)
	for _, p := range problems {
		fmt.Println(p.Error())
	}
	// Output:
	// Tide_Tables - Reads tide tables: times and heights.
	// SKILL.md:2:7: warning[name-case] the name "Tide_Tables" has capital letters
	// SKILL.md:2:7: warning[name-underscore] the name "Tide_Tables" has underscores
	// SKILL.md:3:31: warning[yaml-colon] the plain value of "description" contains a colon followed by a space; it is read as text
	// SKILL.md:5:18: warning[reference-missing] "references/format.md" does not exist
}
