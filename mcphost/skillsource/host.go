package skillsource

import (
	"context"
	"fmt"
	"sync"

	"github.com/agent-base/agent-base/internal/skilluri"
	"github.com/agent-base/agent-base/mcphost"
)

// On returns a server of a host, for New. It starts the server when it is first asked something.
func On(h *mcphost.Host, label string) Server { return &hosted{host: h, label: label} }

type hosted struct {
	host  *mcphost.Host
	label string

	mu       sync.Mutex
	declared bool // the server was started, and declared the extension
}

// ready starts the server, and looks whether it declares the extension.
func (s *hosted) ready(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.declared {
		return nil
	}
	if err := s.host.Start(ctx, s.label); err != nil {
		return err
	}
	if _, s.declared = s.host.Extension(s.label, skilluri.Extension); !s.declared {
		return fmt.Errorf("%w: it has not declared the extension %s", errNotDeclared, skilluri.Extension)
	}
	return nil
}

func (s *hosted) Ask(ctx context.Context, method string, params, result any) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	return s.host.Ask(ctx, s.label, method, params, result)
}

func (s *hosted) Read(ctx context.Context, uri string, most int64) ([]byte, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	list, err := s.host.Read(ctx, s.label, uri)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 || list[0].URI != uri {
		return nil, fmt.Errorf("%w: the answer has %d contents, and not one of %.200q", errDiffers, len(list), uri)
	}
	data := []byte(list[0].Text)
	if list[0].Blob != nil {
		data = list[0].Blob
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%w: it has %d bytes, and %d are expected", errDiffers, len(data), most)
	}
	return data, nil
}
