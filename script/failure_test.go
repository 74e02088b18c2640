package script

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// The error of a stack trace that begins with it is not lost among the calls of the runtime.
func TestShortTraces(t *testing.T) {
	path := "(/home/ada/.agents/skills/report/scripts/make.js:10:5)\n"
	internal := strings.Repeat("    at Module._compile (node:internal/modules/cjs/loader:1521:14)\n", 6)
	node := "make.js:10\n    throw new Error('no table')\n    ^\n\nError: no table\n" + strings.Repeat("    at own "+path, 5) + internal + "\nNode.js v20.20.2\n"
	want := "make.js:10\n    throw new Error('no table')\n    ^\n\nError: no table\n" + strings.Repeat("    at own "+path, 3) + "\nNode.js v20.20.2\n"
	if got := string(shortTraces([]byte(node))); got != want {
		t.Errorf("got %s", got)
	}
	missing := "loader:1\n  throw err;\n  ^\n\nError: Cannot find module '../../lib'\nRequire stack:\n" + strings.Repeat("- "+path, 5) + internal +
		"  code: 'MODULE_NOT_FOUND',\n  requireStack: [\n" + strings.Repeat("    '/s/a.js',\n", 40) + "  ]\n}\n\nNode.js v20.20.2\n"
	want = "loader:1\n  throw err;\n  ^\n\nError: Cannot find module '../../lib'\n  code: 'MODULE_NOT_FOUND',\n}\n\nNode.js v20.20.2\n"
	if got := string(shortTraces([]byte(missing))); got != want {
		t.Errorf("got %s", got)
	}
	for _, text := range []string{"", internal[:100], strings.Repeat("look at this\n", 100)} {
		if got := string(shortTraces([]byte(text))); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
}

// Another process that removes a skill takes the folders of a script that is being started.
func TestFolderRemovedAtStart(t *testing.T) {
	dir := t.TempDir()
	cmd := &runner.Command{Path: "/bin/sh", Dir: dir, Write: []string{dir, filepath.Join(dir, "cache")}}
	err := startError(Script{Name: "sum"}, cmd, &fs.PathError{Op: "mount", Path: cmd.Write[1], Err: fs.ErrNotExist})
	failure(t, err, ExecutionFailed, ReasonFolder, "was removed while it was being started; try again")
}
