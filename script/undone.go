package script

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// keptAt returns why a command does not write a path that lies in one of Keep or Absent.
func (c *Command) keptAt(path string) *Blocked {
	b := &Blocked{Path: path, Write: true, Kept: true}
	for _, kept := range slices.Concat(c.Keep, c.Absent) {
		if within([]string{kept}, path) && isInstruction(kept) {
			b.Dir = kept
		}
	}
	return b
}

// isInstruction reports whether a path ends with one of instructions: a user may let a script write such a file.
func isInstruction(path string) bool {
	return slices.ContainsFunc(instructions, func(name string) bool {
		return strings.HasSuffix(filepath.ToSlash(path), "/"+name)
	})
}

// Text says what became of a change, as a clause: "it is as before …".
func (u *Undone) Text() string {
	switch {
	case u.Err != nil:
		return fmt.Sprintf("it could not be put back: %v", u.Err)
	case u.Moved != "":
		return "it is as before, and what was made of it is in " + u.Moved
	}
	return "it is as before"
}

// undone returns the error of a script that changed what no script may change. Whatever else it did does not matter.
func (c *call) undone(cmd *Command, out *Output) error {
	var texts []string
	for _, u := range out.Undone[:min(len(out.Undone), mostUndone)] {
		texts = append(texts, fmt.Sprintf("Script changed %s, which has to stay as it is: %s", u.Path, u.Text()))
	}
	if more := len(out.Undone) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("so for %d more", more))
	}
	return &Error{Code: ExecutionFailed, Reason: ReasonBlocked, Err: cmd.keptAt(out.Undone[0].Path), Stdout: said(out), Warning: c.note, Sandbox: out.Sandbox,
		Message: strings.Join(texts, "; ") + failureTail(out)}
}

// mostUndone is how many changed paths a message names.
const mostUndone = 5
