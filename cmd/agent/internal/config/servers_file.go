package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/manifest"
)

// proposalFile is the file of a project in which other agents look for servers.
const proposalFile = ".mcp.json"

// servers puts the servers of all files together: of two with one label that of the user counts, or else that of the project's settings.
// The problems of what a project proposes are those of ServerProblems.
func (c *Config) servers(l *loader, all []Server) {
	c.ServerProblems = l.proposed
	have := map[string]*Server{}
	for _, rank := range []Rank{User, Project} {
		for i := range all {
			s := &all[i]
			if s.Origin.Rank != rank {
				continue
			}
			if first := have[s.Label]; first != nil {
				p := s.Origin.problem("config-same-label", fmt.Sprintf("server %q is not used: %s has one with this label", s.Label, first.Origin), "rename one of them")
				c.ServerProblems = append(c.ServerProblems, p)
				continue
			}
			have[s.Label] = s
			c.Servers = append(c.Servers, *s)
		}
	}
}

// readServers reads the servers that a settings file names.
func (l *loader) readServers(at Origin, n *yamlnode.Node) []Server {
	r := &reader{base: l.base(at.Rank), home: l.Home, at: at}
	r.wrong = func(n *yamlnode.Node, message, cure string) {
		there := at.in(n)
		if at.Rank != Project {
			l.report(there, manifest.SeverityError, "config-value", message, cure)
			return
		}
		if len(l.proposed) < maxProblems {
			l.proposed = append(l.proposed, there.problem("mcp-server", message, cure))
		}
	}
	return r.servers(n)
}

// proposals reads the project's file of servers. No link leads out of the project.
func (l *loader) proposals() []Server {
	if l.paths.Project == "" {
		return nil
	}
	root, err := os.OpenRoot(l.paths.Project)
	if err != nil {
		return nil // a folder that is not there proposes nothing
	}
	defer root.Close()
	src, err := lockfile.ReadIn(root, proposalFile, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	at := Origin{Rank: Project, Name: filepath.Join(l.paths.Project, proposalFile), Line: 1, Col: 1}
	n := &yamlnode.Node{}
	if err == nil {
		n, err = fromJSON(src)
	}
	if err != nil {
		l.proposed = append(l.proposed, at.problem("mcp-server", "the servers of the project cannot be read: "+reason(err), `write {"mcpServers": {"LABEL": {"command": "PROGRAM", "args": ["ARGUMENT"]}}}`))
		return nil
	}
	for _, p := range n.Pairs {
		if p.Key.Value == serversSection {
			return l.readServers(at, p.Value)
		}
	}
	return nil
}

// fromJSON returns a JSON object as a tree with places.
func fromJSON(src []byte) (*yamlnode.Node, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	d := &jsonTree{src: src, dec: json.NewDecoder(bytes.NewReader(src))}
	d.dec.UseNumber()
	n, err := d.node(0)
	if err != nil {
		return nil, err
	}
	if n.Kind != yamlnode.Mapping {
		return nil, fmt.Errorf("it is a %s, not an object", n.Kind)
	}
	return n, nil
}

// jsonTree reads JSON.
type jsonTree struct {
	src []byte
	dec *json.Decoder
}

// node reads the next value.
func (d *jsonTree) node(depth int) (*yamlnode.Node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("it has more than %d lists and objects inside each other", maxDepth)
	}
	t, err := d.dec.Token()
	if err != nil {
		return nil, err
	}
	n := &yamlnode.Node{Kind: yamlnode.Scalar, Value: fmt.Sprint(t)}
	n.Line, n.Col = d.place(n.Value)
	switch t {
	case nil:
		n.Kind = yamlnode.Null
	case json.Delim('['):
		n.Kind = yamlnode.Sequence
		for d.dec.More() {
			item, err := d.node(depth + 1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
		_, err = d.dec.Token()
	case json.Delim('{'):
		n.Kind = yamlnode.Mapping
		for d.dec.More() {
			k, err := d.node(depth + 1)
			if err != nil {
				return nil, err
			}
			v, err := d.node(depth + 1)
			if err != nil {
				return nil, err
			}
			n.Pairs = append(n.Pairs, yamlnode.Pair{Key: k, Value: v})
		}
		_, err = d.dec.Token()
	}
	return n, err
}

// place returns the line and column where the text that was read last begins, for one without escapes.
func (d *jsonTree) place(text string) (line, col int) {
	end := int(d.dec.InputOffset())
	at := max(0, end-len(text))
	if end > 0 && d.src[end-1] == '"' {
		at = max(0, at-2)
	}
	before := d.src[:at]
	return 1 + bytes.Count(before, []byte("\n")), at - bytes.LastIndexByte(before, '\n')
}
