package mcpserve

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Whole results are kept for a while, for clients that want what was cut.
const (
	wholeFor    = 10 * time.Minute
	mostWhole   = 64 << 20 // bytes of all of them
	wholeScheme = "skill-run://"
)

// wholes has the results that were cut. The zero value is empty.
type wholes struct {
	mu   sync.Mutex
	all  []whole // the oldest first
	size int
}

type whole struct {
	uri, of, text string // of is the caller that it is for
	until         time.Time
}

// keep keeps a text for a caller, and returns the link to it; nil if it is too long.
func (w *wholes) keep(now time.Time, of, text string) *mcp.ResourceLink {
	if len(text) > mostWhole {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(now, mostWhole-len(text))
	one := whole{wholeScheme + rand.Text(), of, text, now.Add(wholeFor)}
	w.all, w.size = append(w.all, one), w.size+len(text)
	size := int64(len(text))
	return &mcp.ResourceLink{URI: one.uri, Name: "whole-result", Description: "The whole result, for ten minutes", MIMEType: "text/plain", Size: &size}
}

// drop forgets texts that are too old, and the oldest until there are at most so many bytes. The caller holds the lock.
func (w *wholes) drop(now time.Time, most int) {
	for len(w.all) > 0 && (now.After(w.all[0].until) || w.size > most) {
		w.size -= len(w.all[0].text)
		w.all = w.all[1:]
	}
}

// none reports whether no text is kept.
func (w *wholes) none(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(now, mostWhole)
	return len(w.all) == 0
}

// find returns a text that was kept for a caller.
func (w *wholes) find(now time.Time, of, uri string) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.all {
		if one.uri == uri && one.of == of && !now.After(one.until) {
			return one.text, true
		}
	}
	return "", false
}

// readWhole answers resources/read for a result that was cut.
func (s *Server) readWhole(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	text, ok := s.whole.find(s.o.now(), caller(req.Extra), req.Params.URI)
	if !ok {
		return nil, invalid("the result is not kept any more: call the tool again")
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "text/plain", Text: text}}}, nil
}
