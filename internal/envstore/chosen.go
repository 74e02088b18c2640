package envstore

import "context"

// Chosen returns the versions that were chosen for a key on another machine, so several machines have the same. It returns nil if none
// were chosen.
type Chosen func(ctx context.Context, key string) ([]byte, error)
