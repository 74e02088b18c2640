package install

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// marketplaceFile lists the plugins of a repository, for Claude Code.
const marketplaceFile = ".claude-plugin/marketplace.json"

// maxMarketplace is the size of the largest list that is read, in bytes.
const maxMarketplace = 4 << 20

// maxElsewhere is how many plugins that are in other places are named.
const maxElsewhere = 100

// marketplace says which plugin a folder belongs to.
type marketplace map[string]string // plugin by slash path of its folder, or of one of its skills

// readMarketplace reads the list of plugins, if there is one. Its notes name the plugins that are in other places.
func readMarketplace(fsys fs.FS) (marketplace, []string) {
	file, err := fsys.Open(marketplaceFile)
	if err != nil {
		return nil, nil
	}
	defer file.Close()
	var list struct {
		Metadata struct {
			PluginRoot string `json:"pluginRoot"`
		} `json:"metadata"`
		Plugins []struct {
			Name   string          `json:"name"`
			Source json.RawMessage `json:"source"`
			Skills json.RawMessage `json:"skills"`
		} `json:"plugins"`
	}
	if err := json.NewDecoder(io.LimitReader(file, maxMarketplace)).Decode(&list); err != nil {
		return nil, []string{fmt.Sprintf("%s: %v", marketplaceFile, err)}
	}
	out, notes := marketplace{}, []string{}
	for _, p := range list.Plugins {
		var at string
		if json.Unmarshal(p.Source, &at) != nil {
			if len(notes) < maxElsewhere {
				notes = append(notes, fmt.Sprintf("plugin %.100q is in another place: %.200s", p.Name, elsewhere(p.Source)))
			}
			continue
		}
		root := path.Join(list.Metadata.PluginRoot, at)
		var skills []string
		if json.Unmarshal(p.Skills, &skills) != nil || len(skills) == 0 {
			if root != "." {
				out[root] = p.Name
			}
			continue
		}
		for _, s := range skills {
			out[path.Join(root, s)] = p.Name
		}
	}
	return out, notes
}

// elsewhere describes the source of a plugin that is not in the repository.
func elsewhere(source json.RawMessage) string {
	var s struct{ Source, Repo, URL, Package, Path string }
	if json.Unmarshal(source, &s) != nil {
		return "unknown"
	}
	for _, text := range []string{s.Repo, s.URL, s.Package} {
		if text != "" {
			return strings.TrimSuffix(text+" "+s.Path, " ")
		}
	}
	return s.Source
}

// of returns the plugin that a folder belongs to.
func (m marketplace) of(dir string) string {
	for ; dir != "."; dir = path.Dir(dir) {
		if name, ok := m[dir]; ok {
			return name
		}
	}
	return ""
}
