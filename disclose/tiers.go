package disclose

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/skill"
)

// Tiers is the three-tier interface of the second source document over a catalogue (R90): what a
// model is told at the start, one skill in full, one file of it. Where that says null, the error
// is a *skill.NotFoundError or one of the file system.
type Tiers struct{ Catalog *skill.Catalog }

// The kinds of resources that Tier3List lists: sub-directories of a skill.
const (
	Scripts    = "scripts"
	References = "references"
	Assets     = "assets"
)

// Tier1 returns the list of skills in the harness style, "" when there is none.
func (t Tiers) Tier1() string {
	text, _ := Catalog(t.Catalog, &Options{Bare: true}) // these options are known
	return text.Body
}

// Tier2 returns the whole SKILL.md of a skill, front matter included (C51).
func (t Tiers) Tier2(ctx context.Context, name string) (string, error) {
	s, err := t.Skill(ctx, name)
	if err != nil {
		return "", err
	}
	defer s.Close()
	return string(s.Text()), nil
}

// Tier3List returns the paths of a skill's files below kind, relative to the skill, sorted. A kind
// other than Scripts, References and Assets is an error.
func (t Tiers) Tier3List(ctx context.Context, name, kind string) ([]string, error) {
	if kind != Scripts && kind != References && kind != Assets {
		return nil, fmt.Errorf("unknown kind of resource %q, use scripts, references or assets", kind)
	}
	s, err := t.Skill(ctx, name)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	files, err := s.Files(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range files {
		if strings.HasPrefix(f.Path, kind+"/") {
			out = append(out, f.Path)
		}
	}
	return out, nil
}

// Tier3 returns the content of one file by its path relative to the skill. It is for programs, so
// that it gives scripts too; a model's tools ask the session first (C50).
func (t Tiers) Tier3(ctx context.Context, name, path string) (string, error) {
	s, err := t.Skill(ctx, name)
	if err != nil {
		return "", err
	}
	defer s.Close()
	b, err := s.ReadFile(path)
	return string(b), err
}

// Names returns the names of the skills that a model may see, by canonical name.
func (t Tiers) Names() []string {
	var out []string
	for e := range t.Catalog.Visible() {
		out = append(out, e.Name())
	}
	return out
}

// Skill opens a skill that a model may see. Close it.
func (t Tiers) Skill(ctx context.Context, name string) (*skill.Skill, error) {
	e, err := t.Catalog.Lookup(name)
	if err != nil {
		return nil, err
	}
	if e.State() != skill.StateEnabled {
		return nil, &skill.NotFoundError{Name: name}
	}
	return e.Load(ctx)
}
