package trust_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// A service that keeps approvals and grants in a file. The file is loaded for each question, so an approval counts at once, also
// one of another process.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "trust")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	folder := filepath.Join(dir, "skills", "dice")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "SKILL.md"), []byte("---\nname: dice\ndescription: Rolls dice.\n---\n"), 0o600); err != nil {
		log.Fatal(err)
	}

	store := &trust.Store{Path: filepath.Join(dir, "trust.json")}
	catalog, err := skill.Open(ctx, &skill.Options{
		Layers: []skill.Layer{{Name: "team", Source: skill.Dir(filepath.Dir(folder), nil)}},
		Trust:  store.Trust,
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
	id, err := opened.ID(ctx)
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(dice.Trust(ctx))
	if err := store.Approve(ctx, trust.Approval{Layer: id.Layer, Name: id.Name, Digest: id.Digest}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(dice.Trust(ctx))

	key := trust.Grant{Layer: id.Layer, Name: id.Name, Digest: id.Digest}
	if err := store.EditGrant(ctx, key, func(g *trust.Grant) error {
		g.Given = g.Given.Add(want.VariableOf("DICE_SEED"), want.HostOf("random.example"))
		return nil
	}); err != nil {
		log.Fatal(err)
	}
	options := script.Options{Granted: granted(store)}
	g, err := options.Granted(ctx, opened)
	fmt.Println(g.Given, err)
	// Output:
	// untrusted <nil>
	// approved <nil>
	// env:DICE_SEED, host:random.example <nil>
}

// granted returns what was given to the content of a skill, for script.Options.
func granted(store *trust.Store) func(context.Context, *skill.Skill) (script.Grant, error) {
	return func(ctx context.Context, s *skill.Skill) (script.Grant, error) {
		set, err := store.Load(ctx)
		if err != nil {
			return script.Grant{}, err
		}
		id, err := s.ID(ctx)
		if err != nil {
			return script.Grant{}, err
		}
		t, _ := set.Grant(id)
		return script.Grant{Declared: true, Given: t.Given, Withheld: t.Withheld}, nil
	}
}
