package disclose_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skill"
)

// What one conversation contains: a prefix that stays, and a text next to each prompt.
func ExampleNewPlan() {
	ctx := context.Background()
	files := fstest.MapFS{"csv-report/SKILL.md": {Data: []byte("---\n" +
		"name: csv-report\ndescription: Summarises CSV files.\ntriggers:\n  keywords: [spreadsheet]\n---\nRead the header first.\n")}}
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "mine", Source: skill.FS(files, nil)}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := disclose.NewPlan(context.Background(), catalog, &disclose.PlanOptions{
		Mode:   disclose.ByTriggers,
		Blocks: &disclose.BlockOptions{Blocks: []disclose.Block{disclose.Execution}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(disclose.Join("You are a careful assistant.", plan.Prefix().Body))
	for _, prompt := range []string{"Good morning", "Look at this spreadsheet"} {
		turn, err := plan.Turn(ctx, catalog, prompt, nil)
		fmt.Println(turn.Tier, len(turn.Matches), err)
	}
	// Output:
	// You are a careful assistant.
	//
	// ## Script Execution
	// NEVER read a script, run it: its text would cost thousands of tokens, its output costs few.
	// Right: script_run {"skill_name": "demo", "script_name": "check", "args": ["/data/in.csv"]}
	// Wrong: skill_read {"skill_name": "demo", "path": "scripts/check.py"}
	// A command in the instructions, such as `python scripts/check.py`, means such a call.
	// breadcrumb 0 <nil>
	// instructions 1 <nil>
}
