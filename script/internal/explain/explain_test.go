package explain

import (
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

type tree = probe.Tree

// ran returns what is known about a run of a script that wrote this to its standard error, in a sandbox.
func ran(s *skill.Skill, file, stderr string) *Run {
	return &Run{
		Skill: s, Script: survey.Script{Name: "a", File: file},
		Cmd:     &runner.Command{Dir: "/", Args: []string{"x"}},
		Out:     &runner.Output{ExitCode: 1, Stderr: []byte(stderr), Sandbox: &runner.Sandbox{Tier: "A"}},
		Seen:    func() Seen { return Seen{} },
		Imports: func() []string { return nil }, Lacking: func(bool) []string { return nil },
	}
}
