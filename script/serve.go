package script

import (
	"context"
	"io"
	"time"

	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/internal/interpreter"
	"github.com/agent-base/agent-base/script/internal/run"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// DefaultLife is how long a program that serves a skill may run when ServeOptions.Life is 0.
const DefaultLife = run.DefaultLife

// ServeOptions says which program serves a skill: either Program, which is the engine's own and is run by the interpreter of
// Files, or Command, which is the skill's and runs its file if it has one.
type ServeOptions struct {
	Name string // of the program, for messages

	Files   []string // files of the skill in one language, as slash paths; the program finds the packages that they need
	Program string   // absolute path of what their interpreter runs
	Else    []string // npm packages, with the prefix NPM, that are prepared if they import them and no package.json has dependencies

	Command string // in place of Program: a path in the skill that begins with "./", an absolute path, or a name on PATH
	Dir     string // slash path in the skill where Command starts; "" is the skill's folder

	// Fill returns the arguments, and variables to set in addition. dir is the skill's folder for this run; value returns the
	// value of a variable that the program gets. Without Fill there are none.
	Fill func(dir string, value func(string) (string, bool)) (args []string, env map[string]string, err error)

	In     io.ReadCloser  // standard input; Serve closes it; nil is an empty one
	Out    io.WriteCloser // gets standard output as it comes, and is closed at its end, see runner.Command; nil drops it
	Err    io.Writer      // gets standard error as it comes; its end is also in Served; may be nil
	Life   time.Duration  // most time from start to end; 0 means DefaultLife
	Admit  Admit          // nil: the skill runs
	Denied runner.Denied  // further rules about files, such as those of active skills

	// Started is called when everything is prepared, right before the program is started; may be nil.
	Started func(*Serving)
}

// Serving is what is known about a program that is about to start: its skill's folder for the run (Dir), what replaces the secrets that it was
// given in texts (Redact), and its Limits. Lacked says what it lacked when a call of it failed, and Regranted whether the user has changed,
// since the start, what the skill is granted.
type Serving = run.Serving

// Served is what became of a program that served a skill: how it ended (ExitCode, Signal, Limit) and what it lacked then (Cause), the end of
// what it wrote to its standard error without secrets (Stderr), how many bytes it wrote (Stdout), its Duration, what confined it (Sandbox),
// and the first 20 hosts that it Reached and was Refused.
type Served = run.Served

// Serve runs a program that serves a skill until it ends or ctx is done, with all that a script of the skill has: sandbox,
// environment, grants, private home, prepared packages, limits of memory, processes and disk. Sweep removes nothing meanwhile.
// Preparing may take the time of a run. The error is that of ctx, or an *Error if the program could not be started or changed
// what it must not; Served is not nil if it was started.
func (h *Host) Serve(ctx context.Context, s *skill.Skill, o *ServeOptions) (*Served, error) {
	if o.In != nil {
		defer o.In.Close()
	}
	sc := Script{Name: o.Name}
	if len(o.Files) > 0 {
		sc.File = o.Files[0]
	}
	c := &run.Call{Asked: h.asked(s, sc, 0), Else: o.Else,
		Serves: &interpreter.Program{Name: o.Name, Files: o.Files, Program: o.Program, Command: o.Command, Dir: o.Dir}}
	c.Denied = o.Denied
	var out *Served
	err := h.engine.Admitted(ctx, c, o.Admit, func() (err error) {
		out, err = h.engine.Serve(ctx, c, &run.Streams{Fill: o.Fill, In: o.In, Out: o.Out, Err: o.Err, Life: o.Life, Started: o.Started})
		return err
	})
	return out, fail.OfProgram(o.Name, err)
}
