package registry

import "github.com/agent-base/agent-base/internal/document"

// KeepIn lets a store keep its list elsewhere than in its file.
func (s *Store) KeepIn(d document.Store) { s.kept = d }
