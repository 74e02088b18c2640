package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/agent-base/agent-base/cmd/agent/internal/replica"
)

// tidy brings the contents that the fleet keeps in line with its list of skills.
func (s *Server) tidy(fleet *replica.Replica) {
	if err := fleet.Tidy(s.life); err != nil && s.life.Err() == nil {
		s.s.Out.Warn(err.Error())
	}
}

// complete gets the listed contents that neither this machine nor the fleet has from the places they were installed from, and gives them to
// the fleet. It reports whether there was one.
func (s *Server) complete(fleet *replica.Replica) (got bool) {
	s.completing.Lock()
	defer s.completing.Unlock()
	in, err := s.s.Packages.Installer()
	if err != nil {
		return false // no skill is installed without a home
	}
	list, err := in.Installed(s.life)
	if err != nil {
		return false // the watch says so
	}
	for _, e := range list {
		if _, err := os.Stat(e.InstalledPath); e.Linked || !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := in.Restore(s.life, e, "")
		if s.life.Err() != nil {
			return false
		}
		if got = got || err == nil; err != nil {
			s.s.Out.Warn(fmt.Sprintf("skill %q cannot be used here: the fleet does not have its content, and neither does its place (%v)", e.Name, err))
		}
	}
	if got {
		s.tidy(fleet)
	}
	return got
}
