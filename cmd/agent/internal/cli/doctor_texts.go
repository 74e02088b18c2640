package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
	"github.com/agent-base/agent-base/internal/obeyed"
	"github.com/agent-base/agent-base/internal/paths"
)

// agentFile is a file or folder that agents obey.
type agentFile struct {
	Path string `json:"path"` // with slashes, below the project or as ~/.claude/CLAUDE.md
	By   string `json:"by"`   // an agent, or "agents" for several
	Read string `json:"read"` // what of it is read here; "" for nothing
	Why  string `json:"why,omitempty"`
}

// mostAgentFiles is how many of them are found.
const mostAgentFiles = 100

// agentFiles returns the texts for agents that are read, and what else a project has for agents at its top, in .github and in their
// folders.
func agentFiles(s *app.Services) []agentFile {
	cfg, out := s.Settings.Config(), []agentFile{}
	policy, _ := s.Settings.Permissions()
	texts := worker.Texts(s, policy)
	for _, path := range texts.Read {
		out = append(out, agentFile{Path: path, By: "agents", Read: "its text"})
	}
	root, err := os.OpenRoot(cfg.Paths.Project)
	if err != nil {
		return out
	}
	defer root.Close()
	var read []string
	for _, l := range cfg.Layers() {
		if l.Dir != "" {
			read = append(read, paths.Real(l.Dir))
		}
	}
	for _, f := range obeyedByAgents(root.FS()) {
		full := filepath.Join(cfg.Paths.Project, filepath.FromSlash(f.Path))
		switch {
		case len(out) == mostAgentFiles, slices.ContainsFunc(out, func(has agentFile) bool { return has.Path == f.Path }):
			continue
		case config.ReadOf(f.Path) != "":
			f.Read = config.ReadOf(f.Path)
		case worker.ReadsAgents(s, f.Path):
			f.Read = "its sub-agents"
		case slices.Contains(read, paths.Real(full)):
			f.Read = "its skills"
		default:
			for _, note := range texts.Notes {
				if why, found := strings.CutPrefix(note, f.Path+" is not read: "); found {
					f.Why = why
				}
			}
		}
		out = append(out, f)
	}
	return out
}

// obeyedByAgents returns what agents obey in a project. Of their own folders it has what is in them.
func obeyedByAgents(project fs.FS) (out []agentFile) {
	top, _ := fs.ReadDir(project, ".")
	for _, d := range top {
		found, ok := obeyed.In("", d.Name())
		own := ok && found.Agents
		if own && !d.IsDir() {
			out = append(out, agentFile{Path: d.Name(), By: found.By})
		}
		if !d.IsDir() || !own && !strings.EqualFold(d.Name(), ".github") {
			continue
		}
		list, _ := fs.ReadDir(project, d.Name())
		for _, in := range list {
			by := found.By
			if below, ok := obeyed.In(d.Name(), in.Name()); !own {
				if by = below.By; !ok || !below.Agents {
					continue
				}
			}
			out = append(out, agentFile{Path: d.Name() + "/" + in.Name(), By: by})
		}
	}
	return out
}

// printAgentFiles shows which files for agents are read.
func (o *doctorOptions) printAgentFiles(list []agentFile) error {
	var rows [][]string
	for _, f := range list {
		how := "read: " + f.Read
		if f.Read == "" {
			how = strings.TrimSuffix("not read: "+f.Why, ": ")
		}
		rows = append(rows, []string{"  " + f.Path, f.By, how})
	}
	if len(rows) == 0 {
		return nil
	}
	return o.titled("Files for agents", rows)
}
