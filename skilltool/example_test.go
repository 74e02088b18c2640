package skilltool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing/fstest"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
)

// An agent in Go: open a catalogue, put the tools into an executor, call what the model asks for.
func Example() {
	ctx := context.Background()
	files := fstest.MapFS{"csv-report/SKILL.md": {Data: []byte("---\n" +
		"name: csv-report\ndescription: Summarises CSV files. Use when asked about a CSV file.\n---\nRead the header first.\n")}}
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "mine", Source: skill.FS(files, nil)}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	kit := skilltool.New(&skilltool.Options{
		Catalog: func() *skill.Catalog { return catalog },
		Session: session.New(nil),
	})
	var tools tool.Set
	for _, t := range kit.Tools() {
		if err := tools.Add(t); err != nil {
			fmt.Println(err)
		}
	}
	model := &tool.Executor{Tools: &tools, Check: kit.Check} // Check holds what active skills allow
	r := model.Call(ctx, "skill", json.RawMessage(`{"skill_name":"csv-report"}`))
	fmt.Println(r.Message)
	r = model.Call(ctx, "skill", json.RawMessage(`{"skill_name":"csv-reprot"}`))
	fmt.Println(r.Error, r.Message)
	// Output:
	// Activated skill 'csv-report'
	// not_found Skill 'csv-reprot' not found. Did you mean 'csv-report'?
}
