package nodeenv

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/envstore"
)

// choice is the versions of packages that a manager has chosen for a skill without a lock.
type choice struct {
	Chosen   *chosen   `json:"chosen,omitempty"`
	Resolved time.Time `json:"resolved,omitzero"` // when
}

// Chosen returns the versions that this Store has chosen for a key that another one asks Options.Chosen for; nil if it has none.
func (s *Store) Chosen(key string) []byte {
	if strings.Trim(key, "0123456789abcdef") != "" {
		return nil
	}
	var r record
	if !(envstore.Place{Root: s.folder(), Key: key}).Read(&r) || r.Chosen == nil {
		return nil
	}
	text, err := json.Marshal(r.choice)
	if err != nil {
		return nil
	}
	return text
}

// elsewhere asks for the versions that another Store has chosen, and keeps them if they are later than those of the record.
func (j *job) elsewhere(ctx context.Context) error {
	if j.s.o.Chosen == nil || j.lock.file != "" {
		return nil
	}
	var c choice
	if err := j.s.o.Chosen.Read(ctx, j.place.Key, &c); err != nil {
		return err
	}
	if c.Chosen != nil && c.Resolved.After(j.record.Resolved) {
		j.given = &c
	}
	return nil
}
