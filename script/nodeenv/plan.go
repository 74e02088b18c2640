package nodeenv

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// item is one package at its place.
type item struct {
	Path      string // slash path below the environment, such as node_modules/a/node_modules/b
	Name      string // in the registry
	Version   string
	Resolved  string // the address that the lock names, "" if it names none
	Integrity string // sums, as the lock has them
	Optional  bool   // left out where it is for another platform
}

// maxItems bounds the packages of a plan.
const maxItems = 20_000

// plan is what a lock says is installed, sorted by path: a package comes before those inside it.
type plan []item

// checked sorts a plan and refuses one that cannot be installed safely. file is the lock's name in messages.
func (p plan) checked(file string) (plan, error) {
	if len(p) > maxItems {
		return nil, refuse("%s has more than %d packages: use fewer, or bundle the script into one file", file, maxItems)
	}
	slices.SortFunc(p, func(a, b item) int { return strings.Compare(a.Path, b.Path) })
	folded := map[string]string{}
	for _, it := range p {
		what := clip(it.Name) + "@" + clip(it.Version)
		switch {
		case !validPlace(it.Path) || !validName(it.Name) || !validVersion(it.Version):
			return nil, refuse("%s: %q at %q is not a package of a registry: only those are installed: name a version that the registry has", file, what, clip(it.Path))
		case it.Resolved != "" && !strings.HasPrefix(it.Resolved, "https://") && !strings.HasPrefix(it.Resolved, "http://"):
			return nil, refuse("%s: %s comes from %q: only packages of the registry are installed: name a version that it has", file, what, clip(it.Resolved))
		case it.Integrity == "":
			return nil, refuse("%s: %s has no integrity: write the lock again with a registry that has it", file, what)
		}
		if _, err := strongest(it.Integrity); err != nil {
			return nil, refuse("%s: the integrity of %s %v", file, what, err)
		}
		if other, ok := folded[strings.ToLower(it.Path)]; ok {
			return nil, refuse("%s: %q and %q are the same folder on some systems: use one of the two", file, other, it.Path)
		}
		folded[strings.ToLower(it.Path)] = it.Path
	}
	return p, nil
}

// packages lists the packages of a plan as name@version, sorted.
func (p plan) packages() []string {
	out := make([]string, 0, len(p))
	for _, it := range p {
		out = append(out, it.Name+"@"+it.Version)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

const modules = "node_modules"

// maxNesting is how many packages may be inside each other.
const maxNesting = 50

// validPlace reports whether a path is node_modules/NAME, repeated.
func validPlace(place string) bool {
	names, ok := placeNames(place)
	return ok && len(names) <= maxNesting && !slices.ContainsFunc(names, func(n string) bool { return !validName(n) })
}

// placeNames splits a place into the names of the packages on the way.
func placeNames(place string) ([]string, bool) {
	rest, ok := strings.CutPrefix(place, modules+"/")
	return strings.Split(rest, "/"+modules+"/"), ok
}

// placeOf is the opposite of placeNames.
func placeOf(names ...string) string { return modules + "/" + strings.Join(names, "/"+modules+"/") }

// digest is one checksum of an integrity.
type digest struct {
	algorithm string
	sum       []byte
}

// strongest returns the strongest checksum of an integrity, which has one or more of them.
func strongest(integrity string) (digest, error) {
	var weak bool
	sizes := map[string]int{"sha512": 64, "sha384": 48, "sha256": 32}
	best := digest{}
	for field := range strings.FieldsSeq(integrity) {
		algorithm, text, _ := strings.Cut(field, "-")
		text, _, _ = strings.Cut(text, "?")
		weak = weak || algorithm == "sha1"
		sum, err := base64.StdEncoding.DecodeString(text)
		if size := sizes[algorithm]; err == nil && size > 0 && len(sum) == size && size > len(best.sum) {
			best = digest{algorithm, sum}
		}
	}
	switch {
	case best.sum != nil:
		return best, nil
	case weak:
		return best, fmt.Errorf("is sha1 alone, which is too weak: write the lock again with a registry that has sha512")
	}
	return best, fmt.Errorf("is %q, which has no sha512, sha384 or sha256: write the lock again with a registry that has one", clip(integrity))
}

// tarball returns the name of a package's file in a registry.
func tarball(name, version string) string { return path.Base(name) + "-" + version + ".tgz" }

// platform is the system that packages are for, in the words of Node.js.
type platform struct{ os, cpu, libc string }

func thisPlatform() platform {
	p := platform{os: runtime.GOOS, cpu: runtime.GOARCH}
	if p.os == "windows" {
		p.os = "win32"
	}
	if other := map[string]string{"amd64": "x64", "386": "ia32", "mips64le": "mips64el", "mipsle": "mipsel", "ppc64le": "ppc64"}[p.cpu]; other != "" {
		p.cpu = other
	}
	if p.os == "linux" {
		p.libc = "glibc"
		if found, _ := filepath.Glob("/lib/ld-musl-*.so.1"); len(found) > 0 {
			p.libc = "musl"
		}
	}
	return p
}

// fits reports whether a package for these systems, processors and C libraries is for p. Empty lists stand for all; a name
// after "!" is excluded.
func (p platform) fits(oses, cpus, libcs []string) bool {
	return allowed(oses, p.os) && allowed(cpus, p.cpu) && (p.libc == "" || allowed(libcs, p.libc))
}

func allowed(list []string, name string) bool {
	included, positive := false, false
	for _, entry := range list {
		if excluded, ok := strings.CutPrefix(entry, "!"); ok {
			if excluded == name {
				return false
			}
			continue
		}
		positive = true
		included = included || entry == name || entry == "any"
	}
	return included || !positive
}

// sortedKeys returns the keys of a map in their order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
