package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/script/internal/explain"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
)

// DefaultLife is how long a program that serves a skill may run when ServeOptions.Life is 0.
const DefaultLife = 24 * time.Hour

// serveCPU is the processor time that such a program may use.
const serveCPU = time.Hour

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

// Redactor replaces secrets in texts by [redacted NAME], with its methods Bytes, String and Cut.
type Redactor = redact.Redactor

// Serving is what is known about a program that is about to start.
type Serving struct {
	Dir    string    // the skill's folder for this run, absolute
	Redact *Redactor // replaces the secrets that the program was given, in what it says
	Limits runner.Limits

	// Lacked says what the program lacked when a call of it failed, by the arguments of the call and its answer: a host, a file, a
	// variable, a package. It returns nil if that is not known. It is safe for concurrent use.
	Lacked func(ctx context.Context, args, answer string) *Error

	// Regranted reports whether the user has changed, since the start, what the skill is granted: only another start has that.
	Regranted func(context.Context) bool
}

// Served is what became of a program that served a skill.
type Served struct {
	ExitCode int
	Signal   string // that ended it; "" for none
	Limit    string // which limit it passed, as a clause in brackets; "" for none
	Stderr   []byte // its last 64 KiB, without secrets
	Stdout   int64  // bytes that it wrote
	Duration time.Duration
	Sandbox  runner.Sandbox
	Reached  []string         // HOST:PORT that it reached, the first 20
	Refused  []runner.Refusal // what it was kept from, the first 20
	Cause    *Error           // what it lacked, if it ended with an exit code; nil if that is not known
}

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
	c := call{s: s, sc: sc, serve: o, timeout: h.timeout(s, 0), denied: o.Denied}
	var out *Served
	err := h.admitted(ctx, &c, o.Admit, func() (err error) {
		out, err = h.serve(ctx, &c)
		return err
	})
	return out, fail.OfProgram(o.Name, err)
}

func (h *Host) serve(ctx context.Context, c *call) (*Served, error) {
	o := c.serve
	dir, file, err := c.place(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.leftovers(ctx); err != nil {
		return nil, err
	}
	grant, err := h.granted(ctx, c.s)
	if err != nil {
		return nil, err
	}
	r := &scriptRun{dir: dir, file: file, grant: &grant, passes: plan.PassingOf(&grant)}
	if err := h.serveProgram(ctx, c, r); err != nil {
		return nil, err
	}
	if r.place, err = h.places.Workplace(ctx, c.s, &grant); err != nil {
		return nil, &Error{Code: ExecutionFailed, Err: err, Message: fmt.Sprintf("Script %s has no work directory: %v", c.sc.Name, err)}
	}
	defer r.place.Remove()
	c.temp = r.place.Lasting
	cmd, err := h.serveCommand(c, r)
	if err != nil {
		return nil, err
	}
	secrets := plan.Secrets(r.passes, h.o.Env, r.given)
	if o.Started != nil {
		o.Started(h.serving(c, r, cmd, secrets))
	}
	out, err := h.o.Runner.Run(ctx, cmd)
	r.place.Lasting.Settle(cmd, out)
	if out == nil {
		return nil, c.judge(ctx, cmd, out, err)
	}
	clean(out, secrets)
	h.traceNetwork(ctx, c, out)
	out.Sandbox = out.Sandbox.OrNone()
	served := &Served{ExitCode: out.ExitCode, Signal: out.Signal, Limit: strings.TrimSpace(signalHint(out, cmd)), Stderr: out.Stderr, Stdout: out.Total,
		Duration: out.Duration, Sandbox: *out.Sandbox, Reached: out.Reached, Refused: out.Refused}
	if out.ExitCode != 0 {
		served.Cause = h.lacked(ctx, c, cmd, out)
	}
	if out.TimedOut {
		served.Limit = fmt.Sprintf("(it ran for %s)", fail.Seconds(cmd.Timeout))
	}
	if len(out.Undone) > 0 {
		return served, c.undone(cmd, out)
	}
	return served, err
}

// serving returns what is known about a program that is about to start. From then on the command says what confines it.
func (h *Host) serving(c *call, r *scriptRun, cmd *runner.Command, secrets *Redactor) *Serving {
	var held atomic.Pointer[runner.Sandbox]
	cmd.Started = held.Store
	granted := *r.grant
	return &Serving{
		Dir: r.dir, Redact: secrets, Limits: cmd.Limits,
		Lacked: func(ctx context.Context, args, answer string) *Error {
			one := *c
			one.args = []string{args}
			return h.lacked(ctx, &one, cmd, &runner.Output{Stderr: []byte(answer[max(0, len(answer)-output.MaxSaid):]), ExitCode: 1, Sandbox: held.Load().OrNone()})
		},
		Regranted: func(ctx context.Context) bool {
			now, err := h.granted(ctx, c.s)
			return err == nil && !reflect.DeepEqual(now, granted)
		},
	}
}

// lacked says what a program that serves a skill lacked when it failed, by what it wrote; nil if that is not known.
func (h *Host) lacked(ctx context.Context, c *call, cmd *runner.Command, out *runner.Output) *Error {
	grant, err := h.granted(ctx, c.s)
	if err != nil {
		return nil
	}
	f := explain.Explain(ctx, h.known(ctx, c, plan.Packages(&grant), cmd, out))
	clauses := f.Clauses()
	if len(clauses) == 0 {
		return nil
	}
	return &Error{Code: ExecutionFailed, Reason: f.Reason, Err: f.Cause, Wants: f.Wants(), Sandbox: out.Sandbox, Message: strings.Join(clauses, "; ")}
}

// serveCommand returns the command of a program that serves a skill.
func (h *Host) serveCommand(c *call, r *scriptRun) (*runner.Command, error) {
	o := c.serve
	if o.Fill != nil {
		env := plan.Environment(r.passes, h.o.Path, h.o.Env, h.placeVariables(c, r))
		maps.Copy(env, h.hookVariables(r.dir))
		var err error
		c.args, r.given, err = o.Fill(r.dir, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
		if err != nil {
			failed := &Error{Code: ExecutionFailed, Err: err, Message: fmt.Sprintf("%s is not started: %v", o.Name, err)}
			if own, ok := errors.AsType[*Error](err); ok {
				failed.Wants = own.Wants
			}
			return nil, failed
		}
	}
	for name := range r.given {
		if err := CheckGrant(name); err != nil {
			return nil, &Error{Code: PermissionDenied, Err: err, Message: fmt.Sprintf("%s sets a variable that cannot be set: %v", o.Name, err)}
		}
	}
	cmd, err := h.scriptCommand(c, r)
	if err != nil {
		return nil, err
	}
	cmd.In, cmd.Out, cmd.Err, cmd.MaxStdout = o.In, o.Out, o.Err, 0
	cmd.Timeout, cmd.Limits.CPU = cmp.Or(max(o.Life, 0), DefaultLife), serveCPU
	return cmd, nil
}

// serveProgram sets what is started: r.argv, and the folder from which it runs.
func (h *Host) serveProgram(ctx context.Context, c *call, r *scriptRun) error {
	limited, cancel := context.WithTimeout(ctx, c.timeout-c.waited)
	defer cancel()
	err := h.chooseProgram(limited, c, r)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return &Error{Code: Timeout, Reason: ReasonDependencies, Err: err,
			Message: fmt.Sprintf("Dependencies of %s were not ready after %s: prepare them before the call", c.sc.Name, fail.Seconds(c.timeout-c.waited))}
	}
	return cmp.Or(ctx.Err(), err)
}

func (h *Host) chooseProgram(ctx context.Context, c *call, r *scriptRun) (err error) {
	o := c.serve
	if o.Command != "" {
		return h.ownCommand(ctx, c, r)
	}
	if len(o.Files) == 0 || !filepath.IsAbs(o.Program) {
		return errors.New("script.ServeOptions: Files and an absolute Program, or a Command, are needed")
	}
	src := &source{Of: c.of(plan.Packages(r.grant)), file: r.file, uncached: c.uncached}
	r.read = append(r.read, filepath.Dir(o.Program))
	if survey.LanguageOf(c.sc.File) == survey.Python {
		exe, err := h.envs.Python(ctx, src.Of)
		r.argv = append(src.isolated(exe, "-I"), o.Program)
		return err
	}
	if r.dir, src.file, err = h.withPackages(ctx, c, src, r.dir); err != nil {
		return err
	}
	src.packages, r.file = c.packages != "", src.file
	if r.argv, err = h.interpreter(ctx, src); err != nil {
		return err
	}
	r.by = src.by
	r.argv = append(ofEngine(r.argv[:len(r.argv)-1]), o.Program)
	return nil
}

// ofEngine returns the arguments of an interpreter for a program of the engine: deno reads the configuration beside that, not
// the skill's, and fetches nothing.
func ofEngine(argv []string) []string {
	if !slices.Contains(argv, "--no-prompt") {
		return argv
	}
	argv = slices.DeleteFunc(argv, func(a string) bool {
		return a == "--no-config" || a == "--no-lock" || strings.HasPrefix(a, "--config=")
	})
	return append(argv, "--no-lock", "--cached-only")
}

// ownCommand sets the command that a skill names itself.
func (h *Host) ownCommand(ctx context.Context, c *call, r *scriptRun) (err error) {
	o := c.serve
	src := &source{Of: c.of(plan.Packages(r.grant)), file: r.file, uncached: c.uncached}
	path := o.Command
	switch survey.LanguageOf(c.sc.File) {
	case survey.Python:
		if path, err = h.envs.Python(ctx, src.Of); err != nil {
			return err
		}
	case survey.JavaScript, survey.TypeScript:
		if r.dir, r.file, err = h.withPackages(ctx, c, src, r.dir); err != nil {
			return err
		}
	}
	switch below, inSkill := strings.CutPrefix(path, "./"); {
	case inSkill && filepath.IsLocal(filepath.FromSlash(below)):
		path = filepath.Join(r.dir, filepath.FromSlash(below))
	case filepath.IsAbs(path):
	case strings.ContainsAny(path, `/\`):
		return &Error{Code: ExecutionFailed, Reason: ReasonInterpreter, Message: fmt.Sprintf("%s names the command %q, which is not in the skill", o.Name, path)}
	default:
		found, err := h.o.LookPath(path)
		if err != nil || !filepath.IsAbs(found) {
			return &Error{Code: ExecutionFailed, Reason: ReasonInterpreter, Err: err, Message: fmt.Sprintf("%s needs %s, %s", o.Name, path, program.Lack(err, programCure(path)))}
		}
		path = found
	}
	if !filepath.IsLocal(filepath.FromSlash(cmp.Or(o.Dir, "."))) {
		return &Error{Code: ExecutionFailed, Reason: ReasonFolder, Message: fmt.Sprintf("%s starts in %q, which is not in the skill", o.Name, o.Dir)}
	}
	r.argv, r.cwd = []string{path}, filepath.Join(r.dir, filepath.FromSlash(o.Dir))
	return nil
}

// programCure says how to get a program that servers are started with.
func programCure(name string) string {
	return cmp.Or(language.Install(name), "install it, or correct the command")
}
