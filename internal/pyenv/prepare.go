package pyenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/program"
)

// schema is part of every key: a change of how environments are made leaves the old ones behind.
const schema = "3"

// environmentRecord is kept next to a complete environment. It is written last and replaced at once: an environment without
// one, or with one that names another folder, does not exist.
type environmentRecord struct {
	Folder string `json:"folder"` // name of the environment's folder, next to the record
	Files  string `json:"files"`  // the digest of inventory
	choice
	Base      string `json:"base"`       // the Python that it was made with
	BaseFacts string `json:"base_facts"` // its identity
}

// readRecord returns the record of a place. It is empty if the file is missing or incomplete.
func readRecord(p envstore.Place) environmentRecord {
	var r environmentRecord
	if !p.Read(&r) || p.Folder(r.Folder) == "" {
		return environmentRecord{}
	}
	return r
}

// environmentOf is the place of a key on disk: KEY.json, KEY.lock and KEY-….
type environmentOf struct {
	*job
	key   string
	base  string // the Python that it is made with
	uv    string // "" if there is none; then uvErr says what to do
	uvErr error
	index map[string]string // uv's settings of the operator

	progress *envstore.Progress // of making it
	record   environmentRecord
	given    *choice // in place of the record's; nil for these
	python   string
	made     bool
}

// prepare returns the environment for the job's needs. It makes the environment if it is missing or changed, or if its
// versions are to be chosen again.
func (j *job) prepare(ctx context.Context, o *PrepareOptions) (*environmentOf, error) {
	e := &environmentOf{job: j, index: j.s.indexSettings()}
	var err error
	e.uv, e.uvErr = j.s.uv(ctx)
	e.base, err = j.basePython(ctx)
	if e.uv == "" && !o.Upgrade && e.finished() {
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	e.key = environmentKey(e)
	fault := e.look()
	if err := e.elsewhere(ctx); err != nil && fault != "" {
		return nil, err
	}
	if fault == "" && !e.anew(o) {
		return e, nil
	}
	if e.uv == "" {
		return nil, e.unavailable(e.uvErr, "%v", e.uvErr)
	}
	return e, e.makeLocked(ctx, o)
}

// anew reports whether versions are to be chosen again, or others were given than those of the record.
func (e *environmentOf) anew(o *PrepareOptions) bool {
	return o.anew(e.record.Resolved) || e.given != nil && e.given.Resolved.After(e.record.Resolved)
}

// finished finds an environment on a machine without uv: the one with unchanged files that was resolved last for these needs
// and source of packages, by any version of uv. It must be made with the installed Python or, if none is installed, with an
// unchanged Python that uv had found. It reports whether there is one.
func (e *environmentOf) finished() bool {
	entries, _ := os.ReadDir(e.s.folder())
	var all []*environmentOf
	for _, d := range entries {
		key, ok := strings.CutSuffix(d.Name(), ".json")
		if !ok || !strings.HasPrefix(key, e.wanted()) {
			continue
		}
		c := *e
		c.key = key
		c.record = readRecord(c.place())
		if c.ofThisPython() {
			all = append(all, &c)
		}
	}
	slices.SortFunc(all, func(a, b *environmentOf) int { return b.record.Resolved.Compare(a.record.Resolved) })
	i := slices.IndexFunc(all, func(c *environmentOf) bool { return c.look() == "" })
	if i < 0 {
		return false
	}
	*e = *all[i]
	return true
}

// ofThisPython reports whether the Python that made the environment is unchanged, and the one to use.
func (e *environmentOf) ofThisPython() bool {
	now := program.Identity(e.record.Base)
	return now != "" && now == e.record.BaseFacts && (e.base == "" || now == program.Identity(e.base))
}

// environmentKey returns the name of an environment. It depends on the needs and the source of packages, then on the Python
// and the uv that make it.
func environmentKey(e *environmentOf) string {
	return e.wanted() + ondisk.Digest(program.Identity(e.base), program.Identity(e.uv))[:16]
}

// wanted returns the beginning of the keys of all environments for the same needs and source of packages.
func (e *environmentOf) wanted() string {
	return ondisk.Digest(append([]string{schema, e.needs.canonical(), runtime.GOOS, runtime.GOARCH}, program.Pairs(withoutOffline(e.index))...)...) + "-"
}

// folder returns the folder of all environments.
func (s *Store) folder() string { return filepath.Join(s.o.Cache, "python") }

func (e *environmentOf) place() envstore.Place { return envstore.Place{Root: e.s.folder(), Key: e.key} }

func (e *environmentOf) path(suffix string) string { return e.place().Path(suffix) }

// folder returns the folder of the environment that the record names.
func (e *environmentOf) folder() string { return filepath.Join(e.s.folder(), e.record.Folder) }

// look reads the record and compares the environment with it. It returns "" if the environment can be used, else the fault.
func (e *environmentOf) look() string {
	e.record = readRecord(e.place())
	if e.record.Folder == "" {
		return "it has no record"
	}
	files, err := envstore.Inventory(e.folder())
	if err != nil || files != e.record.Files {
		return "its files were changed"
	}
	e.python = pythonIn(e.folder())
	envstore.MarkUsed(e.path(".json"))
	return ""
}

// makeLocked makes the environment unless another process did so in the meantime.
func (e *environmentOf) makeLocked(ctx context.Context, o *PrepareOptions) error {
	before := e.record.Folder
	e.progress = envstore.Announce(e.s.o.Progress, e.s.patience, fmt.Sprintf("preparing the dependencies of %s: %s", e.sc.Name, asked(e.needs.Dependencies)))
	defer e.progress.End()
	unlock, err := e.place().Lock(ctx, e.s.o.MaxTime)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, lockfile.ErrLocked):
		return e.unavailable(err, "another process has been preparing them for %s", seconds(e.s.o.MaxTime))
	default:
		return e.unavailable(err, "%v", err)
	}
	defer unlock()
	if e.look() == "" && (!e.anew(o) || e.record.Folder != before) {
		return nil
	}
	e.place().Sweep(e.record.Folder)
	if e.sc.Making == nil {
		return e.make(ctx, o)
	}
	made := e.sc.Making()
	err = e.make(ctx, o)
	made(err)
	return err
}

// pythonIn returns the interpreter of an environment.
func pythonIn(folder string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(folder, "Scripts", "python.exe")
	}
	return filepath.Join(folder, "bin", "python")
}
