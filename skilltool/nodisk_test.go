package skilltool

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// R96: a host without a file system needs nothing but the tools. The instructions and the files of a skill come in
// their results, and no path of a machine is named.
func TestNoFileSystem(t *testing.T) {
	files := fstest.MapFS{
		"notes/SKILL.md":          {Data: []byte(skillText("notes", "", "Follow `references/how.md`."))},
		"notes/references/how.md": {Data: []byte("Write short ones.\n")},
	}
	catalog, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "mine", Source: skill.FS(files, nil), Trust: skill.TrustBundled}}})
	if err != nil {
		t.Fatal(err)
	}
	set := &tool.Set{}
	for _, x := range New(&Options{Catalog: func() *skill.Catalog { return catalog }, Session: session.New(nil)}).Tools() {
		if err := set.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	e := &tool.Executor{Tools: set}
	got, ok := e.Call(t.Context(), "skill", json.RawMessage(`{"skill_name":"notes"}`)).Result.(Activation)
	if !ok || got.BasePath != "" || !strings.Contains(got.Content, "Follow `references/how.md`.") {
		t.Errorf("activated: %+v", got)
	}
	page, ok := e.Call(t.Context(), "skill_read", json.RawMessage(`{"skill_name":"notes","path":"references/how.md"}`)).Result.(resource)
	if !ok || page.Content != "Write short ones.\n" {
		t.Errorf("read: %+v", page)
	}
}
