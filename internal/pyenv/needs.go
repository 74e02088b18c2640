package pyenv

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/ondisk"
)

// Needs are the Python and the packages that a script needs. A dependency is a name with extras, versions and a marker
// (PEP 508), never an address.
type Needs struct {
	RequiresPython string              // such as ">=3.9", "" for any
	Dependencies   []string            // as written, without spaces around them
	Constraints    []string            // versions for packages that are installed anyway
	Hashes         map[string][]string // the only files that may be installed, as "sha256:…", by the package's normal name
	From           string              // what declares them: a file of the skill, or "its script block"; "" if nothing does
}

const inBlock = "its script block"

const (
	maxDependencies = 500
	maxDeclaration  = 256 << 10 // bytes of the files that declare a script's needs
)

// Declared returns what a script without a block needs: what requirements.txt says, next to the script, in scripts/ or in
// the skill's root, and otherwise the project table of pyproject.toml, next to the script or in the root. The first file
// that there is decides. file is the script's path below files. The result has no packages if no file declares any; it is
// nil with an error, which names the file and the line.
func Declared(files fs.FS, file string) (*Needs, error) {
	beside := path.Dir(file)
	for _, dir := range unique(beside, "scripts", ".") {
		n, err := readRequirements(files, path.Join(dir, "requirements.txt"))
		if !errors.Is(err, fs.ErrNotExist) {
			return n, err
		}
	}
	for _, dir := range unique(beside, ".") {
		n, err := readProject(files, path.Join(dir, "pyproject.toml"))
		if n != nil || err != nil {
			return n, err
		}
	}
	return &Needs{}, nil
}

func unique(dirs ...string) []string {
	var out []string
	for _, d := range dirs {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// readFile returns a file of at most max bytes.
func readFile(files fs.FS, name string, max int) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(max)+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > max:
		return nil, fmt.Errorf("%s: the files that declare packages have more than %d bytes: name only what the scripts import", name, maxDeclaration)
	}
	return b, nil
}

// CheckPackage reports what is wrong with the name of a package, which may have extras and versions: "requests",
// "httpx>=0.27". An address is not allowed.
func CheckPackage(requirement string) error {
	if err := checkDependency(strings.TrimSpace(requirement)); err != nil {
		return fmt.Errorf("%q cannot be used as a package: %w", requirement, err)
	}
	return nil
}

// And returns the needs with packages that the user added.
func (n *Needs) And(packages []string) *Needs {
	out := *n
	switch {
	case len(packages) == 0:
		return &out
	case n.From == "":
		out.From = "the user"
	default:
		out.From += " and the user"
	}
	out.Dependencies = append(slices.Clone(n.Dependencies), packages...)
	return &out
}

// Join returns what several scripts need that share an environment. n may be nil. Needs with Hashes are not joined, since what
// the others need has none: the first needs count then.
func (n *Needs) Join(other *Needs) *Needs {
	switch {
	case n == nil:
		return other
	case n.Key() == other.Key() || len(n.Hashes) > 0:
		return n
	case len(other.Hashes) > 0:
		return other
	}
	out := *n
	out.RequiresPython = strings.Trim(n.RequiresPython+","+other.RequiresPython, ",")
	out.Dependencies = unique(slices.Concat(n.Dependencies, other.Dependencies)...)
	out.Constraints = unique(slices.Concat(n.Constraints, other.Constraints)...)
	if other.From != n.From {
		out.From += " and " + other.From
	}
	return &out
}

// check refuses needs that are not of the form that their comments say: they are written into a file that uv reads.
func (n *Needs) check() error {
	if _, err := parseSpecifiers(n.RequiresPython); err != nil {
		return fmt.Errorf("requires-python: %w", err)
	}
	if len(n.Dependencies) > maxDependencies {
		return fmt.Errorf("it needs %d packages (max %d): name only those that it imports", len(n.Dependencies), maxDependencies)
	}
	for _, d := range slices.Concat(n.Dependencies, n.Constraints) {
		if err := CheckPackage(d); err != nil {
			return err
		}
	}
	return nil
}

// Key returns a short name that all needs with the same meaning have.
func (n *Needs) Key() string { return ondisk.Digest(n.canonical()) }

// canonical returns one form for all needs with the same meaning. The environment's key is made of it.
func (n *Needs) canonical() string {
	var s strings.Builder
	s.WriteString(n.stub(n.RequiresPython))
	for _, name := range slices.Sorted(maps.Keys(n.Hashes)) {
		fmt.Fprintf(&s, "# %s %s\n", name, strings.Join(sorted(n.Hashes[name]), " "))
	}
	return s.String()
}

// stub returns a script block for uv. %q quotes its strings correctly, because they were checked to be printable ASCII.
func (n *Needs) stub(python string) string {
	var s strings.Builder
	s.WriteString("# /// script\n")
	if python != "" {
		fmt.Fprintf(&s, "# requires-python = %q\n", python)
	}
	list := func(name string, all []string) {
		fmt.Fprintf(&s, "# %s = [\n", name)
		for _, d := range sorted(all) {
			fmt.Fprintf(&s, "#   %q,\n", d)
		}
		s.WriteString("# ]\n")
	}
	list("dependencies", n.Dependencies)
	if len(n.Constraints) > 0 {
		s.WriteString("# [tool.uv]\n")
		list("constraint-dependencies", n.Constraints)
	}
	s.WriteString("# ///\n")
	return s.String()
}

func sorted(all []string) []string {
	out := slices.Clone(all)
	slices.Sort(out)
	return slices.Compact(out)
}

// SamePackage reports whether two requirements name the same package: "PyYAML" and "pyyaml>=6".
func SamePackage(a, b string) bool { return packageName(a) != "" && packageName(a) == packageName(b) }

// packageName returns the normal name in a requirement, "" without one.
func packageName(requirement string) string {
	found := nameAndExtras().FindStringSubmatch(requirement)
	if found == nil {
		return ""
	}
	return normalName(found[1])
}
