// Package documenttest is the suite that every document.Store passes: what one call does, and that nothing is lost while many
// processes change one document and are killed.
package documenttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/trace"
)

// Open returns a store of the document at a place. Stores of one place have one document. record gets the events of changes.
type Open func(place string, record func(context.Context, trace.Event) error) document.Store

// Run runs the suite. place returns a place without a document. The package's TestMain calls Main with the same open.
func Run(t *testing.T, place func(t *testing.T) string, open Open) {
	t.Run("change", func(t *testing.T) { change(t, open(place(t), nil)) })
	t.Run("events", func(t *testing.T) { events(t, open, place(t)) })
	t.Run("keep", func(t *testing.T) { keep(t, open(place(t), nil)) })
	t.Run("ended", func(t *testing.T) { ended(t, open(place(t), nil)) })
	t.Run("watch", func(t *testing.T) { watched(t, open, place(t)) })
	t.Run("linear", func(t *testing.T) {
		at := place(t)
		if wrong := Linear(t, 6, 30, func(int) document.Store { return open(at, nil) }); wrong != "" {
			t.Error(wrong)
		}
	})
	t.Run("writers", func(t *testing.T) {
		if lost := Writers(t, place(t), open); lost != "" {
			t.Error(lost)
		}
	})
}

func change(t *testing.T, s document.Store) {
	ctx := t.Context()
	if got, err := s.Load(ctx); got != nil || err != nil {
		t.Fatalf("the document that is not there is %q, %v", got, err)
	}
	var was []string
	to := func(content []byte, err error) error {
		return s.Transform(ctx, func(old []byte) (document.Change, error) {
			was = append(was, fmt.Sprintf("%q", old))
			if old == nil {
				was[len(was)-1] = "nil"
			}
			return document.Change{Content: content}, err
		})
	}
	refused := errors.New("refused")
	for _, step := range []struct {
		to   []byte
		err  error
		want string
	}{{nil, nil, ""}, {[]byte("a"), refused, ""}, {[]byte("a"), nil, "a"}, {[]byte("a"), nil, "a"}, {nil, nil, "a"}, {[]byte("b"), refused, "a"}, {[]byte("b"), nil, "b"}, {[]byte{}, nil, ""}} {
		if err := to(step.to, step.err); !errors.Is(err, step.err) || (err == nil) != (step.err == nil) {
			t.Errorf("to %q: %v, want %v", step.to, err, step.err)
		}
		if got, err := s.Load(ctx); string(got) != step.want || err != nil {
			t.Errorf("after %q: %q, %v; want %q", step.to, got, err, step.want)
		}
	}
	if got := slices.Compact(was); !slices.Equal(got, []string{"nil", `"a"`, `"b"`}) {
		t.Errorf("edits got %v", got)
	}
	err := s.Transform(ctx, func(old []byte) (document.Change, error) {
		return document.Change{Content: append(old, "long"...)}, nil
	})
	if got, _ := s.Load(ctx); err != nil || string(got) != "long" {
		t.Errorf("after an edit of its argument: %q, %v", got, err)
	}
}

// events: a change is recorded once before it takes effect. One that gives something and cannot be recorded is not made.
func events(t *testing.T, open Open, place string) {
	ctx := t.Context()
	var told []string
	var fails error
	reader := open(place, nil)
	s := open(place, func(ctx context.Context, e trace.Event) error {
		now, _ := reader.Load(ctx)
		told = append(told, e.Message+" after "+string(now))
		return fails
	})
	to := func(content string, takes bool, events ...string) error {
		return s.Transform(ctx, func([]byte) (c document.Change, err error) {
			for _, e := range events {
				c.Events = append(c.Events, trace.Event{Message: e})
			}
			c.Content, c.Takes = []byte(content), takes
			return c, nil
		})
	}
	full := errors.New("full")
	for _, step := range []struct {
		to     string
		takes  bool
		fails  error
		events []string
		want   string
		told   []string
	}{
		{"a", false, nil, []string{"1", "2"}, "a", []string{"1 after ", "2 after "}},
		{"a", false, nil, []string{"3"}, "a", nil}, // nothing changes
		{"b", false, full, []string{"4", "5"}, "a", []string{"4 after a"}},
		{"b", true, full, []string{"6", "7"}, "b", []string{"6 after a", "7 after a"}},
	} {
		told, fails = nil, step.fails
		err := to(step.to, step.takes, step.events...)
		if got, _ := s.Load(ctx); string(got) != step.want || (err == nil) != (step.want == step.to) || !slices.Equal(told, step.told) {
			t.Errorf("%v: %q, %v, told %q; want %q, told %q", step.events, got, err, told, step.want, step.told)
		}
	}
}

// keep: a copy of what there was is made once under a name.
func keep(t *testing.T, s document.Store) {
	to := func(content, end string) error {
		return s.Transform(t.Context(), func([]byte) (document.Change, error) {
			return document.Change{Content: []byte(content), Keep: end}, nil
		})
	}
	if err := errors.Join(to("a", ".old"), to("b", ".old")); err != nil { // the first has nothing to keep
		t.Fatal(err)
	}
	if err := to("c", ".old"); err == nil {
		t.Error("a copy was replaced")
	}
	if got, _ := s.Load(t.Context()); string(got) != "b" {
		t.Errorf("%q", got)
	}
}

func ended(t *testing.T, s document.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Transform(ctx, document.Plain(func([]byte) ([]byte, error) { return []byte("a"), nil }))
	if _, loaded := s.Load(ctx); !errors.Is(err, context.Canceled) || !errors.Is(loaded, context.Canceled) {
		t.Errorf("errors %v, %v; want the context's", err, loaded)
	}
	for range s.Watch(ctx) {
		t.Error("a watch yields something")
	}
	if got, err := s.Load(t.Context()); got != nil || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// watched: a watch sees what there is, and what each burst of changes left.
func watched(t *testing.T, open Open, place string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	writer, last := open(place, nil), ""
	burst := func() {
		for range 20 {
			last += "x"
			if err := writer.Transform(ctx, document.Plain(func([]byte) ([]byte, error) { return []byte(last), nil })); err != nil {
				t.Fatal(err)
			}
		}
	}
	bursts := 0
	for got, err := range open(place, nil).Watch(ctx) {
		switch {
		case err != nil || strings.Trim(string(got), "x") != "" || len(got) > len(last):
			t.Fatalf("%q, %v; %d written", got, err, len(last))
		case string(got) != last:
			continue
		case bursts == 3:
			return
		}
		burst()
		bursts++
	}
	t.Errorf("after %d bursts the last change was not seen", bursts)
}
