package setup

import (
	"slices"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
)

// ByEditor is where a server comes from that an editor names.
const ByEditor = "the editor"

// Propose adds the servers that an editor names to those that the project proposes. It comes before the settings are read. A server of the
// settings with the same label stays in its place.
func (s *Settings) Propose(servers []config.Server) { s.proposed = servers }

func (s *Settings) propose() {
	for _, one := range s.proposed {
		if slices.ContainsFunc(s.config.Servers, func(other config.Server) bool { return other.Label == one.Label }) {
			continue
		}
		one.Origin = config.Origin{Rank: config.Project, Name: ByEditor}
		s.config.Servers = append(s.config.Servers, one)
	}
}
