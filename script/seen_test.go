package script

import (
	"context"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/want"
)

// seen stands for what the application makes of a scan.
func seen(ctx context.Context, s *skill.Skill) Seen {
	out := Seen{Files: map[string]want.Set{}}
	for _, sc := range survey.Of(s.FS(), &manifest.Manifest{}, nil).Runnable() {
		out.Files[sc.File] = nil
	}
	r, err := scan.Scan(ctx, s.FS(), nil)
	if err != nil {
		return out
	}
	for i := range r.Facts {
		f := &r.Facts[i]
		wants, ok := out.Files[f.Place.File]
		switch {
		case ok && f.Kind == scan.Sends:
			out.Network = true
			out.Files[f.Place.File] = wants.Add(want.HostOf(f.Name))
		case ok && f.Kind == scan.Reads && f.Object == scan.Variable && Shown(f.Name):
			out.Files[f.Place.File] = wants.Add(want.VariableOf(f.Name))
		}
	}
	return out
}
