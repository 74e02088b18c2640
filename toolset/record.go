package toolset

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/trace"
)

const maxRecord = 8 << 20 // bytes

// recordFile is the name of the record of a content: what its toolsets had in their last run.
func (o *owner) recordFile() string {
	return fmt.Sprintf("%x.json", sha256.Sum256([]byte(o.name+"\x00"+o.digest)))
}

func (h *Host) records() lockfile.Records {
	return lockfile.Records{Dir: filepath.Join(h.o.Cache, "tools"), Max: maxRecord}
}

// record keeps what the toolsets of a content have. A failure is not that of the caller: without a record the process is asked.
func (h *Host) record(ctx context.Context, o *owner, all []listed) {
	if len(o.units) == 0 {
		return
	}
	if all == nil {
		all = []listed{}
	}
	if err := h.records().Keep(o.recordFile(), all); err != nil {
		trace.Emit(ctx, h.o.Trace, trace.Event{Kind: trace.ToolsetFailed, Level: slog.LevelWarn, Skill: o.name, Message: "What the toolsets have cannot be kept", Err: err})
	}
}

// recorded returns what the toolsets of a content had.
func (h *Host) recorded(o *owner) ([]listed, bool) {
	var all []listed
	if !h.records().Read(o.recordFile(), &all) {
		return nil, false
	}
	for i := range all {
		l := &all[i]
		at := slices.IndexFunc(o.entries, func(e Entry) bool { return e.Class == l.Class })
		if at < 0 || l.Name == "" || !json.Valid(l.Input) {
			return nil, false // of another version
		}
		l.unit = o.unitOf(o.entries[at])
	}
	return all, true
}

// unitOf returns the program of an entry.
func (o *owner) unitOf(e Entry) *unit {
	for _, u := range o.units {
		if slices.ContainsFunc(u.entries, func(own Entry) bool { return own.Class == e.Class }) {
			return u
		}
	}
	return nil
}
