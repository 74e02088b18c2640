package setup

import (
	"path/filepath"

	"github.com/agent-base/agent-base/cmd/agent/internal/saved"
	"github.com/agent-base/agent-base/internal/gitdir"
	"github.com/agent-base/agent-base/internal/redact"
)

// conversationsFolder is the folder of the home that holds conversations.
const conversationsFolder = "conversations"

// Conversations returns where the conversations of the project are, or nil if there is no home.
func (s *Settings) Conversations() *saved.Options {
	cfg := s.Config()
	if cfg.Paths.State() == "" {
		return nil
	}
	o := &saved.Options{Dir: filepath.Join(cfg.Paths.State(), conversationsFolder), Project: cfg.Paths.Project, Now: s.sys.Now}
	if real, err := filepath.EvalSymlinks(o.Project); err == nil {
		o.Project = real
	}
	o.Identity = gitdir.Identity(o.Project)
	known := Redactor(s.sys.Environ)
	o.Redact = func(text string) string { return redact.Shapes(known(text)) }
	return o
}
