package watch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/watch"
)

// A server asks the watcher for the present snapshot each time.
func ExampleStart() {
	dir, err := os.MkdirTemp("", "skills")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "user", Source: skill.Dir(dir, nil)}}})
	if err != nil {
		panic(err)
	}

	changed := make(chan watch.Change, 1)
	w := watch.Start(ctx, &watch.Options{
		Catalog:  catalog,
		OnChange: func(_, _ *skill.Catalog, c watch.Change) { changed <- c },
	})
	defer w.Close()
	fmt.Println("skills:", w.Catalog().Len())

	// Somebody installs a skill, in one step: the folder is made elsewhere and renamed into place.
	made := filepath.Join(dir, ".new")
	if err := os.Mkdir(made, 0o755); err != nil {
		panic(err)
	}
	text := "---\nname: greet\ndescription: Greets people by name.\n---\nSay hello.\n"
	if err := os.WriteFile(filepath.Join(made, "SKILL.md"), []byte(text), 0o644); err != nil {
		panic(err)
	}
	if err := os.Rename(made, filepath.Join(dir, "greet")); err != nil {
		panic(err)
	}
	select {
	case c := <-changed:
		fmt.Println(c)
	case <-ctx.Done():
		fmt.Println(ctx.Err())
	}
	fmt.Println("skills:", w.Catalog().Len())
	// Output:
	// skills: 0
	// Skills changed on disk. Added: greet.
	// skills: 1
}
