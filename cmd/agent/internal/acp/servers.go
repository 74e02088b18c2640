package acp

import (
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/mcphost"
)

// mostServers is how many servers an editor may name.
const mostServers = 32

// propose adds the MCP servers of an editor to those that the project proposes: none of them is started before the user has approved it.
func propose(settings *setup.Settings, servers []protocol.McpServer) error {
	if len(servers) > mostServers {
		return wrong("%d MCP servers are named, at most %d are taken", len(servers), mostServers)
	}
	var out []config.Server
	for _, m := range servers {
		s := config.Server{}
		switch {
		case m.Stdio != nil:
			s.Label, s.Command, s.Args, s.Env = m.Stdio.Name, m.Stdio.Command, m.Stdio.Args, map[string]string{}
			for _, v := range m.Stdio.Env {
				s.Env[v.Name] = v.Value
			}
		case m.Http != nil:
			s.Label, s.URL, s.Headers = m.Http.Name, m.Http.Url, map[string]string{}
			for _, h := range m.Http.Headers {
				s.Headers[h.Name] = h.Value
			}
		case m.Sse != nil:
			return wrong("the MCP server %q is reached by SSE, which is not supported: use its address for HTTP", m.Sse.Name)
		default:
			return wrong("an MCP server is neither a program nor reached by HTTP")
		}
		s.Label = label(s.Label)
		if err := config.CheckProposed(&s); err != nil {
			return wrong("the MCP server %q: %v", s.Label, err)
		}
		out = append(out, s)
	}
	settings.Propose(out)
	return nil
}

// label makes a label of the name of a server.
func label(name string) string {
	if mcphost.CheckLabel(name) == nil {
		return name
	}
	out := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
			return r
		}
		return '-'
	}, name)
	return strings.Trim(out[:min(len(out), 64)], "-")
}
