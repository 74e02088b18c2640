package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/internal/fleet/content"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/skill"
)

// versions begins the name of the versions of packages that were chosen for a key.
const versions = "versions "

// shelf has what the worker of one run may ask for: the content of its skill and its standard input, by their digests, and versions of
// packages.
type shelf struct {
	ctx    context.Context
	o      *order.Order
	s      *skill.Skill
	temp   string                  // a folder
	chosen func(key string) []byte // may be nil

	mu      sync.Mutex
	closed  bool
	archive *os.File // of the content; nil until somebody asks
	size    int64
}

// open returns what has a digest, or another name. Versions that were not chosen are empty.
func (h *shelf) open(digest string) (io.ReaderAt, int64, error) {
	if key, ok := strings.CutPrefix(digest, versions); ok {
		var text []byte
		if h.chosen != nil {
			text = h.chosen(key)
		}
		return bytes.NewReader(text), int64(len(text)), nil
	}
	if in := h.o.Stdin; in != nil && digest == in.Digest {
		return bytes.NewReader(in.Whole), in.Size, nil
	}
	if digest != h.o.Skill.Digest {
		return nil, 0, errors.New("the run has no such content")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, 0, os.ErrClosed
	}
	if h.archive == nil {
		f, err := content.Spool(h.ctx, h.temp, h.s)
		if err != nil {
			return nil, 0, err
		}
		info, err := f.Stat()
		if h.archive = f; err != nil {
			return nil, 0, err
		}
		h.size = info.Size()
	}
	return h.archive, h.size, nil
}

func (h *shelf) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	if h.archive != nil {
		h.archive.Close()
		os.Remove(h.archive.Name())
	}
}
