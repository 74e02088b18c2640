package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/lock"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/skill/manifest"
)

func newCICommand(s *app.Services, run func(context.Context, *addOptions) error) *cobra.Command {
	o := &addOptions{services: s, out: s.Out}
	c := &cobra.Command{
		Use:   "ci",
		Short: "Install exactly what the project's skills-lock.json says, or fail",
		Long: `Install the skills that skills-lock.json of the project names, each with exactly the content that it has a hash of. If one
cannot be had, or has another content, nothing is installed (exit code 7).

The file is written by "agent skill add --lock" and by other programs that share its format. It is part of the project and
approves nothing: without a terminal, --trusted or --trust DIGEST answers the question. Places on this machine that the
file names are only read if they lie in the project.`,
		Example: `  agent skill ci
  agent skill ci --trusted`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	o.ci = true
	f := c.Flags()
	f.BoolVar(&o.trusted, "trusted", false, "Skip trust confirmation")
	f.StringSliceVar(&o.digests, "trust", nil, "approve the content with this `DIGEST` (sha256:...) without a question (repeatable)")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be installed, and install nothing")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runCI(ctx context.Context, o *addOptions) error {
	if err := checkDigests(o.digests); err != nil {
		return err
	}
	file, err := o.services.Packages.LockFile()
	if err != nil {
		return err
	}
	set, err := file.Load(ctx)
	if err != nil {
		return err
	}
	locked := set.Skills()
	if len(locked) == 0 {
		return failure.NotFound(fmt.Errorf("%s has no %s, or one that names no skill", file.Dir, lock.FileName), "agent skill add SOURCE --lock writes it")
	}
	packages := o.services.Packages.Foreign()
	in, err := packages.Repaired(ctx)
	if err != nil {
		return err
	}
	c := &locking{adding: &adding{addOptions: o, in: in, ref: source.Ref{Kind: source.Folder, URL: filepath.Join(file.Dir, lock.FileName)}}}
	defer c.close()
	if err := c.all(ctx, file.Dir, locked); err != nil {
		return err
	}
	done, err := c.finish(ctx)
	return errors.Join(o.report(done), err)
}

// nothing begins what to do about a lock file that does not fit.
const nothing = "nothing was installed; "

// locking installs what a lock file says.
type locking struct {
	*adding
	places map[source.Ref]*install.Place
}

func (c *locking) close() {
	c.adding.close()
	for _, p := range c.places {
		p.Close()
	}
}

// all gets the skills of a lock file and compares them with it. Each place is asked once, and gives the files of all its skills at
// once.
func (c *locking) all(ctx context.Context, project string, locked []lock.Skill) error {
	c.places = map[source.Ref]*install.Place{}
	wanted := map[*install.Place][]*install.Candidate{}
	var from []*install.Place
	var found []*install.Candidate
	var names []string
	for _, k := range locked {
		names = append(names, k.Name)
	}
	for _, k := range locked {
		place, err := c.place(ctx, project, &k, names)
		if err != nil {
			return err
		}
		one, err := lockedIn(place, &k)
		if err != nil {
			return err
		}
		from, found = append(from, place), append(found, one)
		wanted[place] = append(wanted[place], one)
	}
	for place, list := range wanted {
		if err := c.out.Busy("fetching files", func() error { return place.Get(ctx, list...) }); err != nil {
			return err
		}
	}
	for i, k := range locked {
		if err := c.one(ctx, from[i], found[i], &k); err != nil {
			return err
		}
	}
	return nil
}

// place returns the place of a skill, which is opened once.
func (c *locking) place(ctx context.Context, project string, k *lock.Skill, names []string) (*install.Place, error) {
	ref, err := packages.LockedRef(project, k)
	if err != nil {
		return nil, failure.Usage(fmt.Errorf("%s: skill %q: %w", lock.FileName, k.Name, err), "agent skill add SOURCE --lock records another place, such as a folder of the project")
	}
	if place := c.places[ref]; place != nil {
		return place, nil
	}
	err = c.out.Busy("fetching "+k.Name, func() error {
		c.places[ref], err = c.in.Open(ctx, ref, "", names...)
		return err
	})
	if err != nil {
		delete(c.places, ref)
		f := failure.Explain(fmt.Errorf("skill %q: %w", k.Name, err))
		if f.Hint == "" && ref.Local() {
			again := cure.Lock(k.Source, k.Ref, "", "")
			if name := manifest.Canonical(k.Name); slices.ContainsFunc(c.services.Packages.Installed(ctx).All(), func(e registry.Entry) bool { return e.NameCanonical == name }) {
				again = "agent skill update " + name
			}
			f.Hint = nothing + "put back what was locked, or other content, which " + again + " accepts"
		}
		return nil, f
	}
	return c.places[ref], nil
}

// lockedIn returns the skill of a place that an entry of the lock file names.
func lockedIn(place *install.Place, k *lock.Skill) (*install.Candidate, error) {
	i := slices.IndexFunc(place.Skills, func(s *install.Candidate) bool { return s.Path == path.Clean(k.Path) })
	if i < 0 {
		list, err := install.Choose(place.Skills, []string{k.Name})
		if err != nil {
			return nil, failure.NotFound(fmt.Errorf("skill %q is not in %s", k.Name, k.Source), nothing+"agent skill add SOURCE --lock records another place, such as a folder of the project")
		}
		return list[0], nil
	}
	return place.Skills[i], nil
}

// one compares one skill with the lock file.
func (c *locking) one(ctx context.Context, place *install.Place, found *install.Candidate, k *lock.Skill) error {
	if p := found.Fatal(); p != nil {
		return &failure.Error{Exit: failure.ExitInvalid, Code: "invalid_skill", Hint: p.Cure, Err: fmt.Errorf("%s/%s:%d: %s", found.Path, found.File, p.Line, p.Message)}
	}
	name := ""
	if found.Manifest.Name != k.Name {
		name = k.Name
	}
	pack, err := place.Unpack(ctx, found, name)
	if err != nil {
		return err
	}
	if err := sameAsLocked(ctx, pack, k); err != nil {
		return errors.Join(err, pack.Close())
	}
	if pack.Same() {
		files, err := c.isPresent(ctx, pack)
		if err == nil && files != install.Intact {
			err = &failure.Error{Exit: failure.ExitIntegrity, Code: "integrity", Hint: cure.Repair(pack.Before.NameCanonical) + " puts back what was installed",
				Err: fmt.Errorf("skill %q is installed, but its files are %s: nothing was installed", k.Name, files)}
		}
		return errors.Join(err, pack.Close())
	}
	c.packages = append(c.packages, pack)
	c.checked = append(c.checked, c.services.Packages.Check(pack))
	return nil
}

// sameAsLocked returns an error unless a package has the content that the lock file says. Where the file has a hash and a digest,
// both must hold: a program that knows one of them may have changed it alone.
func sameAsLocked(ctx context.Context, pack *install.Package, k *lock.Skill) error {
	again := cure.Lock(k.Source, k.Ref, pack.Candidate.Manifest.Name, k.Name)
	if pack.Before != nil && !pack.Same() {
		again = "agent skill update " + pack.Before.NameCanonical // notes it in the file, too
	}
	if k.Hash == "" && k.Digest == "" {
		return failure.Usage(fmt.Errorf("%s has no hash of the skill %q", lock.FileName, k.Name), nothing+again+" writes one")
	}
	sameHash, sameDigest, err := comparedWithLock(ctx, pack, k)
	if err != nil {
		return err
	}
	differs := func(hint, format string, args ...any) error {
		return &failure.Error{Exit: failure.ExitIntegrity, Code: "integrity", Hint: hint, Err: fmt.Errorf(format, args...)}
	}
	switch {
	case sameHash && sameDigest:
		return nil
	case k.Hash != "" && k.Digest != "" && sameHash != sameDigest:
		return differs(nothing+again+" writes the entry anew", "skill %q: computedHash and digest in %s are of different contents", k.Name, lock.FileName)
	}
	if lacks := pack.Lacks(); len(lacks) > 0 {
		return differs(nothing+"the same command works once the submodule can be fetched", "skill %q: %s has not all that %s says: %s", k.Name, k.Source, lock.FileName, strings.Join(lacks, "; "))
	}
	return differs(nothing+again+" accepts the new content", "skill %q: %s has another content than %s says", k.Name, k.Source, lock.FileName)
}

// comparedWithLock compares a package with the hash and the digest of the lock file, which may cover what belongs to no skill: other
// programs keep that, and digests once covered it. The hash may be of the files as git for Windows writes them.
func comparedWithLock(ctx context.Context, pack *install.Package, k *lock.Skill) (sameHash, sameDigest bool, err error) {
	got, err := lock.Hash(ctx, pack.Skill.FS())
	if err != nil {
		return false, false, err
	}
	sameHash, sameDigest = k.Hash == "" || k.Hash == got, k.Digest == "" || k.Digest == pack.Digest
	if sameHash && sameDigest {
		return true, true, nil
	}
	whole, err := pack.Whole()
	if err != nil {
		return false, false, err
	}
	if !sameHash {
		if got, err = lock.Hash(ctx, whole); err != nil {
			return false, false, err
		}
		if sameHash = k.Hash == got; !sameHash {
			got, err = lock.HashWindows(ctx, whole)
			sameHash = err == nil && k.Hash == got
		}
	}
	if !sameDigest {
		sameDigest, err = pack.Is(ctx, k.Digest)
	}
	return sameHash, sameDigest, err
}
