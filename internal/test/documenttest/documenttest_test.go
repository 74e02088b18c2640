package documenttest

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/internal/document"
)

// stale reads what there was when it read last, every other time.
type stale struct {
	*Memory
	mu   sync.Mutex
	last []byte
	old  bool
}

func (s *stale) Load(ctx context.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.old = !s.old; s.old {
		return bytes.Clone(s.last), nil
	}
	var err error
	s.last, err = s.Memory.Load(ctx)
	return bytes.Clone(s.last), err
}

// A store in memory is linear, and one whose readers are behind is not.
func TestLinear(t *testing.T) {
	m := &Memory{}
	if wrong := Linear(t, 6, 50, func(int) document.Store { return m }); wrong != "" {
		t.Error(wrong)
	}
	s := &stale{Memory: &Memory{}}
	if wrong := Linear(t, 6, 50, func(int) document.Store { return s }); wrong == "" {
		t.Error("reads of the past were not found")
	}
}
