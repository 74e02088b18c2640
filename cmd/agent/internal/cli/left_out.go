package cli

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// leftOut returns what was found where skills are looked for and is none: links that are not followed, folders that are
// not looked into, and the second of two skills of one name. It is told, so that no skill is lost silently (R63).
func leftOut(cat *skill.Catalog) []manifest.Problem {
	out := []manifest.Problem{}
	for _, p := range cat.Problems() {
		if ofNoSkill(p) {
			out = append(out, p)
		}
	}
	return out
}

// ofNoSkill reports whether a problem is about no skill of the catalogue, so that checking each of them does not tell it.
func ofNoSkill(p manifest.Problem) bool {
	switch p.Code {
	case "link-skipped", "discovery-bound", "folder-unreadable", "name-duplicate":
		return true
	}
	return false
}

// mentionLeftOut says on stderr how much was left out, and what shows it: below the answer, where both are a terminal.
func (a *app) mentionLeftOut(cat *skill.Catalog) {
	what := "%d links or folders were"
	n := len(leftOut(cat))
	switch n {
	case 0:
		return
	case 1:
		what = "%d link or folder was"
	}
	if a.flush() == nil {
		a.warn(fmt.Sprintf(what+" left out: \"agent skill list --all\" says which and why", n))
	}
}

// find returns the skill of that name. The error for a name that no skill has tells whether a link or folder of that
// name was left out, or might have been.
func find(cat *skill.Catalog, name string) (skill.Entry, error) {
	e, err := cat.Lookup(name)
	var missing *skill.NotFoundError
	if !errors.As(err, &missing) {
		return e, err
	}
	all := leftOut(cat)
	for _, p := range all {
		if manifest.Canonical(leftName(p)) == manifest.Canonical(name) {
			return e, notFound(fmt.Errorf("%w: %s was left out: %s", &skill.NotFoundError{Name: name}, p.File, strings.TrimPrefix(p.Message, "skipped: ")), p.Cure)
		}
	}
	for _, p := range all {
		if p.Code == "discovery-bound" {
			return e, notFound(fmt.Errorf("%w, but not every folder was looked at: %s: %s", missing, p.File, p.Message), p.Cure)
		}
	}
	return e, err
}

// leftName returns the name of the link or folder that a problem of leftOut is about.
func leftName(p manifest.Problem) string {
	file := filepath.ToSlash(p.File)
	if p.Code == "name-duplicate" { // it names the manifest
		file = path.Dir(file)
	}
	return path.Base(file)
}
