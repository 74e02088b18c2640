package trust

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/test/documenttest"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// Where an edit runs twice, because another writer came first, the approvals, the answers and the records are those of a file: each
// change is recorded once.
func TestEditsRunTwice(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }
	type outcome struct {
		Records []string
		Answers []any
		Content string
	}
	run := func(keep func(s *Store) document.Store) (o outcome) {
		s := &Store{Path: filepath.Join(t.TempDir(), "trust.json"), Now: now}
		s.Record = func(_ context.Context, e trace.Event) error {
			o.Records = append(o.Records, fmt.Sprint(e.Kind, " ", e.Message, " ", e.Time, e.Attrs))
			if e.Skill == "never" {
				return errors.New("full")
			}
			return nil
		}
		s.Kept = keep(s)
		ctx := t.Context()
		answer := func(got any, err error) {
			text := ""
			if err != nil {
				text = err.Error()
			}
			o.Answers = append(o.Answers, got, text)
		}
		give := func(set string) error {
			return s.EditGrant(ctx, Grant{Layer: "l", Name: "x", Digest: digest("a")}, func(g *Grant) error { g.Given = append(g.Given, sets(t, set)...); return nil })
		}
		answer(nil, s.Approve(ctx, Approval{Layer: "l", Name: "x", Digest: digest("a")}, Approval{Layer: at("/v/y"), Name: "y", Digest: digest("b"), Dir: "/v/y"}, Approval{Layer: "l", Name: "z", Digest: digest("c")}))
		answer(nil, s.Approve(ctx, Approval{Layer: "l", Name: "x", Digest: digest("a")})) // changes nothing
		answer(nil, s.Approve(ctx, Approval{Layer: "l", Name: "never", Digest: digest("a")}))
		answer(nil, give("env:A, host:a.example"))
		answer(nil, give("env:B"))
		answer(s.Forget(ctx, func(of skill.ID) bool { return of.Layer == at("/v/y") }))
		answer(s.RevokeAll(ctx, "z", "none", "Z"))
		content, err := s.Kept.Load(ctx)
		answer(nil, err)
		o.Content = string(content)
		return o
	}
	file := run(func(s *Store) document.Store { return s.document() })
	twice := run(func(s *Store) document.Store { return &documenttest.Memory{Record: s.Record} })
	if diff := cmp.Diff(file, twice); diff != "" {
		t.Error(diff)
	}
	if len(file.Records) != 8 { // one of each change: the second approval of x changes nothing
		t.Errorf("%d records: %q", len(file.Records), file.Records)
	}
}

// A change that replaces a damaged file is not made if the file cannot be kept, and then nothing is recorded.
func TestDamagedIsKeptFirst(t *testing.T) {
	s := newStore(t)
	must(t, os.Mkdir(filepath.Dir(s.Path), 0o700))
	must(t, os.WriteFile(s.Path, []byte("{"), 0o600))
	must(t, os.Mkdir(s.Path+lockfile.Aside(s.now()), 0o700))
	s.Record = func(_ context.Context, e trace.Event) error { t.Errorf("recorded %v", e); return nil }
	if err := s.Approve(t.Context(), Approval{Layer: "l", Name: "x", Digest: digest("a")}); err == nil {
		t.Error("no error")
	}
	if got := string(read(t, s.Path)); got != "{" {
		t.Errorf("the file has %q", got)
	}
}
