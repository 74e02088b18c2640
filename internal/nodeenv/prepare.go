package nodeenv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/ondisk"
)

// schema is part of every key: a change of how environments are made leaves the old ones behind.
const schema = "2"

// skills is the folder in an environment for copies of skills.
const skills = "skills"

// record is kept next to a complete environment. It is written last.
type record struct {
	Folder   string   `json:"folder"` // name of the environment's folder, next to the record
	Files    string   `json:"files"`  // the digest of its inventory
	Packages []string `json:"packages"`
	Unbuilt  []string `json:"unbuilt,omitempty"`
	choice
}

// job is the preparation of one script.
type job struct {
	s    *Store
	p    *Project
	o    *PrepareOptions
	pkg  *packageJSON
	lock lock

	place    envstore.Place
	progress *envstore.Progress // of making it
	record   record
	given    *choice // in place of the record's; nil for these
	made     bool
}

// Declared returns what Prepare would install for a script, without installing it: the path of the package.json, "" if only
// the user added packages, and the packages as "name@range", sorted. lacks has the packages that the script imports where
// nothing declares them. A dependency of any version is a name alone.
func Declared(p *Project) (file string, packages, lacks []string, err error) {
	pkg, lacks, err := needed(p)
	if err != nil || pkg == nil {
		return "", nil, lacks, err
	}
	for _, group := range []map[string]string{pkg.Dependencies, pkg.OptionalDependencies, pkg.peers()} {
		for name, spec := range group {
			packages = append(packages, strings.TrimSuffix(name+"@"+spec, "@*"))
		}
	}
	slices.Sort(packages)
	return pkg.declared(), slices.Compact(packages), lacks, pkg.check()
}

// needed returns the package.json that a script needs packages of, with those that the user added, or nil. Where nothing
// declares any, it returns what the script imports.
func needed(p *Project) (pkg *packageJSON, lacks []string, err error) {
	pkg, installed, err := nearest(p.FS, p.File)
	if err != nil || installed {
		return nil, nil, err
	}
	folder := path.Dir(p.File)
	if pkg != nil {
		folder = path.Dir(pkg.file)
	}
	packages, any := importsPackages(p.FS, append([]string{p.File}, p.Also...), folder)
	if !any {
		return nil, nil, nil
	}
	with := slices.Clone(p.With)
	if pkg == nil {
		for _, other := range p.Else {
			name, _ := cutVersion(other)
			if i := slices.Index(packages, name); i >= 0 && !slices.ContainsFunc(with, func(w string) bool { return SamePackage(w, name) }) {
				with, packages = append(with, other), slices.Delete(packages, i, i+1)
			}
		}
		if len(p.With) == 0 {
			lacks = packages
		}
		if len(with) == 0 {
			return nil, lacks, nil
		}
		pkg = &packageJSON{file: "package.json", absent: true}
	}
	return pkg, lacks, pkg.add(with)
}

// nearest returns the nearest package.json above a script that has dependencies, or nil. It reports whether a folder above
// the script has node_modules itself.
func nearest(fsys fs.FS, script string) (found *packageJSON, installed bool, err error) {
	for dir := path.Dir(script); ; dir = path.Dir(dir) {
		if info, err := fs.Stat(fsys, path.Join(dir, modules)); err == nil && info.IsDir() {
			return nil, true, nil
		}
		if found == nil {
			p, err := readPackage(fsys, path.Join(dir, "package.json"))
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return nil, false, err
			case p.needs():
				found = p
			}
		}
		if dir == "." {
			return found, false, nil
		}
	}
}

// folder returns the folder of all environments.
func (s *Store) folder() string { return filepath.Join(s.o.Cache, "node") }

// folder returns the folder of the environment.
func (j *job) folder() string { return j.place.Folder(j.record.Folder) }

// prepare finds the environment or makes it.
func (j *job) prepare(ctx context.Context) error {
	if err := j.pkg.check(); err != nil {
		return j.fail(err)
	}
	var err error
	if !j.pkg.added {
		if j.lock, err = findLock(j.p.FS, j.pkg, j.s.from); err != nil {
			return j.fail(err)
		}
	}
	j.place = envstore.Place{Root: j.s.folder(), Key: j.key()}
	whole := j.look()
	if err := j.elsewhere(ctx); err != nil && !whole {
		return j.fail(err)
	}
	if whole && !j.again() {
		return nil
	}
	return j.makeLocked(ctx)
}

// key returns the name of the environment. It depends on the dependencies and the lock or, without one, on the registries
// that are asked.
func (j *job) key() string {
	musl, _ := filepath.Glob("/lib/ld-musl-*.so.1")
	parts := []string{schema, runtime.GOOS, runtime.GOARCH, strings.Join(musl, " "), string(j.pkg.canonical(j.lock.file != "")), path.Base(j.lock.file), string(j.lock.original)}
	if j.lock.file == "" {
		parts = append(parts, j.s.from.lines...)
	}
	return ondisk.Digest(parts...)
}

// again reports whether versions are to be chosen again, or others were given than those of the record.
func (j *job) again() bool {
	return j.lock.file == "" && (j.o.anew(j.record.Resolved) || j.given != nil && j.given.Resolved.After(j.record.Resolved))
}

// look reads the record and compares the environment with it. It reports whether the environment can be used.
func (j *job) look() bool {
	j.record = record{}
	if !j.place.Read(&j.record) || j.folder() == "" {
		j.record.Folder = ""
		return false
	}
	files, err := envstore.Inventory(filepath.Join(j.folder(), modules))
	if err != nil || files != j.record.Files || !untouched(j.folder()) {
		return false
	}
	envstore.MarkUsed(j.place.Path(".json"))
	return true
}

// untouched reports whether nothing was put into an environment above the copies of skills that interpreters would read:
// they look for modules and settings in each folder above a script.
func untouched(env string) bool {
	for _, name := range []string{"package.json", "tsconfig.json", skills + "/package.json", skills + "/tsconfig.json", skills + "/" + modules} {
		if _, err := os.Lstat(filepath.Join(env, filepath.FromSlash(name))); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// makeLocked makes the environment unless another process did so in the meantime.
func (j *job) makeLocked(ctx context.Context) error {
	before := j.record.Folder
	j.progress = envstore.Announce(j.s.o.Progress, j.s.patience, "preparing the npm packages of "+j.p.Script)
	defer j.progress.End()
	wait := j.s.o.MaxTime
	unlock, err := j.place.Lock(ctx, wait)
	if errors.Is(err, lockfile.ErrLocked) {
		return j.fail(fmt.Errorf("another process has been preparing them for %gs", wait.Seconds()))
	}
	if err != nil {
		return j.fail(err)
	}
	defer unlock()
	if j.look() && (!j.again() || j.record.Folder != before) {
		return nil
	}
	j.place.Sweep(j.record.Folder)
	made := func(error) {}
	if j.p.Making != nil {
		made = j.p.Making()
	}
	err = j.fail(j.make(ctx))
	made(err)
	return err
}

// make builds the environment and writes its record last. If it fails, it leaves nothing. The caller holds the lock.
func (j *job) make(ctx context.Context) (err error) {
	limit := j.s.o.MaxTime
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("preparing them took more than %gs", limit.Seconds()))
	defer cancel()
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}()
	work, err := j.place.NewFolder("work-")
	if err != nil {
		return err
	}
	defer ondisk.RemoveAll(work)
	env, err := j.place.NewFolder("")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			ondisk.RemoveAll(env)
		}
	}()
	next := record{Folder: filepath.Base(env)}
	i := &installation{j: j, env: env, home: work, lock: &j.lock}
	if j.lock.file == "" {
		if err := i.choose(ctx, &next); err != nil {
			return err
		}
	}
	if err := i.install(ctx); err != nil {
		return err
	}
	if next.Packages, next.Unbuilt, err = i.finish(); err != nil {
		return err
	}
	if next.Files, err = envstore.Inventory(filepath.Join(env, modules)); err != nil {
		return err
	}
	if err := j.place.Write(&next); err != nil {
		return err
	}
	j.record, j.made = next, true
	return nil
}
