package skillsource_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/mcphost/skillsource"
	"github.com/agent-base/agent-base/mcpserve"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltest"
	"github.com/agent-base/agent-base/skilltool"
)

// ours is our own server with some files, over standard input and output.
func ours(t *testing.T, files *atomic.Pointer[fstest.MapFS]) *mcphost.Host {
	t.Helper()
	run := func(ctx context.Context, p *mcphost.Pipes) error {
		s, err := mcpserve.New(&mcpserve.Options{
			Catalog: func(ctx context.Context) (*skill.Catalog, error) {
				return skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "ours", Source: skill.FS(*files.Load(), nil)}}})
			},
			Kit: func(_ context.Context, c *skill.Catalog, s *session.Session) (*skilltool.Kit, error) {
				return skilltool.New(&skilltool.Options{Catalog: func() *skill.Catalog { return c }, Session: s}), nil
			},
		})
		if err != nil {
			return err
		}
		p.Started()
		return s.ServeStdio(ctx, p.In, p.Out)
	}
	h, err := mcphost.NewHost(&mcphost.HostOptions{Servers: []mcphost.Server{{Label: "docs", Run: run}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// What our own server publishes is what the source has.
func TestOurServer(t *testing.T) {
	var files atomic.Pointer[fstest.MapFS]
	files.Store(&fstest.MapFS{
		"pdf/SKILL.md":        {Data: []byte(manifestOf("pdf", "metadata:\n  version: \"1.10\"\nallowed-tools: Read\n"))},
		"pdf/refs/ü b.md":     {Data: []byte("Ü\n")},
		"pdf/empty":           {Data: []byte{}},
		"pdf/logo.bin":        {Data: []byte{0, 1, 0xff}},
		"pdf/scripts/fill.sh": {Data: []byte("#!/bin/sh\necho filled\n")},
	})
	h := ours(t, &files)
	newSource := func(t *testing.T) *skillsource.Source {
		return source(t, skillsource.On(h, "docs"), skillsource.Options{})
	}
	skilltest.Source(t, func(t *testing.T) skill.Source { return newSource(t) })

	s, err := entry(t, open(t, newSource(t)), "pdf").Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	local, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "ours", Source: skill.FS(*files.Load(), nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	there, err := entry(t, local, "pdf").Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	want, _ := there.Digest(t.Context())
	if got, err := s.Digest(t.Context()); err != nil || got != want {
		t.Errorf("digest %s, %v, want that of the skill there, %s", got, err, want)
	}
	for _, name := range []string{"refs/ü b.md", "empty", "logo.bin"} {
		a, err := s.Read(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if b, _ := there.Read(name); string(a.Data) != string(b.Data) {
			t.Errorf("%s: %q, want %q", name, a.Data, b.Data)
		}
	}

	c := open(t, source(t, skillsource.On(ours(t, &files), "docs"), skillsource.Options{})) // another conversation: what was read may be kept in the first
	changed := maps.Clone(*files.Load())
	changed["pdf/new.md"] = &fstest.MapFile{Data: []byte("new\n")}
	changed["pdf/SKILL.md"] = &fstest.MapFile{Data: []byte(manifestOf("pdf", ""))}
	files.Store(&changed)
	again, err := entry(t, c, "pdf").Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if r, err := again.Read("new.md"); err != nil || string(r.Data) != "new\n" {
		t.Errorf("a file that is new: %v, %v", r, err)
	}
	if _, err := s.Read("new.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is new, of the skill as it was: %v", err)
	}
	if _, err := s.Read("scripts/fill.sh"); err != nil {
		t.Errorf("a file that has not changed: %v", err)
	}
}

// A server without the extension is asked for nothing of it.
func TestNotDeclared(t *testing.T) {
	h, err := mcphost.NewHost(&mcphost.HostOptions{Servers: []mcphost.Server{{Label: "docs", Run: func(context.Context, *mcphost.Pipes) error { return errors.New("no such program") }}}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if got := problems(open(t, source(t, skillsource.On(h, "docs"), skillsource.Options{}))); !strings.Contains(got, "no such program") {
		t.Errorf("problems %s", got)
	}
}
