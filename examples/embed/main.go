// Command embed is the program of README.md: it prints what a model reads of the skills, and what it gets when it activates one.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/confine"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skills"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
)

func main() {
	ctx, cache := context.Background(), must(os.UserCacheDir())
	catalog := must(skill.Open(ctx, &skill.Options{Layers: []skill.Layer{
		{Name: "project", Source: skill.Dir(".agents/skills", nil)},
		{Name: "bundled", Source: skill.FS(skills.Core(), &skill.FSOptions{Cache: cache}), Trust: skill.TrustBundled},
	}}))
	scripts := must(script.New(&script.Options{Runner: must(confine.New(nil)), LookPath: exec.LookPath, Cache: cache}))
	kit := skilltool.New(&skilltool.Options{
		Catalog: func() *skill.Catalog { return catalog },
		Session: session.New(nil),
		Scripts: scripts,
	})
	var tools tool.Set
	for _, t := range kit.Tools() { // and your own
		must(t, tools.Add(t))
	}
	list := must(disclose.Catalog(ctx, catalog, &disclose.Options{Budget: 2000}))
	fmt.Println(list.Body) // for the model, with the tools of tools.All()

	calls := tool.Executor{Tools: &tools, Check: kit.Check} // enforces allowed-tools
	result := calls.Call(ctx, "skill", json.RawMessage(`{"skill_name":"hello-world"}`))
	fmt.Println(string(result.Encode()))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
