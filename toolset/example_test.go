package toolset_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"testing/fstest"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/toolset"
)

// A toolset in Go becomes tools of the model when its skill is active and trusted, as those that the skill brings in Python or
// TypeScript do.
func Example() {
	ctx := context.Background()
	cache, err := os.MkdirTemp("", "toolset")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(cache)
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "mine", Trust: skill.TrustBundled, Source: skill.FS(fstest.MapFS{
		"weather/SKILL.md": {Data: []byte("---\nname: weather\ndescription: Forecasts.\n---\nAsk for a town.\n")},
	}, nil)}}})
	if err != nil {
		log.Fatal(err)
	}
	scripts, err := script.New(&script.Options{LookPath: exec.LookPath, Cache: cache}) // with a Runner of package confine
	if err != nil {
		log.Fatal(err)
	}
	toolsets, err := toolset.New(&toolset.Options{Scripts: scripts, Cache: cache})
	if err != nil {
		log.Fatal(err)
	}
	defer toolsets.Close() // ends all processes
	err = toolsets.Register("weather", "Local", tool.Tool{
		Name: "forecast", Description: "The weather of a town.",
		Input: json.RawMessage(`{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}`),
		Call: func(_ context.Context, args json.RawMessage) tool.Result {
			var a struct{ Town string }
			if err := tool.Arguments(args, &a); err != nil {
				return tool.CauseArguments.Failure(err.Error())
			}
			return tool.Success("sun in "+a.Town, "")
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	kit := skilltool.New(&skilltool.Options{
		Catalog: func() *skill.Catalog { return catalog }, Session: session.New(nil), Scripts: scripts, Toolsets: toolsets,
	})
	tools := &tool.Set{}
	add := func(more []tool.Tool) {
		for _, t := range more {
			if err := tools.Add(t); err != nil {
				log.Fatal(err)
			}
		}
	}
	add(kit.Tools())
	calls := &tool.Executor{Tools: tools, Check: kit.Check}
	calls.Call(ctx, "skill", json.RawMessage(`{"skill_name":"weather"}`))
	add(kit.More(ctx, tools)) // before each request to the model, as agent.Options.More does
	r := calls.Call(ctx, "forecast", json.RawMessage(`{"town":"Oslo"}`))
	fmt.Println(r.Result)
	// Output:
	// sun in Oslo
}
