package check_test

import (
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/check"
)

// A file is large when it is larger than what a skill reads of one.
func TestLargeIsWhatSkillDoesNotRead(t *testing.T) {
	files := fstest.MapFS{
		"SKILL.md": {Data: []byte("---\nname: x\ndescription: y\n---\n")},
		"fits":     {Data: make([]byte, skill.MaxResource)},
		"big":      {Data: make([]byte, skill.MaxResource+1)},
	}
	_, problems := check.Folder(files, "x", nil)
	if len(problems) != 1 || problems[0].Code != "file-large" || problems[0].File != "big" {
		t.Errorf("got %v", problems)
	}
}
