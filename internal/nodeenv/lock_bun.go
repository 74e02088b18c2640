package nodeenv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// readBun reads a bun.lock. Each of its packages is a list: name@version, registry or address, facts, integrity.
func readBun(r *lockReader) error {
	var lock struct {
		LockfileVersion     int
		Workspaces          map[string]*packageJSON
		Packages            map[string][]json.RawMessage
		PatchedDependencies map[string]json.RawMessage
	}
	var all map[string]any
	b := plainJSON(r.text)
	if err := json.Unmarshal(b, &lock); err != nil {
		return refuse("%s cannot be read: write the lock again: %v", r.file, err)
	}
	root := lock.Workspaces[""]
	switch {
	case lock.LockfileVersion > 2:
		return refuse("%s has version %d, which is not known: add a package-lock.json", r.file, lock.LockfileVersion)
	case len(lock.PatchedDependencies) > 0:
		return refuse("%s has patches of packages, which are not applied: publish the changed package, or use another", r.file)
	case root == nil:
		return r.disagrees("it has no entry for the package itself")
	}
	if err := r.agrees(root); err != nil {
		return err
	}
	for _, key := range sortedKeys(lock.Packages) {
		if err := r.bunEntry(key, lock.Packages[key]); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(r.pkg.Dependencies) {
		if lock.Packages[name] == nil {
			return r.disagrees(fmt.Sprintf("it has no %q", clip(name)))
		}
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	for key := range all { // Go reads a key in other capitals, too, and bun does not
		for _, name := range []string{"lockfileVersion", "workspaces", "packages", "patchedDependencies"} {
			if key != name && strings.EqualFold(key, name) {
				return refuse("%s has the key %q: write the lock again", r.file, clip(key))
			}
		}
	}
	all["packages"] = lock.Packages
	r.out, _ = json.Marshal(all) // it was JSON
	return nil
}

// bunEntry checks a package. Its registry becomes that of the operator.
func (r *lockReader) bunEntry(key string, p []json.RawMessage) error {
	var id string
	var e entry
	var facts fields
	if len(p) == 4 && json.Unmarshal(p[0], &id) == nil && json.Unmarshal(p[1], &e.resolved) == nil && json.Unmarshal(p[2], &facts) == nil &&
		json.Unmarshal(p[3], &e.integrity) == nil {
		at := max(strings.LastIndexByte(id, '@'), 0)
		e.name, e.version = id[:at], strings.TrimPrefix(id[at:], "@")
	}
	if facts.is("bundled") { // only bun knows whether it comes with another package
		return refuse("%s: %q is said to come with another package, which cannot be checked: add a package-lock.json", r.file, clip(key))
	}
	if !strings.HasSuffix(e.resolved, ".tgz") {
		e.resolved = "" // the address of a registry
	}
	if e.name == "" {
		return refuse("%s: %q is not a package of a registry: only those are installed: name a version that the registry has", r.file, clip(key))
	}
	address, err := r.take(e)
	if e.resolved == "" {
		address = "" // what the settings say
	}
	p[1], _ = json.Marshal(address) // a text
	return err
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
