package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// R166: success at INFO, failure at ERROR, with the names of skill and script.
func TestLogLevelsAndNames(t *testing.T) {
	var buf bytes.Buffer
	log := Log(slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelInfo})))
	ctx := t.Context()
	Emit(ctx, log, Event{Kind: ScriptRun, Skill: "kalshi", Script: "status", Message: "Executed status script", Duration: time.Second})
	Emit(ctx, log, Event{Kind: ScriptRun, Level: slog.LevelError, Skill: "kalshi", Script: "market", Err: errors.New("exit 1")})
	Emit(ctx, log, Event{Kind: ToolCalled, Level: slog.LevelDebug, Tool: "skill"})
	got := buf.String()
	for _, want := range []string{
		`level=INFO msg="Executed status script" skill=kalshi script=status duration=1s`,
		`level=ERROR msg=script_run skill=kalshi script=market error="exit 1"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("log has no %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "tool_called") {
		t.Errorf("a debug event was written at level info:\n%s", got)
	}
}

// A Spanner gets the beginning and the end of a step, with what is private; other tracers get the event alone.
func TestSpan(t *testing.T) {
	s := &spanner{}
	var plain []string
	tracer := Tee(nil, s, TracerFunc(func(_ context.Context, e Event) {
		if e.Time.IsZero() {
			t.Error("event has no time")
		}
		plain = append(plain, string(e.Kind))
	}))
	ctx, span := Begin(t.Context(), tracer, Event{Kind: ToolCalled}, slog.String("arguments", "a"))
	Emit(ctx, tracer, Event{Kind: SkillActivated})
	span.End(Event{Kind: ToolCalled}, slog.String("result", "r"))
	if got := strings.Join(s.got, " "); got != "begin[arguments=a] skill_activated-inside end-inside[result=r]" {
		t.Errorf("got %s", got)
	}
	if got := strings.Join(plain, " "); got != "skill_activated tool_called" {
		t.Errorf("got %s", got)
	}
	_, none := Begin(t.Context(), nil, Event{})
	none.End(Event{})
}

// spanner notes what it gets.
type spanner struct{ got []string }

type insideKey struct{}

func (s *spanner) note(ctx context.Context, what string, private []slog.Attr) {
	if ctx.Value(insideKey{}) != nil {
		what += "-inside"
	}
	if len(private) > 0 {
		what += fmt.Sprint(private)
	}
	s.got = append(s.got, what)
}

func (s *spanner) Trace(ctx context.Context, e Event) { s.note(ctx, string(e.Kind), nil) }

func (s *spanner) Begin(ctx context.Context, _ Event, private []slog.Attr) context.Context {
	s.note(ctx, "begin", private)
	return context.WithValue(ctx, insideKey{}, true)
}

func (s *spanner) End(ctx context.Context, _ Event, private []slog.Attr) { s.note(ctx, "end", private) }

func TestTeeAndNil(t *testing.T) {
	var seen []Kind
	one := TracerFunc(func(_ context.Context, e Event) {
		if e.Time.IsZero() {
			t.Error("event has no time")
		}
		seen = append(seen, e.Kind)
	})
	Emit(t.Context(), nil, Event{Kind: ToolCalled})
	Emit(t.Context(), Log(nil), Event{Kind: ToolCalled})
	Emit(t.Context(), Tee(one, nil, one), Event{Kind: ToolDenied})
	if len(seen) != 2 || seen[0] != ToolDenied || seen[1] != ToolDenied {
		t.Errorf("seen %v, want tool_denied twice", seen)
	}
}
