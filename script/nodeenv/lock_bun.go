package nodeenv

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// bunLock is a bun.lock. Each package is a list: name@version, registry or address, facts, integrity. Its key is the way to
// it through the packages that it lies in.
type bunLock struct {
	LockfileVersion int
	Workspaces      map[string]*packageJSON
	Packages        map[string][]json.RawMessage

	PatchedDependencies map[string]json.RawMessage
}

// bunFacts is the third value of a package.
type bunFacts struct {
	Dependencies         map[string]string
	OptionalDependencies map[string]string
	PeerDependencies     map[string]string
	OptionalPeers        []string
	OS, CPU, Libc        words
	Bundled              bool // it comes with the package that it lies in
}

// bunPackage is one package of a bun.lock.
type bunPackage struct {
	item
	facts bunFacts
}

// readBun returns the plan of a bun.lock. The lock does not say which packages are only for development, so those that the
// dependencies reach are taken.
func readBun(pkg *packageJSON, file string, b []byte, pf platform) (plan, error) {
	var lock bunLock
	if err := json.Unmarshal(plainJSON(b), &lock); err != nil {
		return nil, refuse("%s cannot be read: write the lock again: %v", file, err)
	}
	root := lock.Workspaces[""]
	switch {
	case lock.LockfileVersion > 2:
		return nil, refuse("%s has version %d, which is not known: add a package-lock.json", file, lock.LockfileVersion)
	case len(lock.PatchedDependencies) > 0:
		return nil, refuse("%s has patches of packages, which are not applied: publish the changed package, or use another", file)
	case root == nil:
		return nil, disagrees(file, pkg, "it has no entry for the package itself")
	}
	if err := pkg.agrees(file, root); err != nil {
		return nil, err
	}
	w := &bunWalk{lock: &lock, file: file, platform: pf, found: map[string]*bunPackage{}}
	if err := w.follow("", pkg.Dependencies, false); err != nil {
		return nil, err
	}
	if err := w.follow("", pkg.OptionalDependencies, true); err != nil {
		return nil, err
	}
	if err := w.follow("", pkg.peers(), false); err != nil {
		return nil, err
	}
	var out plan
	for _, p := range w.found {
		if p != nil {
			out = append(out, p.item)
		}
	}
	return out.checked(file)
}

// bunWalk visits the packages that dependencies reach.
type bunWalk struct {
	lock     *bunLock
	file     string
	platform platform
	found    map[string]*bunPackage // by key; nil for one that is for another platform
	depth    int
}

// follow visits the packages that one of key depends on.
func (w *bunWalk) follow(key string, names map[string]string, optional bool) error {
	if w.depth++; w.depth > maxItems {
		return refuse("%s has packages that depend on each other too deeply: use fewer of them, or add a package-lock.json", w.file)
	}
	defer func() { w.depth-- }()
	for _, name := range sortedKeys(names) {
		at, ok := w.find(key, name)
		switch {
		case !ok && optional:
			continue
		case !ok:
			return refuse("%s has no %q, which %q needs: write the lock again", w.file, clip(name), clip(key))
		}
		if err := w.visit(at, name, optional); err != nil {
			return err
		}
	}
	return nil
}

// find returns the key that a package finds another by: the nearest on the way up.
func (w *bunWalk) find(from, name string) (key string, ok bool) {
	for parts := bunNames(from); ; parts = parts[:len(parts)-1] {
		key = strings.Join(append(slices.Clone(parts), name), "/")
		if _, ok := w.lock.Packages[key]; ok {
			return key, true
		}
		if len(parts) == 0 {
			return "", false
		}
	}
}

func (w *bunWalk) visit(key, name string, optional bool) error {
	if p, ok := w.found[key]; ok {
		if p != nil && !optional {
			p.Optional = false
		}
		return nil
	}
	p, err := w.read(key)
	if err != nil {
		return err
	}
	if p.facts.Bundled {
		w.found[key] = nil
		return nil
	}
	if !w.platform.fits(p.facts.OS, p.facts.CPU, p.facts.Libc) {
		if !optional {
			return refuse("%s: %q is not for this machine: make it an optional dependency", w.file, clip(key))
		}
		w.found[key] = nil
		return nil
	}
	p.Optional = optional
	w.found[key] = p
	peers := maps.Clone(p.facts.PeerDependencies)
	for _, name := range p.facts.OptionalPeers {
		delete(peers, name)
	}
	if err := w.follow(key, p.facts.Dependencies, optional); err != nil {
		return err
	}
	if err := w.follow(key, p.facts.OptionalDependencies, true); err != nil {
		return err
	}
	return w.follow(key, peers, true) // a peer may be left out
}

// read reads the entry of a package.
func (w *bunWalk) read(key string) (*bunPackage, error) {
	entry := w.lock.Packages[key]
	var id, resolved, integrity string
	p := &bunPackage{}
	if len(entry) == 4 && json.Unmarshal(entry[0], &id) == nil && json.Unmarshal(entry[1], &resolved) == nil &&
		json.Unmarshal(entry[2], &p.facts) == nil && json.Unmarshal(entry[3], &integrity) == nil {
		at := strings.LastIndexByte(id, '@')
		names := bunNames(key)
		if at > 0 && len(names) <= maxNesting && len(key) <= maxNesting*maxPackageName {
			if !strings.HasSuffix(resolved, ".tgz") {
				resolved = "" // the address of a registry
			}
			p.item = item{Path: placeOf(names...), Name: id[:at], Version: id[at+1:], Resolved: resolved, Integrity: integrity}
			return p, nil
		}
	}
	return nil, refuse("%s: %q is not a package of a registry: only those are installed: name a version that the registry has", w.file, clip(key))
}

// bunNames splits a key into the names of the packages on the way. The name of a scoped package has a slash.
func bunNames(key string) []string {
	if key == "" {
		return nil
	}
	var out []string
	scope := ""
	for part := range strings.SplitSeq(key, "/") {
		if strings.HasPrefix(part, "@") && scope == "" {
			scope = part + "/"
			continue
		}
		out = append(out, scope+part)
		scope = ""
	}
	return out
}

// plainJSON removes the comments and the commas before a closing bracket that bun's JSON may have.
func plainJSON(b []byte) []byte {
	out := make([]byte, 0, len(b))
	comma := -1 // where a comma stands that nothing but space follows
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case c == '"':
			end := i + 1
			for end < len(b) && b[end] != '"' {
				if b[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(b))
			out, comma = append(out, b[i:end]...), -1
			i = end - 1
			continue
		case c == '/' && i+1 < len(b) && (b[i+1] == '/' || b[i+1] == '*'):
			i = endOfComment(b, i)
			continue
		case c == ',':
			comma = len(out)
		case c == ']' || c == '}':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		case c > ' ':
			comma = -1
		}
		out = append(out, c)
	}
	return out
}

// endOfComment returns the index of the last byte of the comment that begins at i.
func endOfComment(b []byte, i int) int {
	stop, extra := "\n", -1 // the end of a line stays
	if b[i+1] == '*' {
		stop, extra = "*/", 1
	}
	if n := bytes.Index(b[i+2:], []byte(stop)); n >= 0 {
		return i + 2 + n + extra
	}
	return len(b) - 1
}
