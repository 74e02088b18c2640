package nodeenv

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// npmLock is a package-lock.json or npm-shrinkwrap.json of version 2 or 3.
type npmLock struct {
	LockfileVersion int
	Packages        map[string]*npmPackage
}

// npmPackage is one entry of a lock. Its key is its place.
type npmPackage struct {
	packageJSON // of the root

	Name, Version, Resolved, Integrity        string
	Dev, Optional, Link, InBundle, Extraneous bool
	OS, CPU, Libc                             words
}

// words is a text or a list of texts. Values of other types are left out.
type words []string

func (w *words) UnmarshalJSON(b []byte) error {
	var one string
	var list []any
	switch {
	case json.Unmarshal(b, &one) == nil:
		*w = words{one}
	case json.Unmarshal(b, &list) == nil:
		for _, v := range list {
			if s, ok := v.(string); ok {
				*w = append(*w, s)
			}
		}
	}
	return nil
}

// readNPM returns the plan of a package-lock.json.
func readNPM(pkg *packageJSON, file string, b []byte, pf platform) (plan, error) {
	var lock npmLock
	if err := json.Unmarshal(b, &lock); err != nil {
		return nil, refuse("%s cannot be read: write the lock again: %v", file, err)
	}
	root := lock.Packages[""]
	switch {
	case lock.LockfileVersion < 2 || lock.Packages == nil:
		return nil, refuse("%s has version %d, which is too old: write it again with `npm install --package-lock-only` of npm 7 or later", file, lock.LockfileVersion)
	case root == nil:
		return nil, disagrees(file, pkg, "it has no entry for the package itself")
	}
	if err := pkg.agrees(file, &root.packageJSON); err != nil {
		return nil, err
	}
	var out plan
	skipped := map[string]bool{} // places whose packages are left out, with what lies in them
	for _, key := range sortedKeys(lock.Packages) {
		p := lock.Packages[key]
		if key == "" || p == nil || p.Dev || p.InBundle || p.Extraneous || !p.Link && !strings.HasPrefix(key, modules+"/") {
			continue // the folder of a workspace counts where a link leads to it
		}
		if p.Link {
			return nil, refuse("%s: %q is a link to a folder: only packages of the registry are installed: publish it, or move its files into the skill", file, clip(key))
		}
		names, ok := placeNames(key)
		if !ok || len(names) > maxNesting {
			return nil, refuse("%s: %q is not a place of a package: write the lock again", file, clip(key))
		}
		if !pf.fits(p.OS, p.CPU, p.Libc) {
			if !p.Optional {
				return nil, refuse("%s: %q is for %s %s, not for this machine: make it an optional dependency", file, clip(key), clip(strings.Join(p.OS, ", ")), clip(strings.Join(p.CPU, ", ")))
			}
			skipped[key] = true
			continue
		}
		if isBelow(names, skipped) {
			continue
		}
		it := item{Path: key, Name: p.Name, Version: p.Version, Resolved: p.Resolved, Integrity: p.Integrity, Optional: p.Optional}
		if it.Name == "" {
			it.Name = names[len(names)-1]
		}
		out = append(out, it)
	}
	for name := range pkg.Dependencies {
		if e := lock.Packages[placeOf(name)]; e == nil || e.Dev {
			return nil, disagrees(file, pkg, fmt.Sprintf("it has no %q", name))
		}
	}
	return out.checked(file)
}

// isBelow reports whether a package lies in another one of those places.
func isBelow(names []string, places map[string]bool) bool {
	for n := len(names) - 1; n > 0; n-- {
		if places[placeOf(names[:n]...)] {
			return true
		}
	}
	return false
}

// agrees returns an error if a lock was written for other dependencies than those of p.
func (p *packageJSON) agrees(file string, locked *packageJSON) error {
	for name := range locked.OptionalDependencies {
		delete(locked.Dependencies, name)
	}
	for _, g := range []struct{ ours, theirs map[string]string }{
		{p.Dependencies, locked.Dependencies}, {p.OptionalDependencies, locked.OptionalDependencies}, {p.peers(), locked.peers()},
	} {
		for _, name := range sortedKeys(g.ours) {
			theirs, ok := g.theirs[name]
			if !ok || theirs != g.ours[name] {
				return disagrees(file, p, fmt.Sprintf("%q is %q there and %q in the lock", name, clip(g.ours[name]), clip(theirs)))
			}
		}
	}
	return nil
}

// disagrees returns the error for a lock that was not written for a package.json.
func disagrees(file string, p *packageJSON, why string) error {
	return refuse("%s does not belong to %s: %s; write the lock again", file, path.Base(p.file), why)
}
