package script

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/internal/run"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Dir is the folder of a skill that holds its scripts.
const Dir = survey.Dir

// Script is one script of a skill.
type Script = survey.Script

// Rule says where the scripts of a skill lie.
type Rule = survey.Rule

// Direct is the Rule for scripts directly in Dir, with one of the extensions .py .sh .js .ts .rb .pl, a #! line, or as a program. With the
// zero Rule they lie anywhere in the skill.
const Direct = survey.Direct

// ListOptions says which files of a skill are scripts: by a Rule.
type ListOptions = survey.Options

// List returns the scripts that a skill offers, by name, and the problems of its scripts and of
// metadata.agent-base.cwd. It runs nothing. For a closed skill it returns no scripts and a problem. Nil options have the zero Rule.
func List(s *skill.Skill, o *ListOptions) ([]Script, []manifest.Problem) {
	found := survey.Of(s.FS(), s.Manifest(), o)
	return found.List(), append(found.Problems(), CheckManifest(s.Manifest())...)
}

// CheckManifest returns the problems of what a manifest says about running scripts.
func CheckManifest(m *manifest.Manifest) []manifest.Problem {
	return plan.CheckCwd(m)
}

// Find returns the script of that name, the shortest or a longer one. The absolute path of a script in the skill's
// own folder is a name too, since a model that is told the folder writes it. The error is an *Error with code InvalidName
// or NotFound; the latter has the reason "ambiguous" if several scripts have that name. For a closed skill it wraps
// skill.ErrClosed.
func Find(ctx context.Context, s *skill.Skill, name string, o *ListOptions) (Script, error) {
	ask := relative(ctx, s, name)
	if !survey.ValidName(ask, s.Manifest(), o) {
		return Script{}, &Error{Code: InvalidName, Message: fmt.Sprintf("Invalid script name: '%s'", name)}
	}
	if err := run.CheckOpen(s); err != nil {
		return Script{}, err
	}
	found := survey.Of(s.FS(), s.Manifest(), o)
	sc, same, ok := found.Find(ask)
	if ok {
		return sc, nil
	}
	e := &Error{Code: NotFound, Message: fmt.Sprintf("Script '%s' not found in skill '%s'", name, s.Canonical())}
	if len(same) > 0 {
		e.Reason = fail.ReasonAmbiguous
		e.Message += ": say which, " + candidates(same)
	} else if why := found.Why(ask); why != "" {
		e.Message += ": " + why
	} else {
		e.Suggest = found.Near(ask)
	}
	return Script{}, e
}

// relative returns the path below the skill of an absolute path in it, and other names unchanged.
func relative(ctx context.Context, s *skill.Skill, name string) string {
	if !filepath.IsAbs(name) {
		return name
	}
	dir, err := s.Dir(ctx)
	if below, ok := strings.CutPrefix(name, dir+string(filepath.Separator)); err == nil && ok {
		return "./" + filepath.ToSlash(below)
	}
	return name
}

const maxCandidates = 10 // names of an ambiguous one that are listed

func candidates(names []string) string {
	if more := len(names) - maxCandidates; more > 0 {
		return fmt.Sprintf("%s or %d others", strings.Join(names[:maxCandidates], ", "), more)
	}
	return strings.Join(names, " or ")
}

// mostLooked is how many scripts UsesAbove reads.
const mostLooked = 200

// UsesAbove returns the files and folders outside of a skill that its scripts use, as far as their texts show it: slash paths from
// the skill's folder, each with the script, as "../lib/a.py (scripts/run.py)". has says which paths are there. Tests do not count.
func UsesAbove(s *skill.Skill, has func(name string) bool) []string {
	all := survey.Of(s.FS(), &manifest.Manifest{}, nil).Runnable()
	seen := map[string]bool{}
	var out []string
	for _, sc := range all[:min(len(all), mostLooked)] {
		if survey.IsTest(sc.File) {
			continue
		}
		for _, name := range survey.UsesAbove(s.FS(), sc.File, survey.Beginning(s.FS(), sc.File), has) {
			if !seen[name] {
				seen[name] = true
				out = append(out, fmt.Sprintf("%s (%s)", name, sc.File))
			}
		}
	}
	return out
}
