package envstore

import (
	"context"
	"encoding/json"
	"fmt"
)

// Chosen returns the versions that were chosen for a key on another machine, so several machines have the same. It returns nil if none
// were chosen.
type Chosen func(ctx context.Context, key string) ([]byte, error)

// Read reads these versions into a choice. It leaves the choice alone if there are none.
func (c Chosen) Read(ctx context.Context, key string, choice any) error {
	text, err := c(ctx, key)
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, choice)
	}
	if err != nil {
		return fmt.Errorf("the versions that were chosen for them do not come: %w", err)
	}
	return nil
}
