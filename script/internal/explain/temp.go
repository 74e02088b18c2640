package explain

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/script/runner"
)

// otherTemp is the cause of an Error of a script that was told to use a temporary file of other commands, which it does not see.
type otherTemp struct{ Path string }

// Error says how it can get the content.
func (o *otherTemp) Error() string {
	return o.Path + " is a temporary file of the conversation, and a skill that may write no files of the user has a folder of its own for these: " +
		"give the script the path of a file in the workspace, or the text as its stdin"
}

// otherTemp recognises a script that failed for want of a temporary file of other commands: its arguments or its output have the path.
func (r *Run) otherTemp() *otherTemp {
	if r.OtherTemp == "" || !r.Out.Sandbox.ConfinesFiles() {
		return nil
	}
	named := r.Cmd.Args[min(1, len(r.Cmd.Args)):]
	for _, line := range lastLines(r.Out) {
		if accessFailed().Match(line) {
			named = append(named[:len(named):len(named)], pathsIn(line)...)
		}
	}
	for _, path := range named {
		if _, value, ok := strings.Cut(path, "="); ok && strings.HasPrefix(path, "-") {
			path = value
		}
		if filepath.IsAbs(path) && r.elsewhere(filepath.Clean(path)) {
			return &otherTemp{Path: path}
		}
	}
	return nil
}

// elsewhere reports whether other commands of the conversation have something at a path, and the script has not.
func (r *Run) elsewhere(path string) bool {
	for _, top := range []string{r.OtherTemp, runner.SystemTemp} {
		if name, ok := strings.CutPrefix(path, top+"/"); ok {
			return isIn(r.OtherTemp, name) && (top == r.OtherTemp || !isIn(r.Temp, name))
		}
	}
	return false
}

// isIn reports whether there is something in a folder that commands write.
func isIn(dir, name string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	_, err = root.Lstat(name)
	return err == nil
}
