// Package nodeenv prepares the npm packages that the JavaScript and TypeScript scripts of a skill need. It reads the
// package.json above a script and the lock next to it, and has the manager that wrote the lock install them: npm, pnpm, bun
// or Yarn 1. The manager gets a package.json with the dependencies alone and the lock, in an empty folder: no settings of
// the skill, and of the operator's those that say where packages come from. No lifecycle script ever runs.
//
// The locks of npm (version 2 and 3), pnpm (9), bun (bun.lock) and Yarn 1 are read before. Those of later versions of
// Yarn have no checksums of the files that a registry serves. Each package must have a checksum in the lock, and come
// from a registry; its address is changed to that of the operator's. Without a lock npm chooses the versions, and the choice is kept.
//
// An environment is a folder with node_modules, stored in Options.Cache under a key of the dependencies, the lock and the
// system. The interpreters look for node_modules in the folders above a script, so a script runs from a copy of its skill
// below that folder, see Prepared.Copy. An environment is valid only with a record next to it,
// which has a digest of the metadata of its files; one that was changed since then is made again.
//
// The package refuses dependencies on repositories, folders and addresses, locks that were written for another
// package.json, packages without a checksum or with sha1 alone, packages that are too large, and links that lead out of
// the packages. devDependencies are not installed, and neither are optional packages for other systems.
//
// A Store is safe for concurrent use, also by several processes.
package nodeenv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/agent-base/agent-base/internal/envstore"
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
	// Run runs a manager. It returns an error only when that could not be started or ctx is done.
	Run      func(context.Context, *Command) (*Output, error)
	LookPath func(string) (string, error) // finds npm, pnpm, bun, yarn and node
	Env      []string                     // the operator's environment, NAME=value: npm_config_registry and what the network needs
	NPMRC    []byte                       // the operator's npmrc: its registries, their credentials and cafile count
	Cache    string                       // absolute folder for environments
	MaxBytes int64                        // most bytes of an environment and of what is fetched for it together; 0 means DefaultMaxBytes
	MaxTime  time.Duration                // for preparing one environment; 0 means DefaultMaxTime
	Hosts    []string                     // further hosts that may be reached, besides those of the registries: HOST, HOST:PORT or *.HOST
	Progress func(string)                 // says what is done if preparing takes more than a second; may be nil

	// Chosen is asked for the versions that another Store has chosen, see Store.Chosen. Those that were chosen last count. Nil: there is none.
	Chosen envstore.Chosen
}

// The limits if Options has none.
const (
	DefaultMaxBytes = 1 << 30
	DefaultMaxTime  = 10 * time.Minute
)

// Store has the environments of one cache.
type Store struct {
	o        Options
	from     *registries
	patience time.Duration // until Progress is called
	pause    time.Duration // before npm or pnpm tries again; later up to four times as long
	large    int64         // LargeDownload
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
	s := &Store{o: *o, from: settings(o.NPMRC, o.Env), patience: time.Second, pause: time.Second, large: LargeDownload}
	if s.o.MaxBytes <= 0 {
		s.o.MaxBytes = DefaultMaxBytes
	}
	if s.o.MaxTime <= 0 {
		s.o.MaxTime = DefaultMaxTime
	}
	return s, nil
}

// Project is a script whose packages are prepared.
type Project struct {
	FS     fs.FS              // the files of the skill
	File   string             // slash path of the script in FS
	Script string             // its name in messages
	With   []string           // packages that the user added, as "name" or "name@range"; then a lock is not followed
	Also   []string           // further files that are loaded with the script, as slash paths
	Else   []string           // packages that are added if these files import them and no package.json has dependencies, like With
	Making func() func(error) // called before an environment is made; the function that it returns is called afterwards; may be nil
}

// PrepareOptions says how packages are prepared.
type PrepareOptions struct {
	Upgrade bool      // without a lock, choose versions again; otherwise the chosen versions stay
	Since   time.Time // with Upgrade: versions that were chosen then or later stay; zero means that none do

	// Large decides whether more than LargeDownload is downloaded; nil means that it is not.
	Large func(context.Context, Download) (bool, error)
}

// LargeDownload is the size of packages, in bytes, above which PrepareOptions.Large is asked.
const LargeDownload = 200_000_000

// Download is what making an environment would download. A lock has no sizes: Bytes were fetched until the question had to be
// asked, so there are more.
type Download struct {
	Script   string   // the script that needs it
	Packages []string // as "name@version", largest first as far as they are there
	Bytes    int64
}

// anew reports whether versions that were chosen at that time are to be chosen again.
func (o *PrepareOptions) anew(resolved time.Time) bool {
	return o.Upgrade && (o.Since.IsZero() || resolved.Before(o.Since))
}

// Prepared is what Prepare found or made.
type Prepared struct {
	Needed   bool     // the script needs packages
	Made     bool     // the environment was made by this call; false: it was there
	Declared string   // slash path in the skill of the package.json; "" if only the user added packages
	Lacks    []string // packages that the script imports where nothing declares them, sorted
	Folder   string   // absolute folder that has node_modules; "" if nothing is needed
	Packages []string // as "name@version", sorted
	Lock     string   // slash path in the skill of the lock that was followed; "" if npm chose the versions
	Unbuilt  []string // packages that have install scripts, which did not run, as "name@version"

	packageDir string // slash path of the folder of package.json in the skill
}

// Prepare installs the packages that a script needs, unless they are there. A nil o means the zero value. The error is an
// *Error or that of ctx. The result is never nil; with an error only Needed and Declared may be set.
//
// Nothing is needed if no package.json between the script and the top of FS has dependencies and the user added none, if a
// folder there has node_modules itself, or if neither the script nor the files that it loads import a package.
func (s *Store) Prepare(ctx context.Context, p *Project, o *PrepareOptions) (*Prepared, error) {
	if o == nil {
		o = &PrepareOptions{}
	}
	j := &job{s: s, p: p, o: o}
	pkg, lacks, err := needed(p)
	if err != nil || pkg == nil {
		return &Prepared{Needed: err != nil, Lacks: lacks}, j.fail(err)
	}
	j.pkg = pkg
	if err := j.prepare(ctx); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return &Prepared{Needed: true, Declared: pkg.declared()}, err
	}
	return &Prepared{Needed: true, Declared: pkg.declared(), Made: j.made, Folder: j.folder(), packageDir: path.Dir(pkg.file),
		Packages: j.record.Packages, Lock: j.lock.file, Unbuilt: j.record.Unbuilt, Lacks: lacks}, nil
}

// Unused lists the environments that were not used since a time, copies of skills in other environments that were not used
// since then, and the folders that no record names. They may be removed while no script runs and none is prepared.
func (s *Store) Unused(since time.Time) []Leftover {
	out := envstore.Unused(s.folder(), since)
	gone := map[string]bool{}
	for _, l := range out {
		for _, part := range l.Parts {
			gone[part] = true
		}
	}
	entries, _ := os.ReadDir(s.folder())
	for _, d := range entries {
		if dir := filepath.Join(s.folder(), d.Name()); d.IsDir() && !gone[dir] {
			out = append(out, envstore.Unused(filepath.Join(dir, skills), since)...)
		}
	}
	return out
}
