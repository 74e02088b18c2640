// Package hosttool has the agent's own tools: hello, read_file, write_file, edit_file, glob, grep, bash and bash_job.
//
// Files are reached through os.Root, in the workspace and, for reading only, in the folders of skills. A path that leads
// anywhere else is refused, however it is spelled and whatever links are on it. The text of a skill's scripts is not
// read, and neither are the files of version control, which can hold passwords.
//
// Options.Decide says for each call whether it is allowed, asked about or denied: by default each change of a file and
// each command is asked about. Options.Approve asks the user, who sees the command, or how the file changes. Without a way
// to ask, such a call is refused. A policy learns which files other programs or models read just because they are there:
// dot files and files in dot folders, except for a short list such as .gitignore, and files of instructions such as
// AGENTS.md. Nothing is written in folders of skills, where skills are found, and in the folders of version control.
//
// What a file was is recorded in Options.Undo before it changes. Files that a command changes are not recorded.
//
// A failure is a failed tool.Result: not_found, permission_denied with a reason (outside, script_read, read_only,
// blocked, irregular, not_approved), args_too_large, execution_failed, timeout for a command that exceeds its time,
// and what tool.Interrupted says for a context that is done. If the context is done before a call, the call reads, writes and runs nothing.
//
// The tools are safe for concurrent use. Every call opens the files it needs and closes them.
package hosttool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/internal/undo"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// Options configures the tools. Workspace is required.
type Options struct {
	Workspace string                        // absolute folder in which files are read and written, and commands start
	Mounts    func(context.Context) []Mount // returns the folders of skills; called once for each call; nil means none

	// ReadOnly returns absolute folders in which nothing is written, whether they exist or not: those that decide what
	// may run, and those whose content runs without approval. It is called once for each call that writes. Nil means none.
	ReadOnly func() []string

	// SkillRoots returns absolute folders in which skills are found, whether they exist or not. Nothing is written there;
	// if the workspace lies in one, no SKILL.md is. It is called once for each call that writes. Nil means none.
	SkillRoots func() []string

	// Scripts returns the files in a skill's folder whose text is kept from a model. Files are compared with them by
	// identity. It is required with Mounts, unless ReadScripts is set.
	Scripts func(context.Context, *Mount, fs.FS) []Script

	// Blocked may refuse to read a file. It gets the absolute path without links.
	Blocked     func(path string) error
	ReadScripts bool // allow reading the text of skills' scripts, which is otherwise refused with the reason script_read

	// Decide says what happens to a call. Nil means that each change of a file and each command is asked about. It is
	// called for each file that is read, and must be quick.
	Decide func(context.Context, *permit.Call) permit.Decision
	// ReadRules reports whether Decide may not allow to read some file. Then a file with several names is compared under all those that it
	// has in the workspace. Nil means that it may.
	ReadRules func() bool
	// Approve asks the user about a call for which Decide says so. Nil refuses such calls.
	Approve func(context.Context, *Request) (Answer, error)
	// Cure says how to allow a call, as the refusal ends if Approve is nil. Nil means that the refusal does not say.
	Cure func(*permit.Call) string
	Undo *undo.Journal // records each change of a file before it is made; nil records none

	Shell string   // absolute path of bash or sh; "" means /bin/sh
	Env   []string // the whole environment of commands

	// Clean replaces secrets in the output of a command of bash before a model sees it. nil leaves the output unchanged.
	Clean func(string) string
	// CleanTo returns a writer that does the same in what it passes on to another one. nil leaves the output of commands unchanged.
	CleanTo func(io.Writer) io.Writer

	// Runner runs the commands of bash, such as in a sandbox. Confined says that what it runs can write in the workspace alone
	// and read no keys; a command may then ask to run outside, without Runner. A nil Runner runs all commands as the user, without a
	// sandbox.
	Runner   func(context.Context, *Command) (*Output, error)
	Confined bool

	// Jobs has the commands that run in the background, and has to be closed before what Runner needs. With nil there are none.
	Jobs *Jobs

	// Signs says what a command of Runner can do as the user if it also changes files, such as "it can sign as you". Each such command is
	// asked about. "" is for nothing.
	Signs string

	Trace trace.Tracer
}

// Mount is the folder of one skill. It is read and never written.
type Mount struct {
	Name   string // the skill's name; "skills/" and the name reach it too, unless another skill has that path
	Path   string // slash path by which a model reaches it; "" means "skills/" and the name
	Dir    string // absolute folder
	Hidden bool   // not shown to models: it is reached through the workspace only, under the same rules
}

// Limits of the tools.
const (
	MaxDeep    = 64        // folders in which a new file lies: many programs cannot delete more
	MaxFile    = 10 << 20  // bytes of a file that is written, edited or searched
	PageLines  = 2000      // lines that one call of read_file returns
	PageBytes  = 256 << 10 // bytes that one call of read_file returns
	MaxNames   = 500       // paths that one call of glob returns
	MaxMatches = 200       // lines that one call of grep returns
	MaxOutput  = 30_000    // bytes of a command's output: the first and the last half of them
	MaxDiff    = 40        // lines of the diff that comes with a change
)

// host is shared by the tools.
type host struct {
	o    Options
	real string // the workspace without links
}

// Tools returns the tools, hello first. It returns an error if Options.Workspace is not an absolute folder that
// exists, or Options.Scripts is missing.
func Tools(o *Options) ([]tool.Tool, error) {
	h := &host{o: *o}
	if !filepath.IsAbs(o.Workspace) {
		return nil, fmt.Errorf("workspace %q must be an absolute path", o.Workspace)
	}
	if o.Mounts != nil && o.Scripts == nil && !o.ReadScripts {
		return nil, errors.New("hosttool.Options: Mounts without Scripts: nothing says which files of skills are scripts")
	}
	real, err := filepath.EvalSymlinks(o.Workspace)
	if err != nil {
		return nil, fmt.Errorf("workspace %q: %w", o.Workspace, err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("workspace %q is not a folder", o.Workspace)
	}
	h.o.Workspace, h.real = filepath.Clean(o.Workspace), real
	if h.o.Mounts == nil {
		h.o.Mounts = func(context.Context) []Mount { return nil }
	}
	if h.o.ReadOnly == nil {
		h.o.ReadOnly = func() []string { return nil }
	}
	if h.o.SkillRoots == nil {
		h.o.SkillRoots = func() []string { return nil }
	}
	if h.o.Decide == nil {
		p, _ := permit.New(&permit.Options{})
		h.o.Decide = func(_ context.Context, c *permit.Call) permit.Decision { return p.Decide(c) }
	}
	if h.o.Shell == "" {
		h.o.Shell = "/bin/sh"
	}
	tools := []tool.Tool{helloTool(), h.readTool(), h.writeTool(), h.editTool(), h.globTool(), h.grepTool(), h.bashTool()}
	if o.Jobs != nil {
		tools = append(tools, h.jobTool())
	}
	return tools, nil
}

// maxGreeted is the length of the longest name, in characters.
const maxGreeted = 200

var helloSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"Name to greet; default: World"}}}`)

// helloTool answers "Say hello", with or without skills.
func helloTool() tool.Tool {
	return tool.Tool{Name: "hello", Description: "Say hello to someone.", Input: helloSchema, Call: call(hello)}
}

func hello(_ context.Context, a *struct{ Name string }) (tool.Result, string, error) {
	name := a.Name
	if name == "" {
		name = "World"
	}
	if n := utf8.RuneCountInString(name); n > maxGreeted {
		return tool.Result{}, "", &refusal{tool.ArgsTooLarge, "", fmt.Sprintf("name has %d characters, the limit is %d", n, maxGreeted)}
	}
	return tool.Success(fmt.Sprintf("Hello, %s!", name), fmt.Sprintf("Greeted %s", name)), "", nil
}
