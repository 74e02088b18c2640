package skillsource_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/internal/skilluri"
	"github.com/agent-base/agent-base/mcphost/skillsource"
	"github.com/agent-base/agent-base/skill"
)

// fake is a server with skills. Its fields are changed by one goroutine.
type fake struct {
	mu    sync.Mutex
	list  []string          // entries
	get   map[string]string // likewise, by address
	files map[string]string // by address
	next  func(cursor string) string
	wait  chan struct{} // skills/list waits for it, if it is not nil
	gone  bool
	calls []string
}

func (f *fake) called() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.calls
	f.calls = nil
	return out
}

func (f *fake) log(call string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
	if f.gone {
		return errors.New("it is gone")
	}
	return nil
}

func (f *fake) Ask(ctx context.Context, method string, params, result any) error {
	if err := f.log(method); err != nil {
		return err
	}
	text, _ := json.Marshal(params)
	var p struct{ URI, Cursor string }
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	answer := fmt.Sprintf(`{"skills":[%s]}`, strings.Join(f.list, ","))
	switch {
	case method == "skills/get" && f.get[p.URI] == "":
		return errors.New("unknown skill")
	case method == "skills/get":
		answer = fmt.Sprintf(`{"skill":%s}`, f.get[p.URI])
	case f.wait != nil:
		select {
		case <-f.wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	case f.next != nil:
		answer = fmt.Sprintf(`{"skills":[%s],"nextCursor":%q}`, strings.Join(f.list, ","), f.next(p.Cursor))
	}
	return json.Unmarshal([]byte(answer), result)
}

func (f *fake) Read(_ context.Context, uri string, most int64) ([]byte, error) {
	if err := f.log("read " + uri); err != nil {
		return nil, err
	}
	text, ok := f.files[uri]
	if !ok {
		return nil, errors.New("unknown resource")
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("over %d bytes", most)
	}
	return []byte(text), nil
}

// entryOf returns the entry of a skill with these files, by their paths.
func entryOf(t testing.TB, root string, files map[string]string) string {
	t.Helper()
	front, err := skilluri.FrontMatter([]byte(files["SKILL.md"]))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		list = append(list, fmt.Sprintf(`{"uri":%q,"digest":"sha256:%x","size":%d}`, root+"/"+name, sha256.Sum256([]byte(files[name])), len(files[name])))
	}
	return fmt.Sprintf(`{"uri":%q,"frontmatter":%s,"resources":[%s]}`, root+"/SKILL.md", front, strings.Join(list, ","))
}

// serve adds a skill to a server.
func (f *fake) serve(t testing.TB, root string, files map[string]string) {
	e := entryOf(t, root, files)
	f.list = append(f.list, e)
	if f.files == nil {
		f.files = map[string]string{}
	}
	for name, text := range files {
		f.files[root+"/"+name] = text
	}
}

// manifestOf returns a manifest.
func manifestOf(name, more string) string {
	return "---\nname: " + name + "\ndescription: Does the work of " + name + ".\n" + more + "---\n\nDo it.\n"
}

// pdf is a server with one skill.
func pdf(t testing.TB) *fake {
	f := &fake{}
	f.serve(t, "skill://office/pdf", map[string]string{"SKILL.md": manifestOf("pdf", "metadata:\n  version: \"2\"\n"), "references/forms.md": "# Forms\n", "scripts/fill.sh": "#!/bin/sh\necho filled\n"})
	return f
}

// source returns the skills of a server.
func source(t testing.TB, f skillsource.Server, o skillsource.Options) *skillsource.Source {
	t.Helper()
	if o.Label == "" {
		o.Label = "docs"
	}
	if o.Cache == "" {
		o.Cache = t.TempDir()
	}
	s, err := skillsource.New(f, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// open returns a catalogue of the skills of a source.
func open(t testing.TB, s *skillsource.Source, more ...skill.Layer) *skill.Catalog {
	t.Helper()
	c, err := skill.Open(t.Context(), &skill.Options{Layers: append(more, skill.Layer{Name: "mcp:docs", Server: "docs", Source: s})})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// entry returns a skill of a catalogue.
func entry(t testing.TB, c *skill.Catalog, name string) skill.Entry {
	t.Helper()
	e, err := c.Lookup(name)
	if err != nil {
		t.Fatal(err, c.Problems())
	}
	return e
}
