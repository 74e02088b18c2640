package audit

import (
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/trace"
)

// Filter chooses records. The zero value chooses all.
type Filter struct {
	Skill  string // canonical name
	Event  trace.Kind
	Tool   string    // in any case
	Since  time.Time // the earliest time
	Until  time.Time // the first time that is too late
	Denied bool      // only what was refused
}

// Match reports whether the filter chooses a record.
func (f *Filter) Match(r *Record) bool {
	switch {
	case f.Skill != "" && r.Skill != f.Skill,
		f.Event != "" && r.Event != f.Event,
		f.Tool != "" && !strings.EqualFold(r.Tool, f.Tool),
		f.Denied && !r.Refused():
		return false
	case f.Since.IsZero() && f.Until.IsZero():
		return true
	}
	at := r.Time()
	return !at.Before(f.Since) && (f.Until.IsZero() || at.Before(f.Until))
}

// Events returns the kinds of records that a log can have, sorted.
func Events() []trace.Kind {
	out := []trace.Kind{Repaired}
	for kind := range outcomes {
		out = append(out, kind)
	}
	slices.Sort(out)
	return out
}
