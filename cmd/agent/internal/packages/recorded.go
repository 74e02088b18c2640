package packages

import (
	"context"
	"iter"
	"path/filepath"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/lock"
	"github.com/agent-base/agent-base/skill"
)

// Recorded is what another program recorded about a skill that it installed. Nobody vouches for it.
type Recorded struct {
	lock.Skill
	By   string // the program: "gh skill" or "npx skills"
	File string // that says so
}

// Recorded returns what another program recorded about a skill of the catalogue: in the skill's manifest, in the list of the
// user, or in the lock file of the project. It returns nil for a skill that this program installed, and if there is no such
// record. A list that cannot be read says nothing.
func (p *Packages) Recorded(ctx context.Context, e skill.Entry) *Recorded {
	file, err := e.Location(ctx)
	if err != nil || e.Layer() == config.PluginDir {
		return nil
	}
	if s, err := e.Load(ctx); err == nil {
		defer s.Close()
		if k, ok := lock.FromManifest(e.Name(), s.Manifest().Metadata); ok {
			return &Recorded{Skill: k, By: "gh skill", File: file}
		}
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return nil
	}
	for list, skills := range p.records(ctx, filepath.Dir(dir)) {
		for _, k := range skills {
			if k.Name == e.Name() || k.Name == filepath.Base(dir) {
				return &Recorded{Skill: k, By: "npx skills", File: list}
			}
		}
	}
	return nil
}

// records yields the files in which the npm program lists what it installed into a folder, and what they say.
func (p *Packages) records(ctx context.Context, dir string) iter.Seq2[string, []lock.Skill] {
	of := func(root string) bool {
		at, err := filepath.EvalSymlinks(filepath.Join(root, ".agents", "skills"))
		return root != "" && err == nil && at == dir
	}
	return func(yield func(string, []lock.Skill) bool) {
		if of(p.Sys.Home) {
			for _, file := range []string{
				filepath.Join(p.Sys.Home, ".agents", ".skill-lock.json"),
				filepath.Join(p.Sys.Getenv("XDG_STATE_HOME"), "skills", ".skill-lock.json"),
			} {
				if list, err := lock.ReadUser(file); filepath.IsAbs(file) && err == nil && !yield(file, list) {
					return
				}
			}
		}
		project, err := p.LockFile()
		if err != nil || !of(project.Dir) {
			return
		}
		if set, err := project.Load(ctx); err == nil {
			yield(filepath.Join(project.Dir, lock.FileName), set.Skills())
		}
	}
}

// From says where the skill is from: "owner/repo, skills/x at v1, pinned".
func (r *Recorded) From() string {
	text := r.Source
	if r.Path != "" {
		text += ", " + r.Path
	}
	if r.Ref != "" {
		text += " at " + r.Ref
	}
	if r.Pinned {
		text += ", pinned"
	}
	return text
}

// Cure says how the program that installed the skill changes it.
func (r *Recorded) Cure(name string) string {
	if r.By == "gh skill" {
		return "gh skill update " + name + " updates it; to remove it, delete its folder"
	}
	return "npx skills update " + name + " and npx skills remove " + name + " change it"
}
