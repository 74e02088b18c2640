package nodeenv

import (
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// pnpmLock is a pnpm-lock.yaml of version 6 or 9. Version 6 has the dependencies of a package in packages and a slash before
// each key; version 9 has them in snapshots.
type pnpmLock struct {
	file      string
	root      yaml // the dependencies of the package itself
	packages  map[string]yaml
	snapshots map[string]yaml
	slash     string // before the keys
	platform  platform
	graph     graph
}

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

func (y yaml) words() (out words) {
	if y.Node == nil {
		return nil
	}
	if t := y.text(); t != "" {
		return words{t}
	}
	for _, item := range y.Items {
		out = append(out, yaml{item}.text())
	}
	return out
}

const maxSigns = 1 << 20 // values of a lock, about

// readPNPM returns the plan of a pnpm-lock.yaml.
func readPNPM(pkg *packageJSON, file string, b []byte, pf platform) (plan, error) {
	doc, err := yamlnode.Parse(b, &yamlnode.Options{MaxSigns: maxSigns})
	if err != nil {
		return nil, refuse("%s cannot be read: write the lock again: %v", file, err)
	}
	lock := &pnpmLock{file: file, platform: pf, graph: graph{}, root: yaml{doc}.get("importers").get(".")}
	lock.packages = yaml{doc}.get("packages").entries()
	lock.snapshots = yaml{doc}.get("snapshots").entries()
	switch version := (yaml{doc}).get("lockfileVersion").text(); {
	case strings.HasPrefix(version, "9."):
	case strings.HasPrefix(version, "6."):
		lock.slash, lock.snapshots = "/", lock.packages
		if lock.root.Node == nil {
			lock.root = yaml{doc}
		}
	default:
		return nil, refuse("%s has version %q, which is not known: write it again with pnpm 9 or later", file, clip(version))
	}
	if len(yaml{doc}.get("patchedDependencies").entries()) > 0 {
		return nil, refuse("%s has patches of packages, which are not applied: publish the changed package, or use another", file)
	}
	overrides := yaml{doc}.get("overrides").entries()
	var edges []edge
	for _, g := range []struct {
		name     string
		ours     map[string]string
		optional bool
	}{{"dependencies", pkg.Dependencies, false}, {"optionalDependencies", pkg.OptionalDependencies, true}, {"dependencies", pkg.peers(), true}} {
		theirs := lock.root.get(g.name).entries()
		for _, name := range sortedKeys(g.ours) {
			entry, ok := theirs[name]
			specifier := entry.get("specifier").text()
			if !ok && g.optional {
				continue
			}
			if _, changed := overrides[name]; !ok || specifier != g.ours[name] && !changed {
				return nil, disagrees(file, pkg, fmt.Sprintf("%q is %q there and %q in the lock", name, clip(g.ours[name]), clip(specifier)))
			}
			e, err := lock.edge(name, entry.get("version").text(), g.optional)
			if err != nil {
				return nil, err
			}
			edges = append(edges, e...)
		}
	}
	return lock.graph.hoist(file, edges)
}

// edge returns the dependency on a version as a lock writes it, and reads what it depends on. It returns none for an
// optional package that is for another platform.
func (l *pnpmLock) edge(name, version string, optional bool) ([]edge, error) {
	key := l.slash + name + "@" + version
	if _, ok := l.snapshots[key]; !ok {
		key = version // of a package that has another name in the registry
	}
	if _, ok := l.snapshots[key]; !ok {
		return nil, refuse("%s: %q is %q: only packages of the registry are installed: name a version that it has", l.file, clip(name), clip(version))
	}
	if v, known := l.graph[key]; known {
		if v == nil {
			return nil, nil
		}
		return []edge{{name, key}}, nil
	}
	fits, err := l.read(key)
	switch {
	case err != nil:
		return nil, err
	case !fits && optional:
		l.graph[key] = nil
		return nil, nil
	case !fits:
		return nil, refuse("%s: %q is not for this machine: make it an optional dependency", l.file, clip(key))
	}
	return []edge{{name, key}}, nil
}

// read adds a package to the graph, with all that it depends on. It reports whether the package is for this platform.
func (l *pnpmLock) read(key string) (fits bool, err error) {
	id, _, _ := strings.Cut(key, "(") // packages that it was resolved with follow in brackets
	facts := l.packages[id]
	if l.slash != "" {
		facts = l.packages[key]
	}
	if !l.platform.fits(facts.get("os").words(), facts.get("cpu").words(), facts.get("libc").words()) {
		return false, nil
	}
	id = strings.TrimPrefix(id, l.slash)
	at := strings.LastIndexByte(id, '@')
	if at <= 0 {
		return false, refuse("%s: %q is not a package of a registry: only those are installed: name a version that the registry has", l.file, clip(key))
	}
	if len(l.graph) > maxItems {
		return false, refuse("%s has more than %d packages: use fewer, or bundle the script into one file", l.file, maxItems)
	}
	optional := facts.get("optional").text() == "true" || l.snapshots[key].get("optional").text() == "true"
	v := &vertex{item: item{Name: id[:at], Version: id[at+1:], Resolved: facts.get("resolution").get("tarball").text(),
		Integrity: facts.get("resolution").get("integrity").text(), Optional: optional}}
	l.graph[key] = v
	for _, group := range []string{"dependencies", "optionalDependencies"} {
		versions := l.snapshots[key].get(group)
		entries := versions.entries()
		for _, name := range sortedKeys(entries) {
			e, err := l.edge(name, entries[name].text(), group != "dependencies")
			if err != nil {
				return false, err
			}
			v.deps = append(v.deps, e...)
		}
	}
	return true, nil
}
