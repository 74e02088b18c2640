package install

import "github.com/agent-base/agent-base/internal/store"

// NewOver is New for a store that a test has made.
func NewOver(o *Options, s *store.Dir) (*Installer, error) {
	o.Folder = s.Root
	in, err := New(o)
	if in != nil {
		in.store = s
	}
	return in, err
}
