package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/session/allow"
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
	_, err = s.DeactivateName(ctx, "csv-report")
	fmt.Println(err)

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

// What an active skill does not allow is refused, whatever was activated after it, until it is left.
func ExampleSession_Check() {
	ctx := context.Background()
	files := fstest.MapFS{
		"review/SKILL.md": {Data: []byte("---\nname: review\ndescription: Reviews.\nallowed-tools: Read, Bash(git diff:*)\n---\nReview it.\n")},
		"notes/SKILL.md":  {Data: []byte("---\nname: notes\ndescription: Notes.\n---\nTake notes.\n")},
	}
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "mine", Source: skill.FS(files, nil)}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := session.New(nil)
	for _, name := range []string{"review", "notes"} {
		if err := activate(ctx, s, catalog, name); err != nil {
			fmt.Println(err)
		}
	}
	call := func(command string) {
		args, _ := json.Marshal(map[string]string{"command": command})
		err := s.Check(ctx, allow.Call{Tool: "bash", Args: args})
		var refused *session.Violation
		if errors.As(err, &refused) {
			fmt.Println(refused.Message())
		} else {
			fmt.Println(command, err)
		}
	}
	call("git diff --stat")
	call("rm -rf .")
	fmt.Println(s.Restriction().AllowedToolNames())
	s.End(ctx)
	call("rm -rf .")
	// Output:
	// git diff --stat <nil>
	// Tool 'bash' not allowed by skill 'review'. Allowed tools: Read, Bash(git diff:*) (not in allowed-tools list): no rule covers the command "rm -rf ."
	// [bash read_file]
	// rm -rf . <nil>
}
