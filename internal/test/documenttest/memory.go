package documenttest

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"maps"
	"sync"

	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/trace"
)

// Memory is a document in memory, changed by compare and swap. Each edit runs twice, as if another writer had come first: so it
// tells edits that may not run twice from those that may. Its zero value is empty.
type Memory struct {
	Record func(context.Context, trace.Event) error

	mu      sync.Mutex
	content []byte
	kept    map[string][]byte
	changed chan struct{}
}

// Load returns the document.
func (m *Memory) Load(ctx context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Clone(m.content), ctx.Err()
}

// Transform changes the document.
func (m *Memory) Transform(ctx context.Context, edit document.Edit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := edit(bytes.Clone(m.content)); err != nil {
		return err
	}
	c, err := edit(bytes.Clone(m.content))
	if err != nil || c.Content == nil || m.content != nil && bytes.Equal(c.Content, m.content) {
		return err
	}
	if m.kept[c.Keep] != nil {
		return errors.New("there is a copy of this name")
	}
	for _, e := range c.Events {
		if m.Record == nil {
			break
		}
		if err := m.Record(ctx, e); err != nil && !c.Takes {
			return err
		}
	}
	if c.Keep != "" && m.content != nil {
		m.kept = maps.Clone(m.kept)
		if m.kept == nil {
			m.kept = map[string][]byte{}
		}
		m.kept[c.Keep] = m.content
	}
	m.content = bytes.Clone(c.Content)
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
	return nil
}

// Watch yields the document.
func (m *Memory) Watch(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for ctx.Err() == nil {
			m.mu.Lock()
			if m.changed == nil {
				m.changed = make(chan struct{})
			}
			content, changed := bytes.Clone(m.content), m.changed
			m.mu.Unlock()
			if !yield(content, nil) {
				return
			}
			select {
			case <-ctx.Done():
			case <-changed:
			}
		}
	}
}
