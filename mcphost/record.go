package mcphost

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
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

func (s *server) records() lockfile.Records {
	return lockfile.Records{Dir: s.h.o.Record, Max: maxRecord}
}

// record keeps what the server is. A failure is not that of the caller: without a record the server is asked.
func (s *server) record(ctx context.Context, now *seen) {
	if err := s.records().Keep(s.recordFile(), now); err != nil {
		trace.Emit(ctx, s.h.o.Trace, trace.Event{Kind: trace.ServerFailed, Level: slog.LevelWarn, Tool: "mcp." + s.Label, Message: "What MCP server " + s.Label + " has cannot be kept", Err: err})
	}
}

// recorded returns what the server was, and false if that is not known.
func (s *server) recorded() (seen, bool) {
	var out seen
	if !s.records().Read(s.recordFile(), &out) {
		return seen{}, false
	}
	for _, d := range out.Tools {
		if _, err := schema(d.Input); d.Name == "" || err != nil {
			return seen{}, false
		}
	}
	return out, true
}
