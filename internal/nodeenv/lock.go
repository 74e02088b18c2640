package nodeenv

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// lock is the lock of a project. file is "" if it has none.
type lock struct {
	file     string // slash path in the skill
	original []byte
	format   lockFormat
	text     []byte   // what the manager gets: every address is one of the operator's registries
	packages []string // as "name@version"
}

// lockFormat is one kind of lock. Those without a reader are known, but not read.
type lockFormat struct {
	manager, name string
	read          func(*lockReader) error
	cure          string
}

// lockFormats are in the order in which locks are followed.
func lockFormats() []lockFormat {
	return []lockFormat{
		{"npm", "npm-shrinkwrap.json", readNPM, ""},
		{"npm", "package-lock.json", readNPM, ""},
		{"pnpm", "pnpm-lock.yaml", readPNPM, ""},
		{"bun", "bun.lock", readBun, ""},
		{"yarn", "yarn.lock", readYarn, ""},
		{"bun", "bun.lockb", nil, "write bun.lock with `bun install --save-text-lockfile` in its folder"},
	}
}

// findLock reads the lock next to a package.json. If there are several, that of the packageManager comes first, then the
// order of the formats; one that does not belong to the package.json is passed over if another does.
func findLock(fsys fs.FS, pkg *packageJSON, from *registries) (lock, error) {
	manager, _, _ := strings.Cut(pkg.PackageManager, "@")
	var fault error
	for _, first := range []bool{true, false} {
		for _, f := range lockFormats() {
			if (f.manager == manager) != first {
				continue
			}
			file := path.Join(path.Dir(pkg.file), f.name)
			text, err := readFile(fsys, file, maxLock)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			var l lock
			if err == nil {
				l, err = f.check(pkg, file, text, from)
			}
			if err == nil {
				return l, nil
			}
			if fault == nil {
				fault = err
			}
		}
	}
	return lock{}, fault
}

// check reads a lock. It returns an error if it names something else than packages of a registry with checksums.
func (f lockFormat) check(pkg *packageJSON, file string, text []byte, from *registries) (lock, error) {
	if f.read == nil {
		return lock{}, refuse("%s cannot be read: %s", file, f.cure)
	}
	r := &lockReader{pkg: pkg, file: file, text: text, out: text, from: from, packages: map[string]bool{}}
	if err := f.read(r); err != nil {
		return lock{}, err
	}
	return lock{file, text, f, r.out, slices.Sorted(maps.Keys(r.packages))}, nil
}

// lockReader is what reads a lock.
type lockReader struct {
	pkg      *packageJSON
	file     string // in messages
	text     []byte
	out      []byte // in place of text, if an address was changed
	from     *registries
	packages map[string]bool // by "name@version"
}

// maxItems bounds the packages of a lock.
const maxItems = 20_000

// entry is one package of a lock.
type entry struct {
	name, version, resolved, integrity string
}

// take checks a package, and returns the address that it is fetched from.
func (r *lockReader) take(e entry) (address string, err error) {
	what := clip(e.name) + "@" + clip(e.version)
	switch r.packages[e.name+"@"+e.version] = true; {
	case len(r.packages) > maxItems:
		return "", refuse("%s has more than %d packages: use fewer, or bundle the script into one file", r.file, maxItems)
	case !validName(e.name) || !validVersion(e.version):
		return "", refuse("%s: %q is not a package of a registry: only those are installed: name a version that the registry has", r.file, what)
	case e.resolved != "" && !strings.HasPrefix(e.resolved, "https://") && !strings.HasPrefix(e.resolved, "http://"):
		return "", refuse("%s: %s comes from %q: only packages of the registry are installed: name a version that it has", r.file, what, clip(e.resolved))
	case e.integrity == "":
		return "", refuse("%s: %s has no integrity: write the lock again with a registry that has it", r.file, what)
	}
	if err := checkIntegrity(e.integrity); err != nil {
		return "", refuse("%s: the integrity of %s %v", r.file, what, err)
	}
	return r.from.address(e)
}

// agrees returns an error if a lock was written for other dependencies than those of the package.json.
func (r *lockReader) agrees(locked *packageJSON) error {
	for name := range locked.OptionalDependencies {
		delete(locked.Dependencies, name)
	}
	for _, g := range []struct{ ours, theirs map[string]string }{
		{r.pkg.Dependencies, locked.Dependencies}, {r.pkg.OptionalDependencies, locked.OptionalDependencies}, {r.pkg.peers(), locked.peers()},
	} {
		for _, name := range sortedKeys(g.ours) {
			if theirs, ok := g.theirs[name]; !ok || theirs != g.ours[name] {
				return r.disagrees(fmt.Sprintf("%q is %q there and %q in the lock", name, clip(g.ours[name]), clip(theirs)))
			}
		}
	}
	return nil
}

// disagrees returns the error for a lock that was not written for the package.json.
func (r *lockReader) disagrees(why string) error {
	return refuse("%s does not belong to %s: %s; write the lock again", r.file, path.Base(r.pkg.file), why)
}

// checkIntegrity returns an error if an integrity has no strong checksum. One that a program cannot read would not be checked.
func checkIntegrity(integrity string) error {
	sizes := map[string]int{"sha512": 64, "sha384": 48, "sha256": 32}
	var weak, strong bool
	for field := range strings.FieldsSeq(integrity) {
		algorithm, text, _ := strings.Cut(field, "-")
		text, _, _ = strings.Cut(text, "?")
		sum, err := base64.StdEncoding.DecodeString(text)
		weak = weak || algorithm == "sha1"
		strong = strong || err == nil && len(sum) > 0 && len(sum) == sizes[algorithm]
	}
	switch {
	case strong:
		return nil
	case weak:
		return errors.New("is sha1 alone, which is too weak: write the lock again with a registry that has sha512")
	}
	return fmt.Errorf("is %q, which has no sha512, sha384 or sha256: write the lock again with a registry that has one", clip(integrity))
}

// sortedKeys returns the keys of a map in their order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
