package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/want"
)

// judge returns the error of a command that did not end by itself: one that was not started, was cancelled or timed out.
func (c *call) judge(ctx context.Context, cmd *runner.Command, out *runner.Output, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return startError(c.sc, cmd, err)
	case out.TimedOut:
		return &Error{Code: Timeout, Stdout: said(out), Sandbox: out.Sandbox, Message: "Script timed out after " + seconds(cmd.Timeout) + passed(out, cmd) + stderrTail(out)}
	}
	return nil
}

// finding is what was found out about a script that failed.
type finding struct {
	reason          string   // why it failed, one of the Reason constants; "" if that is not known
	cause           error    // of that reason; may be nil
	withheld, unset []string // variables that it reads and did not get: those that the operator has, and the others
}

// wants returns what the script lacked.
func (f *finding) wants() want.Set {
	out := want.Each(want.Variable, want.Seen, slices.Concat(f.withheld, f.unset)...)
	if lacks, ok := f.cause.(interface{ wants() want.Set }); ok {
		out = out.Add(lacks.wants()...)
	}
	return out
}

// saysThat begins what only the output of a script shows.
const saysThat = "it says that "

// explain finds out why a script ended with an exit code. The first cause that its output shows counts.
func (h *Host) explain(ctx context.Context, c *call, src *source, cmd *runner.Command, out *runner.Output) *finding {
	if m := missing(c.s, c.sc, out); m != nil && c.sc.File != "" {
		if m.Python && m.Package != "" {
			m.Around, m.Outside = h.outside(ctx, c, m.Module)
			m.apart = m.Guess && h.isAlone(ctx, c.s) && c.looksAbove() > 0
		}
		if m.own {
			m.Around, m.Linked = h.linkedModule(ctx, c, m.Module)
		}
		if m.Outside != "" || m.apart {
			m.Package, m.Guess, m.File = "", false, ""
		}
		if m.Others = h.others(ctx, src, m); m.Python && len(m.Others) > 0 {
			m.Others = withoutShared(m.Others, h.folderAbove(ctx, c))
		}
		return &finding{reason: ReasonModule, cause: m}
	}
	if o := c.temp.lacks(cmd, out); o != nil {
		return &finding{reason: ReasonBlocked, cause: o}
	}
	if b := blocked(cmd, out, h.here(cmd.Dir)); b != nil {
		if h.o.Denied.Denies(b.Path, b.Write) || c.denied.Denies(b.Path, b.Write) {
			b = &refusedFile{Path: b.Path, Write: b.Write, Rule: true}
		}
		return &finding{reason: ReasonBlocked, cause: b}
	}
	f := &finding{}
	u := c.unreached(cmd, out)
	f.withheld, f.unset = h.lacking(c, cmd.Env, out, u == nil && c.serve == nil)
	if u != nil {
		f.reason, f.cause = ReasonNetwork, u
	} else if c.addedJSON && refusesJSON(out) {
		f.reason = ReasonJSON
	} else if out.Sandbox.ConfinesFiles() && noTerminal().Match(out.Stderr) {
		f.cause = errNoTerminal
	} else if a := h.above(ctx, c, cmd, out); a != nil && len(f.withheld)+len(f.unset) == 0 {
		f.cause = a
	} else if b := guessed(cmd, out, h.here(cmd.Dir)); b != nil && len(f.withheld)+len(f.unset) == 0 {
		f.reason, f.cause = ReasonBlocked, b
	}
	return f
}

// errNoTerminal says why a program that runs others in a terminal fails in a sandbox: the kernel gives a user without rights none.
var errNoTerminal = errors.New("the sandbox has no pseudo terminals, which it opens")

var noTerminal = lazyregexp.New(`out of pty devices|/dev/ptmx|\b(?:openpty|forkpty|posix_openpt)\b[^\n]*(?:failed|No such file|Permission denied)`)

// text adds the finding to the message of a failure.
func (f *finding) text() string {
	if f.reason == ReasonModule {
		return ". " + f.cause.Error()
	}
	text := ""
	for _, clause := range f.clauses() {
		text += " (" + clause + ")"
	}
	return text
}

// clauses says what was found out; nothing if that is nothing.
func (f *finding) clauses() []string {
	var out []string
	if f.cause != nil {
		out = append(out, f.cause.Error())
	}
	if text := lackingText(f.withheld, f.unset); text != "" {
		out = append(out, text)
	}
	return out
}

// failed returns the error of a script that ended with an exit code.
func (c *call) failed(cmd *runner.Command, out *runner.Output, f *finding) error {
	return &Error{
		Code: ExecutionFailed, Reason: f.reason, Err: f.cause, Stdout: said(out), Wants: f.wants(), Ended: out.Signal != "", Warning: c.note, Sandbox: out.Sandbox,
		Message: fmt.Sprintf("Script failed with exit code %d%s", out.ExitCode, signalHint(out, cmd)) + f.text() + failureTail(out),
	}
}

// startError returns the error of a command that was not started.
func startError(sc Script, cmd *runner.Command, err error) error {
	var none *runner.SandboxError
	if errors.As(err, &none) {
		return &Error{Code: PermissionDenied, Reason: ReasonSandbox, Err: err, Message: fmt.Sprintf("Script %s is not run: %v", sc.Name, none)}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if info, statErr := os.Stat(cmd.Dir); statErr != nil || !info.IsDir() {
			return &Error{Code: ExecutionFailed, Reason: ReasonFolder, Err: err,
				Message: fmt.Sprintf("Script %s cannot start in %q: it is not a folder, or not any more; make it, or have the script start elsewhere", sc.Name, cmd.Dir)}
		}
	}
	if dir := removed(cmd, err); dir != "" {
		return &Error{Code: ExecutionFailed, Reason: ReasonFolder, Err: err, Message: fmt.Sprintf("Script %s cannot start: %q was removed while it was being started; try again", sc.Name, dir)}
	}
	e := &Error{Code: ExecutionFailed, Err: err, Message: fmt.Sprintf("Script %s cannot be started with %s: %v", sc.Name, cmd.Path, err)}
	switch _, missing := os.Stat(cmd.Path); {
	case errors.Is(err, fs.ErrNotExist) && missing == nil:
		e.Reason = ReasonPlatform
		e.Message += ": the program is there, but what loads it is not (it was built for another system)"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		e.Reason = ReasonInterpreter
	case strings.Contains(err.Error(), "exec format error"):
		e.Reason = ReasonPlatform
		e.Message += ": it was built for another system or processor"
	}
	return e
}

// removed returns the folder of a command that is not there any more and that an error names, "" if there is none.
func removed(cmd *runner.Command, err error) string {
	for _, dir := range slices.Concat(cmd.Read, cmd.Write) {
		if _, gone := os.Lstat(dir); errors.Is(gone, fs.ErrNotExist) && strings.Contains(err.Error(), dir) {
			return dir
		}
	}
	return ""
}

// keptAt returns why a command does not write a path that lies in one of Keep or Absent.
func keptAt(c *runner.Command, path string) *refusedFile {
	b := &refusedFile{Path: path, Write: true, Kept: true}
	for _, kept := range slices.Concat(c.Keep, c.Absent) {
		info, err := os.Lstat(kept)
		if paths.Within([]string{kept}, path) && runner.MayBeGranted(kept, err == nil && info.IsDir()) {
			b.Dir = kept
		}
	}
	return b
}

// undoneAt is keptAt for what a command did change.
func undoneAt(c *runner.Command, u *runner.Undone) *refusedFile {
	b := keptAt(c, u.Path)
	if u.Why != "" && runner.MayBeGranted(u.Path, u.IsDir) {
		b.Dir = u.Path
	}
	return b
}

// undone returns the error of a script that changed what no script may change. Whatever else it did does not matter.
func (c *call) undone(cmd *runner.Command, out *runner.Output) error {
	b := undoneAt(cmd, &out.Undone[0])
	b.recorded = true
	return &Error{Code: ExecutionFailed, Reason: ReasonBlocked, Err: b, Wants: b.wants(), Stdout: said(out), Warning: c.note, Sandbox: out.Sandbox,
		Message: runner.Sentence("Script", out.Undone) + failureTail(out)}
}

// mostFrames is how many calls are left of a stack trace, the innermost.
const mostFrames = 3

// frame finds a line of a stack trace of JavaScript or Java, inFramework one that is not in the script's own code, and requirers the
// files by which node came to a module that is missing, which it lists twice.
var (
	frame       = lazyregexp.New(`^\s+at \S.*`)
	inFramework = lazyregexp.New(`[( ]node:internal/|^\s+at (java|jdk)\.`)
	requirers   = lazyregexp.New(`(?m)^Require stack:\n(?:- .*\n)+|^ *requireStack: \[[^]]*\],?\n`)
)

// shortTraces leaves calls out of stack traces that begin with the error, as those of JavaScript do: the end of such a text has only
// calls of the runtime. A text that is short enough stays as it is.
func shortTraces(b []byte) []byte {
	if len(b) <= StderrTail || !bytes.Contains(b, []byte(" at ")) {
		return b
	}
	var out []byte
	frames := 0
	for line := range bytes.Lines(requirers().ReplaceAllLiteral(b, nil)) {
		if !frame().Match(line) {
			frames = 0
			out = append(out, line...)
			continue
		}
		if frames == mostFrames || inFramework().Match(line) {
			continue
		}
		frames++
		out = append(out, line...)
	}
	return out
}
