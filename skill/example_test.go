package skill_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
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

// The skills of a source without folders, such as a database, get one when a script of them runs.
func ExampleCached() {
	cache, err := os.MkdirTemp("", "skills")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(cache)
	dice := []byte("---\nname: dice\ndescription: Rolls dice.\n---\nRoll them.\n")
	database := skill.SourceFunc(func(context.Context) iter.Seq2[skill.Found, error] {
		return func(yield func(skill.Found, error) bool) {
			yield(skill.Found{Path: "dice", Head: dice, Open: func(context.Context) (skill.Tree, error) {
				return memory{fstest.MapFS{"SKILL.md": {Data: dice}, "scripts/roll.sh": {Data: []byte("echo 4\n")}}}, nil
			}}, nil)
		}
	})
	ctx := context.Background()
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "database", Source: skill.Cached(database, cache)}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for e := range catalog.Visible() {
		s, err := e.Load(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		dir, err := s.Dir(ctx)
		_, absent := os.Stat(filepath.Join(dir, "scripts", "roll.sh"))
		fmt.Println(s.Name(), "has a folder with its script:", err == nil && absent == nil)
		s.Close()
	}
	// Output: dice has a folder with its script: true
}
