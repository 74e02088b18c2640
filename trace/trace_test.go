package trace

import (
	"bytes"
	"context"
	"errors"
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

func TestTeeAndNil(t *testing.T) {
	var seen []Kind
	one := TracerFunc(func(_ context.Context, e Event) {
		if e.Time.IsZero() {
			t.Error("event has no time")
		}
		seen = append(seen, e.Kind)
	})
	Emit(t.Context(), nil, Event{Kind: ToolCalled})
	Emit(t.Context(), Tee(one, nil, one), Event{Kind: ToolDenied})
	if len(seen) != 2 || seen[0] != ToolDenied || seen[1] != ToolDenied {
		t.Errorf("seen %v, want tool_denied twice", seen)
	}
}
