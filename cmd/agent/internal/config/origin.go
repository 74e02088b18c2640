package config

import (
	"fmt"

	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Rank is the kind of source that a value came from. The value of the highest rank wins.
type Rank uint8

// The ranks, lowest first.
const (
	Default Rank = iota
	FromProfile
	User
	Project
	Environment
	Flag
	Organisation // its policy, which comes before all others
)

// String returns the name that `doctor --json` prints.
func (r Rank) String() string {
	return [...]string{"default", "profile", "user", "project", "environment", "flag", "organisation"}[r]
}

// Origin is where a value came from.
type Origin struct {
	Rank      Rank
	Name      string // name of the profile, variable or flag, or path of the file
	Line, Col int    // in the file
}

// String returns the origin for people: `default`, `profile wink`, `/home/me/.agent/config.yaml:3`, `AGENT_SKILLS`,
// `--profile`, `the policy of your organisation, /etc/agent/policy.yaml:3`.
func (o Origin) String() string {
	switch o.Rank {
	case Default:
		return "default"
	case FromProfile:
		return "profile " + o.Name
	case Organisation:
		return fmt.Sprintf("%s, %s:%d", policy.Layer, o.Name, o.Line)
	case User, Project:
		if o.Line == 0 { // a file of another program
			return o.Name
		}
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	}
	return o.Name
}

// in returns the origin of a node in the same file.
func (o Origin) in(n *yamlnode.Node) Origin {
	return Origin{o.Rank, o.Name, n.Line, n.Col}
}

// problem returns a warning with the place of the origin.
func (o Origin) problem(code, message, cure string) manifest.Problem {
	return manifest.Problem{Code: code, Severity: manifest.SeverityWarning, File: o.Name, Line: o.Line, Col: o.Col, Message: message, Cure: cure}
}
