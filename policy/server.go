package policy

import (
	"slices"

	"github.com/agent-base/agent-base/internal/glob"
)

// Server is an MCP server that the agent may use: a program on this machine by its Command, or one on the network by its URL. In a
// document an item with the last word "*" stands for any further words, and Name and URL are globs; a Name that is "" is any.
type Server struct {
	Name    string
	Command []string // with its arguments
	URL     string
	At      Place
}

// Server decides about a server of tools.
func (p *Policy) Server(s *Server) Decision {
	return p.each(func(d *Document) Decision {
		if _, set := d.Items(KeyServers); !set || slices.ContainsFunc(d.servers, func(item Server) bool { return item.covers(s) }) {
			return Decision{}
		}
		return d.decided(Never, d.At(KeyServers), "only the servers that it lists are used")
	})
}

func (item *Server) covers(s *Server) bool {
	if item.Name != "" && !glob.Match(item.Name, s.Name) {
		return false
	}
	if s.URL != "" {
		return len(s.Command) == 0 && item.URL != "" && glob.Match(item.URL, s.URL)
	}
	if n := len(item.Command) - 1; n > 0 && item.Command[n] == "*" {
		return len(s.Command) >= n && slices.Equal(item.Command[:n], s.Command[:n])
	}
	return len(item.Command) > 0 && slices.Equal(item.Command, s.Command)
}
