package script

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// schema is part of every key: a change of how environments are made leaves the old ones behind.
const schema = "2"

// PrepareOptions says how dependencies are prepared.
type PrepareOptions struct {
	Upgrade bool      // resolve anew: without it what was resolved once stays
	Since   time.Time // with Upgrade: what was resolved then or later stays as well; zero: nothing does
}

// anew reports whether what was resolved at that time is to be resolved again.
func (o *PrepareOptions) anew(resolved time.Time) bool {
	return o.Upgrade && (o.Since.IsZero() || resolved.Before(o.Since))
}

// Prepared is what Prepare found or made.
type Prepared struct {
	Needed   bool     // the script has dependencies
	Made     bool     // the environment was made by this call; false: it was there
	Packages []string // what is in it, as "name==version", sorted
	Duration time.Duration
}

// Prepare makes the environment that a Python script's dependencies need, so that its next run needs
// neither uv nor a network. It runs nothing of the skill, and nothing of the packages. A script
// without dependencies needs nothing but the Python that it requires. The error is an *Error with the reason
// ReasonDependencies, ReasonMetadata, ReasonPython or ReasonInterpreter, and then the result says at most Needed; or it
// is ctx's. The result is never nil.
func (h *Host) Prepare(ctx context.Context, s *skill.Skill, sc Script, o *PrepareOptions) (*Prepared, error) {
	start := time.Now()
	if o == nil {
		o = &PrepareOptions{}
	}
	if err := h.check(); err != nil {
		return &Prepared{}, err
	}
	done, err := h.Use(ctx)
	if err != nil {
		return &Prepared{}, err
	}
	defer done()
	if err := checkOpen(s); err != nil {
		return &Prepared{}, err
	}
	src := &source{host: h, s: s, sc: sc}
	if lang, ok := languageOf(sc.File); ok && lang.ext != ".py" {
		return &Prepared{}, nil
	} else if !ok {
		bang, err := parseShebang(head(s.FS(), sc.File))
		if lang, _ := languageNamed(bang.name()); err != nil || lang.ext != ".py" {
			return &Prepared{}, nil
		}
	}
	block, err := src.block()
	if err != nil {
		return &Prepared{}, err
	}
	if block == nil || len(block.Dependencies) == 0 {
		_, err = h.basePython(ctx, src, block)
		return &Prepared{}, orEnded(ctx, err)
	}
	env, err := h.prepare(ctx, src, block, o)
	if err != nil {
		return &Prepared{Needed: true}, orEnded(ctx, err)
	}
	return &Prepared{Needed: true, Made: env.made, Packages: installed(env.folder()), Duration: time.Since(start)}, nil
}

// environmentRecord is what is kept beside an environment once it is complete. It is written last and
// replaced at once: an environment without one, or with one that names another folder, does not exist.
type environmentRecord struct {
	Folder       string `json:"folder"`       // name of the environment's folder, beside the record
	Files        string `json:"files"`        // what the file system said of all its files
	Requirements string `json:"requirements"` // resolved, with hashes

	Resolved  time.Time `json:"resolved"`   // when the index was asked
	Base      string    `json:"base"`       // the Python that it was made with
	BaseFacts string    `json:"base_facts"` // its identity
}

// readRecord reads the record of a key; it is empty when there is none, or one that is not whole.
func readRecord(file, key string) environmentRecord {
	var r environmentRecord
	b, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(b, &r) != nil || !strings.HasPrefix(r.Folder, key+"-") || filepath.Base(r.Folder) != r.Folder {
		return environmentRecord{}
	}
	return r
}

// environmentOf is one key's place on disk: KEY.json, KEY.lock and KEY-….
type environmentOf struct {
	h     *Host
	src   *source
	block *Block
	key   string
	base  string // the Python that it is made with
	uv    string // "" when there is none, and then uvErr says what to do about it
	uvErr error
	index map[string]string // uv's settings of the operator

	record environmentRecord
	python string
	made   bool
}

// prepare returns the environment for a block, and makes it when it is not there, was changed, or is to
// be resolved anew.
func (h *Host) prepare(ctx context.Context, src *source, block *Block, o *PrepareOptions) (*environmentOf, error) {
	e := &environmentOf{h: h, src: src, block: block, index: h.indexSettings()}
	var err error
	e.uv, e.uvErr = h.uv(ctx)
	e.base, err = h.basePython(ctx, src, block)
	if e.uv == "" && !o.Upgrade && e.finished() {
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	e.key = environmentKey(e)
	if e.look() == "" && !o.anew(e.record.Resolved) {
		return e, nil
	}
	if e.uv == "" {
		return nil, e.unavailable(e.uvErr, "%v, then", e.uvErr)
	}
	return e, e.makeLocked(ctx, o)
}

// environmentKey names an environment by all that it depends on: what is asked for and where packages come from, then
// the Python and the uv that make it as they are now.
func environmentKey(e *environmentOf) string {
	return e.wanted() + digest(identity(e.base), identity(e.uv))[:16]
}

// wanted is how the keys of all environments begin that are for the same block and source of packages.
func (e *environmentOf) wanted() string {
	return digest(append([]string{schema, e.block.canonical(), runtime.GOOS, runtime.GOARCH}, pairs(withoutOffline(e.index))...)...) + "-"
}

func (e *environmentOf) path(suffix string) string {
	return filepath.Join(e.h.Cache, "python", e.key+suffix)
}

// folder is where the environment lies, once its record says so.
func (e *environmentOf) folder() string {
	return filepath.Join(e.h.Cache, "python", e.record.Folder)
}

// look reads the record and compares the environment with it. It returns "" when it can be used, else
// what is wrong.
func (e *environmentOf) look() string {
	e.record = readRecord(e.path(".json"), e.key)
	if e.record.Folder == "" {
		return "it has no record"
	}
	files, err := survey(e.folder())
	if err != nil || files.digest != e.record.Files {
		return "its files were changed"
	}
	e.python = pythonIn(e.folder())
	markUsed(e.path(".json"))
	return ""
}

// makeLocked makes the environment unless someone else did so in the meantime.
func (e *environmentOf) makeLocked(ctx context.Context, o *PrepareOptions) error {
	before := e.record.Folder
	if err := os.MkdirAll(filepath.Dir(e.path("")), 0o700); err != nil {
		return e.unavailable(err, "%v;", err)
	}
	stop := e.h.announce(fmt.Sprintf("preparing the dependencies of %s: %s", e.src.sc.Name, strings.Join(e.block.Dependencies, ", ")))
	defer stop()
	unlock, err := lockfile.Lock(ctx, e.path(".lock"), 0)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return e.unavailable(err, "%v;", err)
	}
	defer unlock()
	if e.look() == "" && (!o.anew(e.record.Resolved) || e.record.Folder != before) {
		return nil
	}
	e.sweep()
	start := time.Now()
	err = e.make(ctx, o.anew(e.record.Resolved))
	ev := trace.Event{Kind: trace.ScriptPrepared, Skill: e.src.s.Canonical(), Script: e.src.sc.Name, Duration: time.Since(start),
		Message: "Prepared dependencies of " + e.src.sc.Name, Err: err}
	if err != nil {
		ev.Level, ev.Message = slog.LevelError, "Preparing dependencies of "+e.src.sc.Name+" failed"
	}
	trace.Emit(ctx, e.h.Trace, ev)
	return err
}

// sweep removes what killed preparations of this key left, and former environments, but for the one
// that the record names: a script may still run in it. The lock is held.
func (e *environmentOf) sweep() {
	left, _ := filepath.Glob(e.path("-*"))
	for _, dir := range left {
		if filepath.Base(dir) != e.record.Folder {
			removeAll(dir)
		}
	}
}

// announce tells Progress what is going on if it takes longer than a second. The returned function
// waits until nothing more is told.
func (h *Host) announce(what string) (stop func()) {
	if h.Progress == nil {
		return func() {}
	}
	patience := h.patience
	if patience == 0 {
		patience = time.Second
	}
	done := make(chan struct{})
	timer := time.AfterFunc(patience, func() {
		defer close(done)
		h.Progress(what)
	})
	return func() {
		if !timer.Stop() {
			<-done
		}
	}
}

// unavailable says why there are no dependencies, and the command that gets them.
func (e *environmentOf) unavailable(err error, format string, args ...any) error {
	return &Error{Code: ExecutionFailed, Reason: ReasonDependencies, Err: err, Message: fmt.Sprintf(
		"Dependencies of script %s are not available: %s run: agent skill prepare %s",
		e.src.sc.Name, fmt.Sprintf(format, args...), e.src.s.Canonical())}
}

// pythonIn is the interpreter of an environment.
func pythonIn(folder string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(folder, "Scripts", "python.exe")
	}
	return filepath.Join(folder, "bin", "python")
}
