package mcphost

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/trace"
)

const maxRecord = 16 << 20 // bytes

// seen is what a server was when it was last asked.
type seen struct {
	Server about       `json:"server"`
	Tools  []Described `json:"tools"`
}

// recordFile is the name of the record of a server.
func (s *server) recordFile() string {
	all := strings.Join(append([]string{s.Label, s.URL, s.Entry}, s.Server.Tools...), "\x00")
	return fmt.Sprintf("%s-%x.json", strings.ToLower(s.Label), sha256.Sum256([]byte(all)))
}

// record keeps what the server is. A failure is not that of the caller: without a record the server is asked.
func (s *server) record(ctx context.Context, now *seen) {
	if s.h.o.Record == "" {
		return
	}
	b, err := json.Marshal(now)
	if err == nil {
		err = s.keepRecord(b)
	}
	if err != nil {
		trace.Emit(ctx, s.h.o.Trace, trace.Event{Kind: trace.ServerFailed, Level: slog.LevelWarn, Tool: "mcp." + s.Label, Message: "What MCP server " + s.Label + " has cannot be kept", Err: err})
	}
}

func (s *server) keepRecord(b []byte) error {
	if err := os.MkdirAll(s.h.o.Record, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.h.o.Record)
	if err != nil {
		return err
	}
	defer root.Close()
	if old, err := lockfile.ReadIn(root, s.recordFile(), maxRecord); err == nil && string(old) == string(b) {
		return nil
	}
	return lockfile.Write(root, s.recordFile(), b, 0o600)
}

// recorded returns what the server was, and false if that is not known.
func (s *server) recorded() (seen, bool) {
	if s.h.o.Record == "" {
		return seen{}, false
	}
	root, err := os.OpenRoot(s.h.o.Record)
	if err != nil {
		return seen{}, false
	}
	defer root.Close()
	b, err := lockfile.ReadIn(root, s.recordFile(), maxRecord)
	if err != nil {
		return seen{}, false
	}
	var out seen
	if json.Unmarshal(b, &out) != nil {
		return seen{}, false
	}
	for _, d := range out.Tools {
		if _, err := schema(d.Input); d.Name == "" || err != nil {
			return seen{}, false
		}
	}
	return out, true
}
