package packages

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/check"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Open opens a skill by its name or by the path of its folder, which has a separator or is "." or "..".
func (p *Packages) Open(ctx context.Context, text string) (*skill.Skill, error) {
	if text != "." && text != ".." && !strings.ContainsAny(text, `/\`) {
		return p.Skills.Load(ctx, text)
	}
	list, err := p.Below(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(list) > 0 && list[0].Path() == "." {
		return list[0].Load(ctx)
	}
	return nil, failure.NotFound(fmt.Errorf("%q is not the folder of a skill: it has no SKILL.md", text), "name the folder that has the SKILL.md")
}

// Below returns the skills in a folder: the one that it is, or those that lie in it.
func (p *Packages) Below(ctx context.Context, folder string) ([]skill.Entry, error) {
	dir := p.Sys.Abs(folder)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, failure.NotFound(fmt.Errorf("folder %q does not exist", folder), "name the folder of a skill, or one that has skills")
	}
	o, err := p.Skills.Options()
	if err != nil {
		return nil, err
	}
	o.Layers = []skill.Layer{{Name: filepath.Base(dir), Source: skill.Dir(dir, nil)}}
	o.Admit, o.Want, o.Allow, o.Deny, o.Audience = nil, skill.Selection{}, nil, nil, nil // nothing of them is used
	cat, err := skill.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	var out []skill.Entry
	for e := range cat.All() {
		if e.Path() == "." {
			return []skill.Entry{e}, nil
		}
		out = append(out, e)
	}
	return out, nil
}

// Publishable returns an error for a skill that does not pass the check, or that nobody has written yet: others could not use it.
func (p *Packages) Publishable(s *skill.Skill) error {
	profile, _ := manifest.ProfileNamed(p.Settings.Config().Profile) // the catalogue has it already
	_, problems := check.Folder(s.FS(), s.Name(), &check.Options{Profile: profile, ScriptRule: p.Settings.Survey().Rule})
	for _, found := range problems {
		if found.Severity == manifest.SeverityError || found.Code == "description-unwritten" || found.Code == "body-unwritten" {
			return &failure.Error{Exit: failure.ExitInvalid, Code: "invalid_skill", Hint: found.Cure, Err: fmt.Errorf("skill %q: %w", s.Name(), &found)}
		}
	}
	return nil
}
