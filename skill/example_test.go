package skill_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill"
)

// Layers are merged by precedence; what loses is kept as shadowed.
func ExampleOpen() {
	text := func(name, what string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: " + what + "\n---\n")}
	}
	project := fstest.MapFS{"deploy/SKILL.md": text("deploy", "Deploys this project.")}
	bundled := fstest.MapFS{"deploy/SKILL.md": text("deploy", "Deploys anything."), "hello/SKILL.md": text("hello", "Greets.")}
	catalog, err := skill.Open(context.Background(), &skill.Options{Layers: []skill.Layer{
		{Name: "project", Source: skill.FS(project, nil)},
		{Name: "bundled", Source: skill.FS(bundled, nil), Trust: skill.TrustBundled},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for e := range catalog.Visible() {
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
