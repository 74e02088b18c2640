package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/skill/manifest"
)

// claudeFiles are the settings of Claude Code, below a home or a project. Their rules that deny or ask are honoured, and no rule
// that allows.
var claudeFiles = [...]string{".claude/settings.json", ".claude/settings.local.json"}

// ReadOf says what is read of a file at a slash path below a project; "" for nothing.
func ReadOf(path string) string {
	switch {
	case path == projectConfig:
		return "its settings"
	case path == proposalFile:
		return "its servers, which it proposes"
	case slices.Contains(claudeFiles[:], path):
		return "its rules that deny or ask"
	}
	return ""
}

// maxClaude bounds such a file, in bytes.
const maxClaude = 1 << 20

// claude adds the rules of Claude Code's settings, the user's and the project's. A file or a rule that cannot be read is doubt.
func (l *loader) claude(p *Permissions) {
	type place struct {
		dir  string
		rank Rank
	}
	from := []place{{l.paths.Home, User}, {l.paths.Project, Project}}
	for _, dir := range l.paths.Above {
		from = append(from, place{dir, Project})
	}
	for _, from := range from {
		if from.dir == "" || from.rank == Project && sameFolder(from.dir, l.paths.Home) {
			continue
		}
		root, err := os.OpenRoot(from.dir)
		if err != nil {
			continue // a folder that is not there has no rules
		}
		for _, name := range claudeFiles {
			src, err := lockfile.ReadIn(root, name, maxClaude)
			if !errors.Is(err, fs.ErrNotExist) {
				l.claudeRules(p, Origin{Rank: from.rank, Name: filepath.Join(from.dir, filepath.FromSlash(name))}, src, err)
			}
		}
		_ = root.Close()
	}
}

func (l *loader) claudeRules(p *Permissions, at Origin, src []byte, err error) {
	var file struct {
		Permissions struct {
			Deny, Ask []string
			Allow     json.RawMessage // of any form: an error in it does not matter
		}
	}
	if err == nil {
		err = json.Unmarshal(src, &file)
	}
	var idle []string
	_ = json.Unmarshal(file.Permissions.Allow, &idle)
	for _, text := range idle[:min(len(idle), maxRules)] {
		p.Idle = append(p.Idle, Rule{text[:min(len(text), maxRule)], at})
	}
	lists := [...][]string{file.Permissions.Deny, file.Permissions.Ask}
	for i, to := range []*[]Rule{&p.Deny, &p.Ask} {
		for _, text := range lists[i] {
			if len(text) > maxRule || len(*to) >= 2*maxRules {
				err = fmt.Errorf("a rule has more than %d bytes, or there are more than %d", maxRule, maxRules)
				break
			}
			*to = append(*to, Rule{text, at})
		}
	}
	if err != nil {
		l.doubt = at
		l.report(at, manifest.SeverityError, "config-claude", fmt.Sprintf("rules of Claude Code cannot be read, so every call of a tool is asked about: %s", reason(err)), "fix the file")
	}
}
