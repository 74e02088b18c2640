// Package hosttool has the agent's own tools: hello, read_file, write_file, edit_file, glob, grep and bash.
//
// Files are reached through os.Root alone: in the workspace, and, to be read only, in the folders of skills. A path
// that leads anywhere else is refused, whatever its spelling and whatever links lie on it. The text of a skill's
// scripts is not read (C50), and bash asks before every command. Nothing is written to .git, to what is a repository
// without it, to folders of skills, and under names such as .claude or .envrc, which other programs run unasked.
//
// A shell is no file tool: a command that was allowed can do what its user can, until there is a sandbox.
//
// What goes wrong is a failed tool.Result: not_found, permission_denied with a reason (script_read, read_only, blocked,
// irregular, not_approved and the like), args_too_large, execution_failed, and timeout for a command whose time is over
// as for a context that ends. One that has ended before a call reads, writes and runs nothing.
//
// The tools are safe for concurrent use. Every call opens what it needs and leaves nothing open.
package hosttool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// Options says what the tools work with. Workspace is needed.
type Options struct {
	Workspace string         // absolute folder that files are read and written in, and commands start in
	Mounts    func() []Mount // the folders of skills; asked once for each call; nil: none

	// ReadOnly names absolute folders that nothing is written below, whether they are there or not: what decides which
	// content may run, and where what is written would run unasked. Asked once for each call that writes; nil: none.
	ReadOnly func() []string

	// SkillRoots names absolute folders that skills are found in, whether they are there or not. Nothing is written below
	// them; where the workspace itself lies in one, no SKILL.md is. Asked once for each call that writes; nil: none.
	SkillRoots func() []string

	// Blocked may refuse that a file is read. It gets the absolute path, links resolved.
	Blocked     func(path string) error
	ReadScripts bool // let the text of skills' scripts be read, which else is refused with the reason script_read (C50)

	// Approve is asked before each command of bash. nil refuses all of them, with BashCure.
	Approve  func(ctx context.Context, command string) (bool, error)
	BashCure string   // what would allow commands; "" names --allow-bash
	Shell    string   // absolute path of bash or sh; "" means /bin/sh
	Env      []string // the whole environment of commands

	Trace trace.Tracer
}

// Mount is the folder of one skill, which is read and never written.
type Mount struct {
	Name   string // the skill's name
	Path   string // slash path by which a model reaches it; "" means "skills/" and the name
	Dir    string // absolute folder
	Hidden bool   // no model is told of it: it is reached through the workspace alone, under the same rules
}

// Limits of the tools.
const (
	MaxFile    = 10 << 20  // bytes of a file that is written, edited or searched
	PageLines  = 2000      // lines that one call of read_file gives
	PageBytes  = 256 << 10 // bytes that one call of read_file gives
	MaxNames   = 500       // paths that one call of glob gives
	MaxMatches = 200       // lines that one call of grep gives
	MaxOutput  = 30_000    // bytes of a command's output, half of them from its end
)

// host is what the tools share.
type host struct {
	o    Options
	real string // the workspace, links resolved
}

// Tools returns the seven tools, hello first. The error is about Options.Workspace.
func Tools(o *Options) ([]tool.Tool, error) {
	h := &host{o: *o}
	if !filepath.IsAbs(o.Workspace) {
		return nil, fmt.Errorf("workspace %q must be an absolute path", o.Workspace)
	}
	real, err := filepath.EvalSymlinks(o.Workspace)
	if err != nil {
		return nil, fmt.Errorf("workspace %q: %w", o.Workspace, err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("workspace %q is no folder", o.Workspace)
	}
	h.o.Workspace, h.real = filepath.Clean(o.Workspace), real
	if h.o.Mounts == nil {
		h.o.Mounts = func() []Mount { return nil }
	}
	if h.o.ReadOnly == nil {
		h.o.ReadOnly = func() []string { return nil }
	}
	if h.o.SkillRoots == nil {
		h.o.SkillRoots = func() []string { return nil }
	}
	if h.o.Shell == "" {
		h.o.Shell = "/bin/sh"
	}
	return []tool.Tool{helloTool(), h.readTool(), h.writeTool(), h.editTool(), h.globTool(), h.grepTool(), h.bashTool()}, nil
}
