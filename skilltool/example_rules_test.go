package skilltool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
)

// The allowed-tools of a skill hold for the program's own tools, too. Rules says where the paths of these begin. A hook in Go is
// a function around Check, for what comes before a call, or around After.
func ExampleOptions_rules() {
	ctx := context.Background()
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "mine", Source: skill.FS(fstest.MapFS{
		"review/SKILL.md": {Data: []byte("---\nname: review\ndescription: Reviews.\nallowed-tools: Read(notes/**)\n---\nRead the notes.\n")},
	}, nil)}}})
	if err != nil {
		log.Fatal(err)
	}
	kit := skilltool.New(&skilltool.Options{
		Catalog: func() *skill.Catalog { return catalog },
		Session: session.New(nil),
		Rules: func(context.Context, *skill.Skill) allow.Options {
			return allow.Options{Roots: []string{"/srv/project"}} // and Resolve, if the tool follows links
		},
	})
	read := tool.Tool{Name: "read_file", Call: func(_ context.Context, args json.RawMessage) tool.Result {
		return tool.Success(nil, "the content")
	}}
	tools := &tool.Set{}
	for _, t := range append(kit.Tools(), read) {
		if err := tools.Add(t); err != nil {
			log.Fatal(err)
		}
	}
	calls := &tool.Executor{Tools: tools, Check: func(ctx context.Context, name string, args json.RawMessage) error {
		if string(args) == `{"path":"notes/private.md"}` {
			return errors.New("this file is private")
		}
		return kit.Check(ctx, name, args)
	}}
	calls.Call(ctx, "skill", json.RawMessage(`{"skill_name":"review"}`))
	for _, path := range []string{"notes/a.md", "/srv/project/notes/a.md", "main.go", "notes/private.md"} {
		fmt.Println(calls.Call(ctx, "read_file", json.RawMessage(`{"path":"`+path+`"}`)).Message)
	}
	// Output:
	// the content
	// the content
	// Tool 'read_file' not allowed by skill 'review'. Allowed tools: Read(notes/**) (not in allowed-tools list): no rule covers the path "main.go"
	// this file is private
}
