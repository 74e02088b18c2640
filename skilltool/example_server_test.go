package skilltool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing/fstest"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/watch"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/want"
)

// A server with many conversations: they share the skills and the script host, and each has a session and a kit of its own.
// The scripts of one skill get one variable of the server.
func Example_server() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "server")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	files := fstest.MapFS{
		"greet/SKILL.md":         {Data: []byte("---\nname: greet\ndescription: Greets. Use to say hello.\n---\nRun hello.\n")},
		"greet/scripts/hello.sh": {Data: []byte("#!/bin/sh\necho \"hello from $TOWN$SECRET\"\n")},
	}
	folder := filepath.Join(dir, "skills")
	if err := os.CopyFS(folder, files); err != nil {
		log.Fatal(err)
	}
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "ours", Source: skill.Dir(folder, nil), Trust: skill.TrustRoot}}})
	if err != nil {
		log.Fatal(err)
	}
	skills := watch.Start(ctx, &watch.Options{Catalog: catalog}) // follows changes of folders
	defer skills.Close()
	host, err := script.New(&script.Options{
		LookPath: exec.LookPath, Cache: filepath.Join(dir, "cache"), // Runner: one of package confine is the sandbox
		Env: []string{"TOWN=Oslo", "SECRET=1234"},
		Granted: func(_ context.Context, s *skill.Skill) (script.Grant, error) {
			if s.Name() == "greet" { // the name is enough, since all skills are ours; the example of package trust asks for the content
				return script.Grant{Given: want.New(want.VariableOf("TOWN"))}, nil
			}
			return script.Grant{}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	indexes := &disclose.Indexes{} // for searches; without it each conversation makes its own
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kit := skilltool.New(&skilltool.Options{Catalog: skills.Catalog, Session: session.New(nil), Scripts: host, Indexes: indexes})
		defer kit.End(context.WithoutCancel(r.Context())) // the conversation is over, also if the client has gone
		tools := &tool.Set{}
		for _, t := range kit.Tools() {
			if err := tools.Add(t); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		calls := &tool.Executor{Tools: tools, Check: kit.Check}
		// A model would choose these calls.
		calls.Call(r.Context(), "skill", json.RawMessage(`{"skill_name":"greet"}`))
		said := calls.Call(r.Context(), "script_run", json.RawMessage(`{"skill_name":"greet","script_name":"hello"}`))
		fmt.Fprint(w, said.Result)
	}))
	defer server.Close()
	answer, err := http.Get(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	_, err = io.Copy(os.Stdout, answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// hello from Oslo
}
