package config

import (
	"fmt"

	"github.com/agent-base/agent-base/skill/manifest"
)

// Rank says which kind of source a value has; a higher one wins.
type Rank uint8

// The ranks, lowest first.
const (
	Default Rank = iota
	FromProfile
	User
	Project
	Environment
	Flag
)

// String returns the name that `doctor --json` prints.
func (r Rank) String() string {
	return [...]string{"default", "profile", "user", "project", "environment", "flag"}[r]
}

// Origin is where a value came from.
type Origin struct {
	Rank      Rank
	Name      string // of the profile, the variable, the flag; the path of the file
	Line, Col int    // in the file
}

// String returns the origin for people: `default`, `profile wink`, `/home/me/.agent/config.yaml:3`, `AGENT_SKILLS`,
// `--profile`.
func (o Origin) String() string {
	switch o.Rank {
	case Default:
		return "default"
	case FromProfile:
		return "profile " + o.Name
	case User, Project:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	}
	return o.Name
}

// problem returns a warning about what stands at the origin.
func (o Origin) problem(code, message, cure string) manifest.Problem {
	return manifest.Problem{Code: code, Severity: manifest.SeverityWarning, File: o.Name, Line: o.Line, Col: o.Col, Message: message, Cure: cure}
}
