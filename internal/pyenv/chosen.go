package pyenv

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"
)

// choice is the versions of packages that were chosen for some needs.
type choice struct {
	Requirements string    `json:"requirements"`     // with hashes
	Build        []string  `json:"build,omitempty"`  // packages that are built from their source
	Python       string    `json:"python,omitempty"` // the versions of Python that they are for, as a condition
	Resolved     time.Time `json:"resolved"`         // when the index was asked
}

// Chosen returns the versions that this Store has chosen for a key that another one asks Options.Chosen for; nil if it has none.
func (s *Store) Chosen(key string) []byte {
	wanted, python, ok := strings.Cut(key, " ")
	if !ok || python == "" {
		return nil
	}
	var last choice
	entries, _ := os.ReadDir(s.folder())
	for _, d := range entries {
		name, ok := strings.CutSuffix(d.Name(), ".json")
		if ok && strings.HasPrefix(name, wanted) && strings.Count(name[len(wanted):], "-") == 0 {
			e := environmentOf{job: &job{s: s}, key: name}
			if c := readRecord(e.place()).choice; c.Python == python && c.Resolved.After(last.Resolved) {
				last = c
			}
		}
	}
	if last.Requirements == "" {
		return nil
	}
	text, err := json.Marshal(last)
	if err != nil {
		return nil
	}
	return text
}

// elsewhere asks for the versions that another Store has chosen, and keeps them if they are later than those of the record.
func (e *environmentOf) elsewhere(ctx context.Context) error {
	if e.s.o.Chosen == nil {
		return nil
	}
	var c choice
	if err := e.s.o.Chosen.Read(ctx, e.wanted()+" "+e.thisPython(ctx), &c); err != nil {
		return e.unavailable(err, "%v", err)
	}
	if c.Requirements != "" && c.Resolved.After(e.record.Resolved) {
		e.given = &c
	}
	return nil
}
