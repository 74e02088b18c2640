package hosttool

import (
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/tool"
)

// Command is one command of bash, for Options.Runner. Its standard error goes where its standard output goes.
type Command struct {
	Command    string   // as the model wrote it
	Path       string   // absolute path of the shell
	Args       []string // the whole argument list
	Dir        string   // the workspace, without links
	Env        []string // the whole environment
	Timeout    time.Duration
	MaxStdout  int64     // bytes of its output to keep
	ReadOnly   bool      // it must not change files of the workspace
	Background bool      // nobody is asked while it runs
	Signs      bool      // it can do what Options.Signs says
	Stdin      []byte    // of a command that gets one
	Live       io.Writer // also gets its output, as it comes, and never fails; nil for nobody
}

// Output is what a command did.
type Output struct {
	Stdout   []byte
	Stderr   []byte        // of a command that does not join them
	Total    int64         // bytes that it wrote to stdout
	ExitCode int           // 128 plus the number of the signal that ended it
	TimedOut bool          // it was ended because of Timeout
	Passed   string        // the limit that it passed, such as "it had all of the 64 processes that it may have"; "" for none
	Why      string        // why it may have failed, as a clause; "" if that is not known
	Undone   string        // sentences about files that it must not change: it did, and they were put back; "" for none
	Network  string        // clauses about the hosts of Refused, and about others that it may reach from now on; "" for none
	Refused  []string      // hosts that it was not let to reach
	Hidden   []string      // absolute paths that rules deny to read and its result names
	Waited   time.Duration // of the time that it took, for answers of the user
	Sandbox  any           // what confined it, for the result's metadata; nil shows nothing
}

// maxKept is how much of a command's output is read from a Runner. Of longer output the end is not seen.
const maxKept = 8 << 20

// joined runs a shell whose standard error is its standard output.
const joined = `exec "$0" -c "$1" 2>&1`

// runWith has Options.Runner run a command.
func (h *host) runWith(ctx context.Context, command string, timeout time.Duration, readOnly, signs bool) (tool.Result, string, error) {
	_, background := ctx.Value(jobKey{}).(*jobWriter)
	out, err := h.o.Runner(ctx, &Command{Command: command, Path: h.o.Shell, Args: []string{h.o.Shell, "-c", joined, h.o.Shell, command}, Dir: h.real,
		Env: h.environment(), Timeout: timeout, MaxStdout: maxKept, ReadOnly: readOnly, Background: background, Signs: signs, Live: h.live(ctx)})
	switch {
	case ctx.Err() != nil && out == nil:
		return tool.Interruption(ctx, "The command"), "", nil
	case err != nil && ctx.Err() == nil:
		return tool.Result{}, "bash", failed("", "The command could not be started: %v", err)
	}
	text := &headTail{max: MaxOutput}
	text.add(out.Stdout)
	text.total = max(text.total, out.Total)
	ran := Ran{Output: text.text(), ExitCode: out.ExitCode, Refused: out.Refused, Hidden: h.named(out.Hidden)}
	if text.cut() {
		ran.Bytes = text.total
	}
	limit := ""
	if out.Passed != "" {
		limit = " (" + out.Passed + ")"
	}
	r := tool.Success(ran, "The command ended"+limit)
	switch {
	case out.Undone != "":
		r = tool.Failure(tool.ExecutionFailed, out.Undone)
		r.Result = ran
		if out.Why != "" {
			r.Message += "; " + out.Why
		}
	case err != nil:
		r = tool.Interruption(ctx, "The command")
		r.Result = ran
	case out.TimedOut:
		r = tool.CauseTimeout.Failure(fmt.Sprintf("The command was stopped after %s%s", timeout, limit))
		r.Result = ran
	case ran.ExitCode != 0:
		r = tool.Failure(tool.ExecutionFailed, fmt.Sprintf("The command ended with exit code %d%s", ran.ExitCode, limit))
		r.Result = ran
		switch met := metHidden(&ran); {
		case met != "":
			r.Message += "; rules hide " + met + " from commands"
		case readOnly && refusedWrite(ran.Output):
			r.Message += "; it could not change files of the workspace: " + h.toWrite(ctx, command)
		}
		if out.Why != "" {
			r.Message += "; " + out.Why
		}
	}
	if out.Network != "" {
		r.Message += "; " + out.Network
	}
	r.Waited = out.Waited
	if out.Sandbox != nil {
		r.Metadata = map[string]any{tool.MetadataSandbox: out.Sandbox}
	}
	return r, "", nil
}

// toWrite says how a command may change files, or why it may not.
func (h *host) toWrite(ctx context.Context, command string) string {
	d := h.o.Decide(ctx, &permit.Call{Tool: "bash", Kind: permit.Command, Command: command, Confined: true, Writes: true})
	if d.Verdict == permit.Denied {
		return d.Reason
	}
	return "set write for a command that has to"
}

// mostHidden is how many hidden paths a result names.
const mostHidden = 20

// named returns paths as results show them: those of the workspace below it.
func (h *host) named(paths []string) []string {
	var out []string
	for _, path := range paths[:min(len(paths), mostHidden)] {
		if rel, err := filepath.Rel(h.real, path); err == nil && filepath.IsLocal(rel) {
			path = filepath.ToSlash(rel)
		}
		out = append(out, path)
	}
	if more := len(paths) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}

// metHidden returns the hidden file that a command says it could not read, or "".
func metHidden(ran *Ran) string {
	if !strings.Contains(ran.Output, "Permission denied") {
		return ""
	}
	i := slices.IndexFunc(ran.Hidden, func(name string) bool {
		return slices.ContainsFunc(strings.Split(ran.Output, "\n"), func(line string) bool {
			return strings.Contains(line, path.Base(name)) && strings.Contains(line, "Permission denied")
		})
	})
	if i < 0 {
		return ""
	}
	return ran.Hidden[i]
}

// refusedWrite reports whether the output of a command says that the system refused to change a file.
func refusedWrite(output string) bool {
	return strings.Contains(output, "Read-only file system") || strings.Contains(output, "Permission denied") || strings.Contains(output, "Operation not permitted")
}
