package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
)

// One conversation: skills are activated, the last one first taken away, and what is active outlives the process.
func Example() {
	ctx := context.Background()
	files := fstest.MapFS{}
	for _, name := range []string{"csv-report", "charts"} {
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Works with data.\nallowed-tools: Read\n---\nRead first.\n")}
	}
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "mine", Source: skill.FS(files, nil)}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := func() time.Time { return time.Unix(0, 0).UTC() } // nil is time.Now
	s := session.New(&session.Options{Now: now})
	for _, name := range []string{"csv-report", "charts"} {
		if err := activate(ctx, s, catalog, name); err != nil {
			fmt.Println(err)
		}
	}
	if err := activate(ctx, s, catalog, "charts"); errors.Is(err, session.ErrActive) {
		fmt.Println(err)
	}
	fmt.Println(s.DeactivateName(ctx, "csv-report"))

	saved, err := json.Marshal(s.State())
	if err != nil {
		fmt.Println(err)
		return
	}
	var state session.State
	if err := json.Unmarshal(saved, &state); err != nil {
		fmt.Println(err)
		return
	}
	later := session.New(nil)
	for _, o := range later.Restore(ctx, catalog, state) {
		fmt.Println(o.Name, o.Err)
	}
	fmt.Println(later.Recent())
	// Output:
	// Skill 'charts' is already active
	// Cannot deactivate 'csv-report' - 'charts' must be deactivated first
	// csv-report <nil>
	// charts <nil>
	// [charts csv-report]
}

// activate puts the skill of that name on the stack of s.
func activate(ctx context.Context, s *session.Session, c *skill.Catalog, name string) error {
	e, err := c.Lookup(name)
	if err != nil {
		return err
	}
	k, err := e.Load(ctx)
	if err != nil {
		return err
	}
	defer k.Close()
	_, err = s.Activate(ctx, k, "")
	return err
}
