// Package pyenv makes the Python environments that scripts need. It reads what a script needs, from its metadata block (PEP
// 723) or else from requirements.txt or pyproject.toml, finds a Python that meets it, and installs the packages. Scripts with
// the same needs share one environment.
//
// The package starts no process itself: the caller supplies a function that runs a command. Making an environment needs
// uv; using one needs neither uv nor a network. uv reads a stub of the checked needs, never a file of the skill. It builds nothing from source, and reads no configuration except the operator's index settings. No interpreter of an
// environment is started while the environment is made, since its packages could run code then.
//
// An environment is stored in Options.Cache under a key of everything that it depends on: the needs, the system, the
// package index, the Python and uv. An environment is valid only with a record next to it. The record is written last
// and contains a digest of the metadata of all files. An environment that was changed since then is made again.
//
// The package rejects metadata that configures a tool or names a package by its address, packages without hashes or
// without a wheel (unless PrepareOptions.Build names them), packages that are too large (see Options.MaxBytes), and packages that replace the environment's
// Python. A download of more than LargeDownload is a question, see PrepareOptions.Large. Making an environment ends after
// Options.MaxTime.
//
// A Store is safe for concurrent use, also by several processes. Those that need the same environment wait until one of
// them has made it.
package pyenv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/program"
)

// Command is one process to run, and Output what it did.
type (
	Command = envstore.Command
	Output  = envstore.Output
)

// Leftover is what is not needed any more: its Path for reports, Why, and the Parts to remove, absolute and in this order.
type Leftover = envstore.Leftover

// Options configures a Store. Run, LookPath and Cache are required.
type Options struct {
	// Run runs a command. It returns an error only when the command could not be started or ctx is done.
	Run      func(context.Context, *Command) (*Output, error)
	LookPath func(string) (string, error) // finds python3 and uv
	Env      []string                     // the operator's environment, NAME=value; see the documentation of package script for the variables that pass
	Cache    string                       // absolute folder for environments and for uv's cache
	MaxBytes int64                        // most bytes of an environment and its part of uv's cache together; 0 means DefaultMaxBytes
	MaxTime  time.Duration                // most time to prepare a script; 0 means DefaultMaxTime
	Progress func(string)                 // says what is done, again and again, if preparing takes more than a second; may be nil

	// Hosts are further hosts that uv may reach, besides those of the index and of Pythons, as HOST, HOST:PORT or *.HOST.
	Hosts []string

	// Chosen is asked for the versions that another Store has chosen, see Store.Chosen. Those that were chosen last count. Nil: there is none.
	Chosen envstore.Chosen

	// FetchPython lets uv download a Python if none that is installed will do.
	FetchPython bool
}

// Defaults of Options.
const (
	DefaultMaxBytes = 1 << 30
	DefaultMaxTime  = 10 * time.Minute
)

// Store has the environments of one cache.
type Store struct {
	o        Options
	asker    program.Asker
	caps     caps
	patience time.Duration // until Progress is called
}

// New returns a Store. It returns an error if an option is missing.
func New(o *Options) (*Store, error) {
	switch {
	case o.Run == nil:
		return nil, errors.New("Options.Run is missing")
	case o.LookPath == nil:
		return nil, errors.New("Options.LookPath is missing")
	case !filepath.IsAbs(o.Cache):
		return nil, fmt.Errorf("Options.Cache must be an absolute path, not %q", o.Cache)
	}
	s := &Store{o: *o, patience: time.Second, caps: caps{bytes: DefaultMaxBytes, files: maxFiles, every: 200 * time.Millisecond}}
	if o.MaxBytes > 0 {
		s.caps.bytes = o.MaxBytes
	}
	if o.MaxTime <= 0 {
		s.o.MaxTime = DefaultMaxTime
	}
	s.asker.Dir, s.asker.Env, s.asker.Run = filepath.Join(o.Cache, "programs"), o.Env, s.answer
	return s, nil
}

const askTimeout = 10 * time.Second

// answer runs a program that prints a fact about itself.
func (s *Store) answer(ctx context.Context, q *program.Question) (string, error) {
	out, err := s.o.Run(ctx, &Command{Path: q.Path, Args: q.Args, Dir: q.Dir, Env: q.Env, Timeout: askTimeout, MaxStdout: program.MaxAnswer, Write: q.Write})
	switch {
	case err != nil:
		return "", err
	case out.ExitCode != 0 || out.TimedOut:
		return "", program.Failed(q, out.ExitCode, tails(out))
	}
	return valid(out.Stdout), nil
}

// Script is a Python script that is to be run.
type Script struct {
	Name   string                    // in messages
	Needs  *Needs                    // nil means nothing
	Making func() (made func(error)) // called before an environment is made; the function that it returns is called afterwards; may be nil
}

// Python returns the absolute path of the interpreter that runs the script: that of its environment when it needs
// packages, else python3, or one that uv knows of or gets, of the version that it requires. The error is an *Error or ctx's.
func (s *Store) Python(ctx context.Context, sc *Script) (string, error) {
	p, err := s.Prepare(ctx, sc, nil)
	return p.Python, err
}

// PrepareOptions says how packages are prepared.
type PrepareOptions struct {
	Upgrade bool      // choose versions again; otherwise the chosen versions stay
	Since   time.Time // with Upgrade: versions that were chosen then or later stay; zero means that none do

	// Build has the names of packages that may be built from their source, if they have no wheel. That runs their code, as the
	// user and with the network. An environment that is made again builds them again.
	Build []string

	// Large decides whether more than LargeDownload is downloaded; nil means that it is not. An environment that it allows may
	// be larger than Options.MaxBytes: eight times the download.
	Large func(context.Context, Download) (bool, error)
}

// anew reports whether versions that were chosen at that time are to be chosen again.
func (o *PrepareOptions) anew(resolved time.Time) bool {
	return o.Upgrade && (o.Since.IsZero() || resolved.Before(o.Since))
}

// Prepared is what Prepare found or made.
type Prepared struct {
	Python string // absolute path of the interpreter
	Needed bool   // the script needs packages
	Made   bool   // the environment was made by this call; false: it was there

	folder string // of the environment
}

// Packages lists the packages of the environment, as "name==version", sorted.
func (p *Prepared) Packages() []string {
	if p.folder == "" {
		return nil
	}
	return installed(p.folder)
}

// Lacks returns those of some modules that the environment does not have; all of them without an environment.
func (p *Prepared) Lacks(modules []string) []string {
	return slices.DeleteFunc(slices.Clone(modules), func(m string) bool {
		return p.folder != "" && hasModule(p.folder, m)
	})
}

// Prepare makes the environment that a script needs, unless it is there. It runs nothing of the script and nothing of the
// packages. A nil o means the zero value. The error is an *Error or that of ctx. The result is never nil; with an error
// only Needed may be set.
func (s *Store) Prepare(ctx context.Context, sc *Script, o *PrepareOptions) (*Prepared, error) {
	if o == nil {
		o = &PrepareOptions{}
	}
	j := &job{s: s, sc: sc, needs: sc.Needs}
	if j.needs == nil {
		j.needs = &Needs{}
	}
	if err := j.needs.check(); err != nil {
		return &Prepared{}, j.fail(ReasonMetadata, err, "is not run: %v", err)
	}
	limited, cancel := context.WithTimeout(ctx, s.o.MaxTime)
	defer cancel()
	p, err := j.run(limited, o)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = &Error{Reason: ReasonDependencies, Err: ErrTooSlow,
			Message: fmt.Sprintf("Dependencies of script %s took more than %s to prepare", sc.Name, seconds(s.o.MaxTime))}
	}
	return p, doneOr(ctx, err)
}

func (j *job) run(ctx context.Context, o *PrepareOptions) (*Prepared, error) {
	if len(j.needs.Dependencies) == 0 {
		python, err := j.basePython(ctx)
		return &Prepared{Python: python}, err
	}
	e, err := j.prepare(ctx, o)
	if err != nil {
		return &Prepared{Needed: true}, err
	}
	return &Prepared{Python: e.python, Needed: true, Made: e.made, folder: e.folder()}, nil
}

// doneOr returns the error of ctx in place of err if ctx is done: an interpreter that was not started in time is not
// missing.
func doneOr(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// job is the preparation of one script.
type job struct {
	s     *Store
	sc    *Script
	needs *Needs
}

// fail returns an error of the form "Script NAME …".
func (j *job) fail(reason string, err error, format string, args ...any) error {
	return &Error{Reason: reason, Err: err, Message: "Script " + j.sc.Name + " " + fmt.Sprintf(format, args...)}
}

// unavailable returns the error for packages that cannot be prepared.
func (j *job) unavailable(err error, format string, args ...any) error {
	return &Error{Reason: ReasonDependencies, Err: err,
		Message: fmt.Sprintf("Dependencies of script %s are not available: %s", j.sc.Name, fmt.Sprintf(format, args...))}
}
