package pyenv

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/program"
)

// How an environment is made: uv never sees a file of the skill, only a stub of the checked needs; nothing is built from
// source that the user has not named; files are copied, so no two environments share one; and no interpreter of the environment is started once it has
// packages, because their .pth files would run.

const (
	uvOutput = 256 << 10 // bytes kept of a step's stdout
	uvStderr = 1500      // bytes of uv's stderr in a message
)

// workshop is the state while one environment is made.
type workshop struct {
	e      *environmentOf
	work   string // holds the stub, the lock, an empty home and a private TMPDIR; removed at the end
	env    string // the environment, at its final place: its programs name it
	uvHome string // uv's cache
	cap    caps
	before map[string]bool // the folders of uv's cache before

	choice choice // the versions
	doing  string // for progress
}

// make builds the environment and writes its record last. If it fails, it leaves nothing. The caller holds the lock.
func (e *environmentOf) make(ctx context.Context, o *PrepareOptions) (err error) {
	work, err := os.MkdirTemp(filepath.Dir(e.path("")), e.key+"-work-")
	if err != nil {
		return e.unavailable(err, "%v", err)
	}
	defer ondisk.RemoveAll(work)
	w := &workshop{e: e, work: work, cap: e.s.caps, doing: "preparing the dependencies of " + e.sc.Name,
		env:    filepath.Join(filepath.Dir(work), e.key+"-"+filepath.Base(work)[len(e.key)+len("-work-"):]),
		uvHome: filepath.Join(e.s.o.Cache, "uv", ondisk.Digest(program.Pairs(withoutOffline(e.index))...)[:16]),
	}
	defer func() {
		if err != nil {
			ondisk.RemoveAll(w.env)
		}
	}()
	for _, dir := range []string{filepath.Join(work, "home"), filepath.Join(work, "tmp"), w.uvHome} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return e.unavailable(err, "%v", err)
		}
	}
	w.before = w.archives()
	if w.choice = e.record.choice; e.given != nil {
		w.choice = *e.given
	}
	c := &w.choice
	if len(o.Build) > 0 {
		c.Build = o.Build
	}
	if o.anew(c.Resolved) || c.Requirements == "" {
		c.Resolved, c.Python = time.Now(), e.thisPython(ctx)
		if c.Requirements, err = w.resolve(ctx, o); err != nil {
			return err
		}
	}
	if err := w.install(ctx, c.Requirements); err != nil {
		return err
	}
	return w.finish()
}

// resolve chooses the versions and returns them with their hashes.
func (w *workshop) resolve(ctx context.Context, o *PrepareOptions) (string, error) {
	stub, list := filepath.Join(w.work, "stub.py"), filepath.Join(w.work, "resolved.txt")
	if err := os.WriteFile(stub, []byte(w.e.needs.stub(w.choice.Python)), 0o600); err != nil {
		return "", w.e.unavailable(err, "%v", err)
	}
	lock := []string{"lock", "--script", stub, "--python", w.e.base}
	if o.Upgrade && w.e.index["UV_OFFLINE"] == "" {
		lock = append(lock, "--refresh") // ask the index again
	}
	for _, p := range w.choice.Build {
		lock = append(lock, "--no-binary-package", p) // an exception to UV_NO_BUILD
	}
	if err := w.uv(ctx, lock...); err != nil {
		return "", err
	}
	versions, err := readLock(stub + ".lock")
	if err != nil {
		return "", w.e.unavailable(err, "%v", err)
	}
	w.cap.allow(versions.size())
	fetched := versions.download()
	if err := w.mayDownload(ctx, fetched, o.Large); err != nil {
		return "", err
	}
	w.doing = fmt.Sprintf("preparing the dependencies of %s: %s", w.e.sc.Name, fetched.asked(w.e.needs.Dependencies))
	w.e.progress.Say(w.doing)
	if err := w.uv(ctx, "export", "--script", stub, "--locked", "--no-header", "--python", w.e.base, "-o", list); err != nil {
		return "", err
	}
	b, err := os.ReadFile(list)
	if err != nil {
		return "", w.e.unavailable(err, "%v", err)
	}
	return w.e.onlyDeclared(versions.withHashes(string(b)))
}

// thisPython returns the version of the Python that the environment is for, as a condition. Packages are chosen for it
// alone: what a file requires may hold for versions that its packages never had.
func (e *environmentOf) thisPython(ctx context.Context) string {
	_, version, err := e.s.whichPython(ctx, e.base)
	if found := minorVersion().FindString(version); err == nil && found != "" {
		return "==" + found + ".*"
	}
	return e.needs.RequiresPython
}

var minorVersion = lazyregexp.New(`^3\.[0-9]{1,3}`)

// install makes the environment and copies the packages into it.
func (w *workshop) install(ctx context.Context, requirements string) error {
	if err := w.uv(ctx, "venv", "--no-project", "--python", w.e.base, w.env); err != nil {
		return err
	}
	config := filepath.Join(w.env, "pyvenv.cfg")
	original, err := os.ReadFile(config)
	if err != nil {
		return w.e.unavailable(err, "%v", err)
	}
	python := pythonIn(w.env)
	before, err := os.Lstat(python)
	if err != nil {
		return w.e.unavailable(err, "%v", err)
	}
	if strings.Contains(requirements, "==") { // else every dependency is for another platform
		list := filepath.Join(w.work, "requirements.txt")
		if err := os.WriteFile(list, []byte(requirements), 0o600); err != nil {
			return w.e.unavailable(err, "%v", err)
		}
		sync := []string{"pip", "sync", "--python", python, "--require-hashes", "--only-binary", ":all:"}
		for _, p := range w.choice.Build {
			sync = append(sync, "--no-binary", p)
		}
		if err := w.uv(ctx, append(sync, "--no-compile-bytecode", "--link-mode", "copy", list)...); err != nil {
			return err
		}
	}
	after, err := os.Lstat(python)
	if err != nil || ondisk.Facts(before) != ondisk.Facts(after) {
		return w.e.unavailable(err, "a package replaces the environment's python, which is not allowed: ask its author")
	}
	if err := w.compile(ctx); err != nil {
		return err
	}
	// A package may have brought its own: it would choose another Python and its packages.
	if err := os.RemoveAll(config); err != nil {
		return w.e.unavailable(err, "%v", err)
	}
	if err := os.WriteFile(config, original, 0o600); err != nil {
		return w.e.unavailable(err, "%v", err)
	}
	return nil
}

// compile removes the bytecode that packages brought, which may differ from their source, and makes
// new bytecode with the base Python, which reads none of their start-up files (-S).
func (w *workshop) compile(ctx context.Context) error {
	lib := filepath.Join(w.env, "lib")
	if runtime.GOOS == "windows" {
		lib = filepath.Join(w.env, "Lib")
	}
	err := filepath.WalkDir(lib, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "__pycache__" {
			return err
		}
		if err := os.RemoveAll(p); err != nil || !d.IsDir() {
			return err
		}
		return fs.SkipDir
	})
	if err != nil {
		return w.e.unavailable(err, "%v", err)
	}
	out, err := w.step(ctx, w.e.base, "-I", "-S", "-m", "compileall", "-q", "-f", "--invalidation-mode", "unchecked-hash", lib)
	switch {
	case err != nil:
		return err
	case out.ExitCode > 1: // 1: some file is not valid Python, as templates and tests of other versions are not
		return w.e.unavailable(nil, "compiling them failed with exit code %d%s", out.ExitCode, tails(out))
	}
	return nil
}

// finish writes the record: from now on the environment exists.
func (w *workshop) finish() error {
	files, err := envstore.Inventory(w.env)
	if err != nil {
		return w.e.unavailable(err, "%v", err)
	}
	if over := w.over(); over != "" {
		return w.tooMuch(over)
	}
	e := w.e
	e.record = environmentRecord{Folder: filepath.Base(w.env), Files: files, choice: w.choice, Base: e.base, BaseFacts: program.Identity(e.base)}
	e.python, e.made = pythonIn(w.env), true
	if err := e.place().Write(&e.record); err != nil {
		return w.e.unavailable(err, "%v", err)
	}
	return nil
}

// uv runs one step of uv. Its error contains the message of uv, which names the package and the reason.
func (w *workshop) uv(ctx context.Context, args ...string) error {
	out, err := w.step(ctx, w.e.uv, args...)
	if err != nil {
		return err
	}
	if out.FileTooLarge {
		return w.tooMuch(w.cap.exceeded(w.cap.bytes+1, 0))
	}
	if out.ExitCode != 0 {
		name := args[0]
		if name == "pip" {
			name = "pip sync"
		}
		text := fmt.Sprintf("uv %s failed with exit code %d: %s", name, out.ExitCode, w.said(out))
		if found := noWheels().FindSubmatch(out.Stderr); found != nil {
			missing := &NoWheelError{Package: string(found[1])}
			return w.e.unavailable(missing, "%s\n%s", text, missing)
		}
		if len(out.Refused) > 0 {
			elsewhere := &HostError{Hosts: out.Refused}
			return w.e.unavailable(elsewhere, "%s\n%s", elsewhere, text)
		}
		return w.e.unavailable(nil, "%s", text)
	}
	return nil
}

// tooMuch returns the error for packages that exceed a cap. Preparing them again does not help.
func (w *workshop) tooMuch(over string) error {
	cause := ErrTooLarge
	if narrowed := w.cap.bytes < w.e.s.caps.bytes; !narrowed && over == w.cap.exceeded(w.cap.bytes+1, 0) {
		cause = &SizeError{w.cap.bytes}
	}
	w.discard()
	return &Error{Reason: ReasonDependencies, Err: cause,
		Message: fmt.Sprintf("Dependencies of script %s are refused: %s", w.e.sc.Name, over)}
}

var noWheels = lazyregexp.New("Wheels are required for `([A-Za-z0-9._-]+)`")

// said returns uv's message without the paths of this preparation.
func (w *workshop) said(out *Output) string {
	return strings.NewReplacer(w.work+string(filepath.Separator), "", w.env, "the environment").Replace(tail(out.Stderr, uvStderr))
}

// step runs one command of the preparation. It ends the command when the unpacked files exceed the caps.
func (w *workshop) step(ctx context.Context, path string, args ...string) (*Output, error) {
	guarded, stop := w.guard(ctx)
	var hosts []string
	if path == w.e.uv && args[0] != "venv" {
		hosts = w.e.s.indexHosts(w.e.index)
	}
	out, err := w.e.s.o.Run(guarded, &Command{
		Path: path, Args: append([]string{path}, args...), Dir: w.work, Env: program.Pairs(w.environment()),
		Timeout: w.e.s.o.MaxTime, MaxStdout: uvOutput, FileSize: uint64(w.cap.bytes), Write: []string{w.work, w.env, w.uvHome},
		Programs: []string{w.e.base}, Hosts: hosts,
	})
	over := stop()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case over != "":
		return nil, w.tooMuch(over)
	case err != nil:
		return nil, w.e.unavailable(err, "%s cannot be started: %v", path, err)
	case out.TimedOut:
		return nil, w.e.unavailable(ErrTooSlow, "%s took more than %s: %s", filepath.Base(path), seconds(w.e.s.o.MaxTime), w.said(out))
	}
	return out, nil
}
