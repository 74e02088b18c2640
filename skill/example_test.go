package skill_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill"
)

// A value with a colon is the most common mistake in a SKILL.md. It is repaired, and said.
func ExampleParse() {
	src := "---\nname: csv-report\ndescription: Summarises CSV files. Usage: give it a path\n---\nRead the header first.\n"
	m, problems := skill.Parse([]byte(src), &skill.ParseOptions{Dir: "csv-report"})
	fmt.Println(m.Description)
	for _, p := range problems {
		fmt.Printf("%s:%d: %s[%s]\n", p.File, p.Line, p.Severity, p.Code)
	}
	// Output:
	// Summarises CSV files. Usage: give it a path
	// SKILL.md:3: warning[yaml-colon]
}

// Layers are merged by precedence; what loses is kept as shadowed.
func ExampleOpen() {
	text := func(name, what string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: " + what + "\n---\n")}
	}
	project := fstest.MapFS{"deploy/SKILL.md": text("deploy", "Deploys this project.")}
	bundled := fstest.MapFS{"deploy/SKILL.md": text("deploy", "Deploys anything."), "hello/SKILL.md": text("hello", "Greets.")}
	catalog, err := skill.Open(context.Background(), &skill.Options{Layers: []skill.Layer{
		{Name: "project", Source: skill.FS(project, nil)},
		{Name: "bundled", Source: skill.FS(bundled, nil), Trust: skill.Bundled},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for e := range catalog.All() {
		fmt.Println(e.Name(), "from", e.Layer()+":", e.Description())
		for _, s := range e.Shadows() {
			fmt.Println("  hides the one from", s.Layer())
		}
	}
	// Output:
	// deploy from project: Deploys this project.
	//   hides the one from bundled
	// hello from bundled: Greets.
}
