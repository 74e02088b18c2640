package script

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/skill"
)

// located is a tree of an own source that says where it lies.
type located struct {
	fs.FS
	dir string
}

func (l located) Close() error                             { return nil }
func (l located) Location(context.Context) (string, error) { return l.dir, nil }

// opened is the skill of an own source.
func opened(t *testing.T, found skill.Found) *skill.Skill {
	t.Helper()
	source := skill.SourceFunc(func(context.Context) iter.Seq2[skill.Found, error] {
		return func(yield func(skill.Found, error) bool) { yield(found, nil) }
	})
	return probe.From(t, source)
}

// A folder that is gone is told as that, and not as a program for another system.
func TestFoldersThatAreGone(t *testing.T) {
	at := func(dir string) *skill.Skill {
		text := []byte("---\nname: probe\ndescription: A skill for tests.\n---\n")
		m := fstest.MapFS{"SKILL.md": {Data: text}, "scripts/a.sh": {Data: []byte("echo '{}'\n")}, "scripts/a.py": {Data: []byte("print('{}')\n")}}
		return opened(t, skill.Found{Path: "probe", File: "SKILL.md", Head: text,
			Open: func(context.Context) (skill.Tree, error) { return located{m, dir}, nil }})
	}
	moved := open(t, "", tree{"scripts/a.sh": "echo '{}'\n", "scripts/a.py": "print('{}')\n"})
	dir, err := moved.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	here, gone := t.TempDir(), filepath.Join(t.TempDir(), "gone")
	sound := open(t, "", tree{"scripts/a.sh": "echo '{}'\n", "scripts/a.py": "print('{}')\n"})
	file := filepath.Join(here, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	tests := []struct {
		name           string
		s              *skill.Skill
		cwd, workspace string
		msg            string
	}{
		{"moved", moved, "", "", "is not in the skill's folder any more"},
		{"moved, from the workspace", moved, "workspace", here, "is not in the skill's folder any more"},
		{"moved, from the skill", moved, "skill", "", "is not in the skill's folder any more"},
		{"located where nothing is", at(gone), "", "", "is not in the skill's folder any more"},
		{"located nowhere", at(""), "", "", "not an absolute path"},
		{"located somewhere below", at("probe"), "", "", "not an absolute path"},
		{"the workspace is gone", sound, "workspace", gone, "cannot start in " + strconv.Quote(gone)},
		{"the workspace is a file", sound, "workspace", file, "cannot start in " + strconv.Quote(file)},
	}
	for _, tt := range tests {
		for _, name := range []string{"a.sh", "a.py"} {
			t.Run(tt.name+" "+name, func(t *testing.T) {
				h := host(t)
				h.Cache, h.Cwd, h.Workspace = cache, tt.cwd, tt.workspace
				_, err := h.Run(t.Context(), tt.s, Script{Name: name, File: "scripts/" + name}, nil)
				failure(t, err, ExecutionFailed, fail.ReasonFolder, tt.msg)
			})
		}
	}
}

// What only lies in memory has no folder to run in, which a caller can tell.
func TestSkillWithoutFolder(t *testing.T) {
	text := "---\nname: probe\ndescription: A skill for tests.\n---\n"
	s := probe.From(t, skill.FS(fstest.MapFS{"probe/SKILL.md": {Data: []byte(text)}, "probe/scripts/a.sh": {}}, nil))
	_, err := runAs(t, host(t), s, "a", nil)
	failure(t, err, ExecutionFailed, fail.ReasonFolder, "Skill 'probe' has no folder to run scripts in: ")
	if !errors.Is(err, skill.ErrNoFolder) {
		t.Errorf("got %v, want %v in it", err, skill.ErrNoFolder)
	}
}
