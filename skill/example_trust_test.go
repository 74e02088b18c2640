package skill_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill"
)

// A program that approves content by its digest: a skill that changes afterwards is not trusted any more. Package trust keeps
// such approvals in a file.
func ExampleTrustFunc() {
	ctx := context.Background()
	files := fstest.MapFS{"dice/SKILL.md": {Data: []byte("---\nname: dice\ndescription: Rolls dice.\n---\n")}}
	approved := map[string]bool{}
	catalog, err := skill.Open(ctx, &skill.Options{
		Layers: []skill.Layer{{Name: "team", Source: skill.FS(files, nil)}},
		Trust: func(ctx context.Context, s skill.Subject) (skill.Trust, error) {
			digest, err := s.Digest(ctx)
			if err != nil || !approved[digest] {
				return skill.TrustNone, err
			}
			return skill.TrustApproved, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	dice, err := catalog.Lookup("dice")
	if err != nil {
		log.Fatal(err)
	}
	opened, err := dice.Load(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer opened.Close()
	digest, err := opened.Digest(ctx)
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(dice.Trust(ctx))
	approved[digest] = true
	fmt.Println(dice.Trust(ctx))
	// Output:
	// untrusted <nil>
	// approved <nil>
}

// Skills from a database: their files become a file system, and FS does the rest. With a Cache in FSOptions their scripts can
// run. A catalogue of this source notices changes when it is refreshed; a watcher refreshes it at fixed intervals.
func ExampleSourceFunc() {
	ctx := context.Background()
	rows := map[string]string{"dice/SKILL.md": "---\nname: dice\ndescription: Rolls dice.\n---\n"}
	database := skill.SourceFunc(func(ctx context.Context) iter.Seq2[skill.Found, error] {
		files := fstest.MapFS{}
		for path, text := range rows {
			files[path] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		}
		return skill.FS(files, nil).Skills(ctx)
	})
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "database", Source: database}}})
	if err != nil {
		log.Fatal(err)
	}
	rows["cards/SKILL.md"] = "---\nname: cards\ndescription: Deals cards.\n---\n"
	if catalog, err = catalog.Refresh(ctx); err != nil {
		log.Fatal(err)
	}
	for e := range catalog.Visible() {
		fmt.Println(e.Name(), "-", e.Description())
	}
	// Output:
	// cards - Deals cards.
	// dice - Rolls dice.
}
