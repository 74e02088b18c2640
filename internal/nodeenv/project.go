package nodeenv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// Bytes that are read of a file.
const (
	maxPackageJSON = 1 << 20
	maxLock        = 16 << 20
)

// packageJSON holds the parts of a package.json that decide what is installed.
type packageJSON struct {
	Dependencies         map[string]string `json:"dependencies,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
	PeerDependencies     map[string]string `json:"peerDependencies,omitempty"`
	PeerDependenciesMeta map[string]struct {
		Optional bool `json:"optional,omitempty"`
	} `json:"peerDependenciesMeta,omitempty"`
	DevDependencies map[string]string `json:"devDependencies,omitempty"` // never installed; a manager compares them with the lock
	Overrides       map[string]any    `json:"overrides,omitempty"`
	Resolutions     map[string]any    `json:"resolutions,omitempty"`
	PNPM            struct {
		Overrides map[string]any `json:"overrides,omitempty"`
	} `json:"pnpm,omitzero"`
	PackageManager string `json:"packageManager,omitempty"`

	file   string // its path in the skill
	added  bool   // it has packages that the user added
	absent bool   // the skill has none
}

// declared returns the path of the file, or "" if the skill has none.
func (p *packageJSON) declared() string {
	if p.absent {
		return ""
	}
	return p.file
}

// readPackage reads a package.json.
func readPackage(fsys fs.FS, file string) (*packageJSON, error) {
	b, err := readFile(fsys, file, maxPackageJSON)
	if err != nil {
		return nil, err
	}
	p := &packageJSON{file: file}
	if err := json.Unmarshal(bytes.TrimPrefix(b, []byte("\ufeff")), p); err != nil {
		return nil, refuse("%s cannot be read: correct it: %v", file, err)
	}
	for name := range p.OptionalDependencies { // as npm does: the optional entry counts
		delete(p.Dependencies, name)
	}
	return p, nil
}

// readFile reads a regular file of at most limit bytes.
func readFile(fsys fs.FS, file string, limit int64) ([]byte, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is not a regular file", file))
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		return nil, refuse("%s has more than %d bytes: use fewer packages, or bundle the script into one file", file, limit)
	}
	return b, err
}

// CheckPackage returns an error for a package that Project.With cannot have, such as an address.
func CheckPackage(text string) error {
	_, _, err := splitPackage(text)
	return err
}

// SamePackage reports whether two packages of Project.With have the same name.
func SamePackage(a, b string) bool {
	first, _, err := splitPackage(a)
	second, _, other := splitPackage(b)
	return err == nil && other == nil && first == second
}

// splitPackage splits "name@range" or "name".
func splitPackage(text string) (name, spec string, err error) {
	name, spec = text, "*"
	if at := strings.LastIndexByte(text, '@'); at > 0 {
		name, spec = text[:at], text[at+1:]
	}
	if !validName(name) || !fromRegistry(spec) {
		return "", "", refuse("%q is not a package of a registry: write a name, or a name and a range, such as marked@^12", clip(text))
	}
	return name, spec, nil
}

// add adds packages of the user to the dependencies.
func (p *packageJSON) add(with []string) error {
	for _, text := range with {
		name, spec, err := splitPackage(text)
		if err != nil {
			return err
		}
		if p.Dependencies == nil {
			p.Dependencies = map[string]string{}
		}
		delete(p.OptionalDependencies, name)
		p.Dependencies[name] = spec
		p.added = true
	}
	return nil
}

// needs reports whether something is to be installed.
func (p *packageJSON) needs() bool {
	return len(p.Dependencies)+len(p.OptionalDependencies)+len(p.peers()) > 0
}

// peers returns the peer dependencies that are installed: those that are not optional.
func (p *packageJSON) peers() map[string]string {
	out := maps.Clone(p.PeerDependencies)
	maps.DeleteFunc(out, func(name, _ string) bool { return p.PeerDependenciesMeta[name].Optional })
	return out
}

// check refuses dependencies that do not come from a registry.
func (p *packageJSON) check() error {
	for _, group := range []map[string]string{p.Dependencies, p.OptionalDependencies, p.PeerDependencies} {
		for _, name := range sortedKeys(group) {
			if err := p.checkOne(name, group[name]); err != nil {
				return err
			}
		}
	}
	return errors.Join(p.checkOverrides(p.Overrides, 0), p.checkOverrides(p.Resolutions, 0), p.checkOverrides(p.PNPM.Overrides, 0))
}

func (p *packageJSON) checkOne(name, spec string) error {
	switch {
	case !validName(name):
		return refuse("%s: %q is not the name of a package: correct it, or remove it", p.file, clip(name))
	case !fromRegistry(spec):
		return refuse("%s: the dependency %q is %q: only packages of the registry are installed, with a version or a range; "+
			"name a published version", p.file, name, clip(spec))
	}
	return nil
}

const maxNested = 16 // overrides inside each other

func (p *packageJSON) checkOverrides(overrides map[string]any, depth int) error {
	for name, value := range overrides {
		switch v := value.(type) {
		case string:
			if !fromRegistry(strings.TrimPrefix(v, "$")) {
				return refuse("%s: the override of %q is %q: only packages of the registry are installed: name a version that it has", p.file, clip(name), clip(v))
			}
		case map[string]any:
			if depth == maxNested {
				return refuse("%s: overrides are nested too deeply: write them with fewer levels", p.file)
			}
			if err := p.checkOverrides(v, depth+1); err != nil {
				return err
			}
		default:
			return refuse("%s: the override of %q is neither a version nor a map: correct it, or remove it", p.file, clip(name))
		}
	}
	return nil
}

// canonical returns the package.json that decides what is installed, for keys and for managers. It has no scripts, no
// workspaces and no settings.
func (p *packageJSON) canonical(locked bool) []byte {
	short := *p
	if !locked { // versions are chosen for what is installed
		short.DevDependencies, short.Resolutions, short.PNPM.Overrides = nil, nil, nil
	}
	short.PackageManager = ""
	b, _ := json.Marshal(&short) // maps are sorted; nothing in it can fail
	return b
}

// registrySpec matches what a registry can answer: a range or a tag, also of a package that has another name there. It has
// no colon or slash of an address, a path or a repository.
var registrySpec = lazyregexp.New(`^(npm:(@[A-Za-z0-9~_.-]+/)?[A-Za-z0-9~_.-]+(@|$))?[A-Za-z0-9 .*^~<>=|+_-]*$`)

func fromRegistry(spec string) bool {
	return len(spec) <= 1000 && !strings.HasPrefix(spec, ".") && !strings.HasPrefix(spec, "~/") && registrySpec().MatchString(spec)
}

// packageName matches the names of packages, also those of old ones with capitals.
var packageName = lazyregexp.New(`^(@[A-Za-z0-9~_-][A-Za-z0-9~_.-]*/)?[A-Za-z0-9~_-][A-Za-z0-9~_.-]*$`)

const maxPackageName = 214 // bytes

func validName(name string) bool {
	return len(name) <= maxPackageName && path.Base(name) != "node_modules" && packageName().MatchString(name)
}

// packageVersion matches an exact version.
var packageVersion = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$`)

func validVersion(v string) bool { return len(v) <= 256 && packageVersion().MatchString(v) }

// clip bounds a text of a skill in a message.
func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}
