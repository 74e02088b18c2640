package script

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/skill"
)

// A closed skill is told as that: it has not lost its scripts.
func TestClosedSkill(t *testing.T) {
	front := "---\nname: probe\ndescription: A skill for tests.\n---\n"
	skills := map[string]*skill.Skill{
		"on disk":   open(t, "", tree{"scripts/a.sh": "echo '{}'\n", "scripts/any*": "#!/usr/bin/env python3\n"}),
		"in memory": probe.From(t, skill.FS(fstest.MapFS{"probe/SKILL.md": {Data: []byte(front)}, "probe/scripts/a.sh": {}}, nil)),
	}
	for where, s := range skills {
		if _, err := Find(t.Context(), s, "a", nil); err != nil {
			t.Fatal(err)
		}
		s.Close()
		h, sc := host(t), Script{Name: "a", File: "scripts/a.sh"}
		calls := map[string]func() error{
			"find":    func() error { _, err := Find(t.Context(), s, "a", nil); return err },
			"run":     func() error { _, err := h.Run(t.Context(), s, sc, nil); return err },
			"help":    func() error { _, err := h.Help(t.Context(), s, sc); return err },
			"prepare": func() error { _, err := h.Prepare(t.Context(), s, sc, nil); return err },
			"prepare without an ending": func() error {
				_, err := h.Prepare(t.Context(), s, Script{Name: "any", File: "scripts/any"}, nil)
				return err
			},
		}
		for way, call := range calls {
			err := call()
			var e *Error
			if !errors.Is(err, skill.ErrClosed) || !errors.As(err, &e) || e.Code != ExecutionFailed || !strings.Contains(e.Message, "Skill 'probe' is closed: load it again") {
				t.Errorf("%s, %s: got %v, want %v", where, way, err, skill.ErrClosed)
			}
		}
		if scripts, problems := List(s, nil); len(scripts) > 0 || len(problems) != 1 || problems[0].Code != "scripts-unreadable" {
			t.Errorf("%s: listed %v, %v", where, scripts, problems)
		}
	}
}
