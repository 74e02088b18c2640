package check_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill"
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

// A folder of skills is validated as its source finds them: broken skills and several of one name are among them, which a
// catalogue would not load.
func ExampleFolder_all() {
	dir, err := os.MkdirTemp("", "skills")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	text := "---\nname: pdf\ndescription: Fills: forms.\n---\nSee [fields](fields.md).\n"
	if err := os.CopyFS(dir, fstest.MapFS{"pdf/SKILL.md": {Data: []byte(text)}, "team/notes/SKILL.md": {Data: []byte("No front matter.\n")}}); err != nil {
		log.Fatal(err)
	}

	for found, err := range skill.Dir(dir, &skill.DirOptions{Nested: true, Bare: true}).Skills(context.Background()) {
		if err != nil { // a *manifest.Problem, such as a link that leads elsewhere
			fmt.Println(err)
			continue
		}
		tree, err := found.Open(context.Background())
		if err != nil {
			fmt.Println(err)
			continue
		}
		_, problems := check.Folder(tree, path.Join(dir, found.Path), &check.Options{Path: found.Path})
		for _, p := range problems {
			fmt.Println(p.Error())
		}
		tree.Close()
	}
	// Output:
	// pdf/SKILL.md:3:19: warning[yaml-colon] the plain value of "description" contains a colon followed by a space; it is read as text
	// pdf/SKILL.md:5:14: warning[reference-missing] "fields.md" does not exist
	// team/notes/SKILL.md:1:1: error[frontmatter-missing] SKILL.md must start with YAML front matter
}
