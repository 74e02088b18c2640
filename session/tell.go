package session

import (
	"context"

	"github.com/agent-base/agent-base/trace"
)

// event is a step that the tracer has not been told of yet.
type event struct {
	ctx context.Context
	ev  trace.Event
}

// tell notes a step. Whoever holds the lock ends with unlock, which hands it over.
func (s *Session) tell(ctx context.Context, e trace.Event) {
	s.untold = append(s.untold, event{ctx, e})
}

// unlock releases the lock, and hands over what was noted while it is not held: a tracer may ask its session. Where that
// is under way already, in another goroutine or because the tracer itself changes the session, it is left to that one,
// so that the events keep their order.
func (s *Session) unlock() {
	defer s.mu.Unlock()
	if s.tells {
		return
	}
	s.tells = true
	defer func() { s.tells = false }() // a tracer may panic
	for len(s.untold) > 0 {
		next := s.untold[0]
		s.untold = s.untold[1:]
		s.emit(next)
	}
}

func (s *Session) emit(e event) {
	s.mu.Unlock()
	defer s.mu.Lock()
	trace.Emit(e.ctx, s.o.Trace, e.ev)
}
