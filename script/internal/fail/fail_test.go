package fail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/agent-base/agent-base/want"
)

// A caller that shows one line shows the message without what the script printed, and a model gets that as what it is.
func TestBrief(t *testing.T) {
	for _, tt := range []struct {
		message, stdout, brief string
		said                   any
	}{
		{"Script failed with exit code 3\nstderr: boom", "", "Script failed with exit code 3", nil},
		{"Script failed with exit code 3\nstdout: {}", "{}", "Script failed with exit code 3", json.RawMessage("{}")},
		{"Expected JSON output, got: text\nstderr: why", "\x1b[1mtext", "Expected JSON output", "text"},
	} {
		e := &Error{Message: tt.message, Stdout: []byte(tt.stdout), Err: errors.ErrUnsupported, Wants: want.New(want.VariableOf("X"))}
		if e.Brief() != tt.brief || e.Error() != tt.message || !reflect.DeepEqual(e.Said(), tt.said) || !errors.Is(e, errors.ErrUnsupported) || len(e.Lacks()) != 1 {
			t.Errorf("got %q, %v", e.Brief(), e.Said())
		}
	}
}

// What is said of a script is said of a program, and an error that has its own text keeps that.
func TestOfProgram(t *testing.T) {
	of := func(err error) string { return OfProgram("server", err).Error() }
	e := OfScript("server", ReasonMetadata, nil, "is not run: %d", 7)
	if got := of(e); got != "server is not run: 7" || e.Message != "Script server is not run: 7" || e.Code != ExecutionFailed || e.Reason != ReasonMetadata {
		t.Errorf("got %q, %+v", got, e)
	}
	if got := of(fmt.Errorf("of it: %w", e)); got != "of it: Script server is not run: 7" {
		t.Errorf("got %q", got)
	}
	if got := of(&Error{Message: "Dependencies of script server were not ready"}); got != "Dependencies of server were not ready" {
		t.Errorf("got %q", got)
	}
}

func TestToCopy(t *testing.T) {
	if got := ToCopy(t.Context(), "probe", errors.ErrUnsupported); got.Error() != "Skill 'probe' cannot be copied to where its scripts run: unsupported operation" || !errors.Is(got, errors.ErrUnsupported) {
		t.Errorf("got %v", got)
	}
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	if got := ToCopy(dead, "probe", errors.ErrUnsupported); got != context.Canceled {
		t.Errorf("got %v", got)
	}
}
