package nodeenv

import (
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// yaml is a value of a YAML document; methods of nil return nothing.
type yaml struct{ *yamlnode.Node }

// get returns a value of a map.
func (y yaml) get(key string) yaml {
	if y.Node != nil {
		for _, p := range y.Pairs {
			if p.Key.Value == key {
				return yaml{p.Value}
			}
		}
	}
	return yaml{}
}

// text returns the text of a scalar.
func (y yaml) text() string {
	if y.Node == nil || y.Kind != yamlnode.Scalar {
		return ""
	}
	return y.Value
}

// entries returns a map by key.
func (y yaml) entries() map[string]yaml {
	out := map[string]yaml{}
	if y.Node != nil {
		for _, p := range y.Pairs {
			out[p.Key.Value] = yaml{p.Value}
		}
	}
	return out
}

const maxSigns = 1 << 20 // values of a lock, about

// readPNPM reads a pnpm-lock.yaml of version 9.
func readPNPM(r *lockReader) error {
	node, err := yamlnode.Parse(r.text, &yamlnode.Options{MaxSigns: maxSigns})
	if err != nil {
		return refuse("%s cannot be read: write the lock again: %v", r.file, err)
	}
	doc := yaml{node}
	root := doc.get("importers").get(".")
	if version := doc.get("lockfileVersion").text(); !strings.HasPrefix(version, "9.") {
		return refuse("%s has version %q, which is not known: write it again with pnpm 9 or later", r.file, clip(version))
	}
	if len(doc.get("patchedDependencies").entries()) > 0 {
		return refuse("%s has patches of packages, which are not applied: publish the changed package, or use another", r.file)
	}
	if err := r.pnpmRoot(root, doc.get("overrides").entries()); err != nil {
		return err
	}
	packages := doc.get("packages").entries()
	for _, key := range sortedKeys(packages) {
		id, _, _ := strings.Cut(key, "(") // packages that it was resolved with follow in brackets
		at := strings.LastIndexByte(id, '@')
		if at <= 0 {
			return refuse("%s: %q is not a package of a registry: only those are installed: name a version that the registry has", r.file, clip(key))
		}
		file := packages[key].get("resolution")
		for field := range file.entries() {
			if field != "integrity" && field != "tarball" { // such as a type, a repository or a folder
				return refuse("%s: %q has a %s: only packages of the registry are installed: name a version that it has", r.file, clip(key), clip(field))
			}
		}
		e := entry{id[:at], id[at+1:], file.get("tarball").text(), file.get("integrity").text()}
		address, err := r.take(e)
		if err != nil {
			return err
		}
		if e.resolved != "" && e.resolved != address {
			return refuse("%s: %s@%s comes from %q, and pnpm fetches nothing from elsewhere: write the lock again with your registry", r.file, e.name, e.version, clip(e.resolved))
		}
	}
	return r.pnpmSnapshots(doc.get("snapshots").entries(), packages)
}

// pnpmSnapshots checks what pnpm installs: packages that have a checksum, with packages that have one.
func (r *lockReader) pnpmSnapshots(snapshots, packages map[string]yaml) error {
	for _, key := range sortedKeys(snapshots) {
		id, _, _ := strings.Cut(key, "(")
		if _, known := packages[id]; !known {
			return refuse("%s: %q has no entry with a checksum: write the lock again", r.file, clip(key))
		}
		for field, value := range snapshots[key].entries() {
			switch field {
			case "dependencies", "optionalDependencies":
				for name, version := range value.entries() {
					at, _, _ := strings.Cut(version.text(), "(")
					if _, named := packages[name+"@"+at]; !named && packages[at].Node == nil { // "name@version" for another name
						return refuse("%s: %q needs %q, which has no entry with a checksum: write the lock again", r.file, clip(key), clip(name+"@"+at))
					}
				}
			case "transitivePeerDependencies", "optional", "dev":
			default:
				return refuse("%s: %q has a %s, which is not known: write the lock again with pnpm 9 or 10", r.file, clip(key), clip(field))
			}
		}
	}
	return nil
}

// pnpmRoot compares the dependencies of the package itself.
func (r *lockReader) pnpmRoot(root yaml, overrides map[string]yaml) error {
	for _, g := range []struct {
		name     string
		ours     map[string]string
		optional bool
	}{{"dependencies", r.pkg.Dependencies, false}, {"optionalDependencies", r.pkg.OptionalDependencies, true}, {"dependencies", r.pkg.peers(), true}} {
		theirs := root.get(g.name).entries()
		for _, name := range sortedKeys(g.ours) {
			e, ok := theirs[name]
			if !ok && g.optional {
				continue
			}
			specifier, version := e.get("specifier").text(), e.get("version").text()
			if _, changed := overrides[name]; !ok || specifier != g.ours[name] && !changed {
				return r.disagrees(fmt.Sprintf("%q is %q there and %q in the lock", name, clip(g.ours[name]), clip(specifier)))
			}
			if strings.Contains(strings.SplitN(version, "(", 2)[0], ":") {
				return refuse("%s: %q is %q: only packages of the registry are installed: name a version that it has", r.file, clip(name), clip(version))
			}
		}
	}
	return nil
}
