package explain

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
)

// tree is the content of files by slash path.
type tree map[string]string

func (tr tree) write(t testing.TB, dir string) {
	t.Helper()
	for name, content := range tr {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// load opens the skill probe of a folder of skills, which has these files.
func load(t testing.TB, root string, files tree) *skill.Skill {
	t.Helper()
	files.write(t, filepath.Join(root, "probe"))
	tree{"SKILL.md": "---\nname: probe\ndescription: A skill for tests.\n---\nBody.\n"}.write(t, filepath.Join(root, "probe"))
	cat, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "user", Source: skill.Dir(root, nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := cat.Lookup("probe")
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

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
