package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// load returns one opened skill for each "name" or "name|allowed tools".
func load(t *testing.T, specs ...string) []*skill.Skill {
	t.Helper()
	files := fstest.MapFS{}
	var names []string
	for _, spec := range specs {
		name, tools, restricted := strings.Cut(spec, "|")
		tools, forbidden, _ := strings.Cut(tools, "|")
		text := "---\nname: " + name + "\ndescription: Does things\n"
		if forbidden != "" {
			text += "disallowed-tools: " + forbidden + "\n"
		}
		if restricted && (tools != "" || forbidden == "") {
			text += "allowed-tools: " + tools + "\n"
		}
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(text + "---\nBody\n")}
		names = append(names, name)
	}
	c := catalog(t, skill.FS(files, nil))
	var out []*skill.Skill
	for _, n := range names {
		out = append(out, open(t, c, n))
	}
	return out
}

// catalog returns the catalogue of one source.
func catalog(t *testing.T, from skill.Source) *skill.Catalog {
	t.Helper()
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "test", Source: from}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// open returns a skill of a catalogue, which is closed with the test.
func open(t *testing.T, c *skill.Catalog, name string) *skill.Skill {
	t.Helper()
	e, err := c.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	k, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

// R122: the stack's rules and texts.
func TestStack(t *testing.T) {
	ctx := t.Context()
	k := load(t, "a", "b")
	s := New(nil)
	if _, err := s.DeactivateName(ctx, "a"); !errors.Is(err, ErrNoneActive) || err.Error() != "No active skills to deactivate" {
		t.Errorf("deactivating in an empty session: %v", err)
	}
	ta, err := s.Activate(ctx, k[0], "")
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Activate(ctx, k[0], "")
	if !errors.Is(err, ErrActive) || err.Error() != "Skill 'a' is already active" || again != ta { // C48
		t.Errorf("activating twice: %v, token %d, want %d", err, again, ta)
	}
	tb, err := s.Activate(ctx, k[1], "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Deactivate(ctx, ta); err == nil || err.Error() != "Cannot deactivate 'a' - 'b' must be deactivated first" {
		t.Errorf("deactivating below the top: %v", err)
	}
	if _, err := s.DeactivateName(ctx, "c"); err == nil || err.Error() != "Skill 'c' is not active" {
		t.Errorf("deactivating what is not active: %v", err)
	}
	if got := fmt.Sprint(s.Recent()); got != "[b a]" {
		t.Errorf("recent: %s", got)
	}
	if err := s.Deactivate(ctx, tb); err != nil {
		t.Error(err)
	}
	var refused *Error
	if err := s.Deactivate(ctx, tb); !errors.Is(err, errNotActive) || !errors.As(err, &refused) || refused.Op != "deactivate" { // security 2.12 #173: tokens, not names
		t.Errorf("a spent token: %v", err)
	}
	if _, err := s.DeactivateName(ctx, "A"); err != nil { // R43
		t.Error(err)
	}
	if n := len(s.Active()); n != 0 {
		t.Errorf("%d skills still active", n)
	}
}

// security 2.12 #172: the depth is bounded.
func TestDepth(t *testing.T) {
	ctx := t.Context()
	var names []string
	for i := range MaxActive + 1 {
		names = append(names, fmt.Sprintf("s%d", i))
	}
	s := New(nil)
	for i, k := range load(t, names...) {
		admits := s.Admits(names[i])
		_, err := s.Activate(ctx, k, "")
		if fmt.Sprint(admits) != fmt.Sprint(err) {
			t.Errorf("activation %d: Admits says %v, Activate %v", i, admits, err)
		}
		if i < MaxActive && err != nil || i == MaxActive && (!errors.Is(err, ErrTooMany) || err.Error() != "Failed to activate skill 's8': 8 skills are active (max 8)") { // R185
			t.Errorf("activation %d: %v", i, err)
		}
	}
	if err := s.Admits("S0"); !errors.Is(err, ErrActive) {
		t.Errorf("an active skill: %v", err)
	}
}

// R124, R186: everything ends with the task, and each step is an event.
func TestEndAndEvents(t *testing.T) {
	var got []string
	clock := time.Unix(0, 0)
	s := New(&Options{
		Now: func() time.Time { clock = clock.Add(time.Second); return clock },
		Trace: trace.TracerFunc(func(_ context.Context, e trace.Event) {
			line := fmt.Sprintf("%s %s %s", e.Kind, e.Message, e.Duration)
			for _, a := range e.Attrs {
				if a.Key != trace.AttrDigest || len(a.Value.String()) != 71 {
					line += " " + a.String()
				}
			}
			got = append(got, line)
		}),
	})
	for _, k := range load(t, "free", "bound|Read Bash(git:*)") {
		if _, err := s.Activate(t.Context(), k, ""); err != nil {
			t.Fatal(err)
		}
	}
	s.End(t.Context())
	want := []string{
		"skill_activated Activated skill 'free' 0s restrictions=all tools allowed skill_path=free/SKILL.md layer=test",
		`skill_activated Activated skill 'bound' 0s allowed_tools=[Read Bash(git:*)] skill_path=bound/SKILL.md layer=test`,
		"skill_deactivated Auto-deactivated skill 'bound' on task completion 1s",
		"skill_deactivated Auto-deactivated skill 'free' on task completion 3s",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("events:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A tracer may ask the session, and even change it: it is told when nothing is locked, and in the order of the events.
func TestTracerUsesItsSession(t *testing.T) {
	ctx, k := t.Context(), load(t, "a", "b")
	var s *Session
	var got []string
	s = New(&Options{Trace: trace.TracerFunc(func(_ context.Context, e trace.Event) {
		if !s.mu.TryLock() {
			t.Fatalf("%s: the session is locked", e.Message) // asking it would wait for ever
		}
		s.mu.Unlock()
		got = append(got, fmt.Sprint(e.Message, " ", s.Recent()))
		if e.Message == "Activated skill 'a'" {
			if _, err := s.Activate(ctx, k[1], ""); err != nil {
				t.Error(err)
			}
			got = append(got, "…")
		}
	})})
	token, err := s.Activate(ctx, k[0], "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Renew(ctx, token, k[0], "x"); err != nil {
		t.Error(err)
	}
	if _, err := s.DeactivateName(ctx, ""); err != nil {
		t.Error(err)
	}
	s.End(ctx)
	want := "Activated skill 'a' [a]; …; Activated skill 'b' [b a]; Renewed skill 'a' [b a]; Deactivated skill 'b' [a]; " +
		"Auto-deactivated skill 'a' on task completion []"
	if got := strings.Join(got, "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Many at work on one session leave one line of events: each skill's activations and deactivations take turns.
func TestEventsKeepTheirOrder(t *testing.T) {
	ctx, ks := t.Context(), load(t, "a", "b", "c")
	var got []string // no lock: one is told after the other
	s := New(&Options{Trace: trace.TracerFunc(func(_ context.Context, e trace.Event) {
		got = append(got, string(e.Kind)+" "+e.Skill)
	})})
	var wg sync.WaitGroup
	for _, k := range ks {
		wg.Go(func() {
			for range 100 {
				if tok, err := s.Activate(ctx, k, ""); err == nil {
					_ = s.Deactivate(ctx, tok)
				}
			}
		})
	}
	wg.Wait()
	s.End(ctx)
	active := map[string]bool{}
	for i, line := range got {
		kind, name, _ := strings.Cut(line, " ")
		if on := kind == string(trace.SkillActivated); on == active[name] {
			t.Fatalf("event %d: %s twice in a row", i, line)
		} else {
			active[name] = on
		}
	}
	if len(got) < 6 {
		t.Errorf("%d events", len(got))
	}
}

// A tracer that panics takes no later event with it.
func TestTracerPanics(t *testing.T) {
	k := load(t, "a", "b")
	told := 0
	s := New(&Options{Trace: trace.TracerFunc(func(context.Context, trace.Event) {
		if told++; told == 1 {
			panic("tracer")
		}
	})})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = s.Activate(t.Context(), k[0], "")
	}()
	if _, err := s.Activate(t.Context(), k[1], ""); err != nil || told != 2 {
		t.Errorf("%v, told %d times, want 2", err, told)
	}
}

func TestConcurrentUse(t *testing.T) {
	ctx := t.Context()
	ks := load(t, "a", "b", "c")
	s := New(nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 100 {
				if tok, err := s.Activate(ctx, ks[i%3], ""); err == nil {
					_ = s.Deactivate(ctx, tok)
				}
				s.Active()
			}
		})
	}
	wg.Wait()
	s.End(ctx)
	if n := len(s.Active()); n != 0 {
		t.Errorf("%d skills active after End", n)
	}
}

// The zero Session is one with the zero Options.
func TestZeroSession(t *testing.T) {
	var s Session
	if _, err := s.Activate(t.Context(), load(t, "a|Read")[0], ""); err != nil || ask(t, &s, "bash", "ls") == "" {
		t.Errorf("got %v, restricted %v", err, s.Restriction().IsRestricted())
	}
}
