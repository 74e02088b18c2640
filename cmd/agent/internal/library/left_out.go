package library

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// LeftOut returns what was found among the skills and is not one: links that are not followed, folders that are empty or not
// searched, manifests whose name is in another case, the second of two skills with the same name, installed skills whose folder is gone and,
// from OpenAll, the SKILL.md below a skill or in a hidden folder that is not searched. It is reported,
// so no skill is lost silently.
func LeftOut(cat *skill.Catalog) []manifest.Problem {
	out := []manifest.Problem{}
	for _, p := range cat.Notes() {
		if OfNoSkill(p) {
			out = append(out, cure.Advised(p))
		}
	}
	return out
}

// OfNoSkill reports whether a problem belongs to no skill of the catalogue, so checking each skill does not report it.
func OfNoSkill(p manifest.Problem) bool {
	switch p.Code {
	case "link-skipped", "discovery-bound", "folder-unreadable", "folder-empty", "manifest-case", "manifest-inside", "manifest-hidden", "name-duplicate", "installed-missing", "linked-missing":
		return true
	}
	return false
}

// Inside returns the folders below dir whose SKILL.md is a file of the skill in dir. The catalogue is one of OpenAll.
func Inside(cat *skill.Catalog, dir string) []string {
	var out []string
	for _, p := range cat.Notes() {
		if rel, err := filepath.Rel(dir, p.File); p.Code == "manifest-inside" && err == nil && filepath.IsLocal(rel) {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

// Find returns the skill with a name. The error for an unknown name says whether a link or folder of that
// name was left out, or might have been.
func Find(cat *skill.Catalog, name string) (skill.Entry, error) {
	e, err := cat.Lookup(name)
	var missing *skill.NotFoundError
	if !errors.As(err, &missing) {
		return e, err
	}
	all := LeftOut(cat)
	for _, p := range all {
		if manifest.Canonical(LeftName(p)) == manifest.Canonical(name) {
			return e, failure.NotFound(fmt.Errorf("%w: %s was left out: %s", &skill.NotFoundError{Name: name}, p.File, strings.TrimPrefix(p.Message, "skipped: ")), p.Cure)
		}
	}
	for _, p := range all {
		if p.Code == "discovery-bound" {
			return e, failure.NotFound(fmt.Errorf("%w, but not every folder was looked at: %s: %s", missing, p.File, p.Message), p.Cure)
		}
	}
	return e, err
}

// LeftName returns the name of the link or folder that LeftOut reported with p.
func LeftName(p manifest.Problem) string {
	file := filepath.ToSlash(p.File)
	if p.Code == "name-duplicate" || p.Code == "manifest-case" { // they name the manifest
		file = path.Dir(file)
	}
	return path.Base(file)
}

// WarnLeftOut prints to stderr how much was left out of the catalogue, below the answer.
func WarnLeftOut(p *output.Printer, cat *skill.Catalog) {
	what := "%d skills, links or folders were"
	n := len(LeftOut(cat))
	switch n {
	case 0:
		return
	case 1:
		what = "%d skill, link or folder was"
	}
	if p.Flush() == nil {
		p.Warn(fmt.Sprintf(what+" left out; \"agent skill list --all\" lists them", n))
	}
}

// NameAlike is the code of the problem that a skill's name looks like that of another one.
const NameAlike = "name-alike"

// WarnAlike warns about the skills whose names look like those of others. Commands that list or check skills do that; those that ask about
// one skill name what it looks like, and the others are silent.
func WarnAlike(p *output.Printer, cat *skill.Catalog) {
	for _, problem := range cat.Notes() {
		if problem.Code == NameAlike {
			p.WarnProblem(cure.Advised(problem))
		}
	}
}

// IsActive reports whether a skill can be used in this run, at least by a person.
func IsActive(e skill.Entry) bool {
	return e.State() == skill.StateEnabled || e.State() == skill.StateHidden
}
