package nodeenv

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

const modules = "node_modules"

// fields is an entry of a lock. A key counts as it is written: Go would also take one with other capitals.
type fields map[string]any

func (f fields) text(key string) string { s, _ := f[key].(string); return s }
func (f fields) is(key string) bool     { b, _ := f[key].(bool); return b }

// readNPM reads a package-lock.json or npm-shrinkwrap.json of version 2 or 3. npm gets one without packages for development
// and with nothing that was not checked: the part that old versions of npm read is left out.
func readNPM(r *lockReader) error {
	var lock struct {
		LockfileVersion int
		Packages        map[string]json.RawMessage
	}
	if err := json.Unmarshal(r.text, &lock); err != nil {
		return refuse("%s cannot be read: write the lock again: %v", r.file, err)
	}
	switch {
	case lock.LockfileVersion < 2 || lock.Packages == nil:
		return refuse("%s has version %d, which is too old: write it again with `npm install --package-lock-only` of npm 7 or later", r.file, lock.LockfileVersion)
	case lock.Packages[""] == nil:
		return r.disagrees("it has no entry for the package itself")
	}
	out := map[string]any{}
	for _, place := range sortedKeys(lock.Packages) {
		var p fields
		var own packageJSON
		if json.Unmarshal(lock.Packages[place], &p) != nil || place == "" && json.Unmarshal(lock.Packages[place], &own) != nil {
			return refuse("%s cannot be read: the entry %q is wrong: write the lock again", r.file, clip(place))
		}
		switch {
		case place == "":
			if err := r.agrees(&own); err != nil {
				return err
			}
			delete(p, "devDependencies")
			delete(p, "workspaces")
		case p.is("dev") || p.is("extraneous") || !p.is("link") && !strings.HasPrefix(place, modules+"/"):
			continue // the folder of a workspace counts where a link leads to it
		case p.is("link"):
			return refuse("%s: %q is a link to a folder: only packages of the registry are installed: publish it, or move its files into the skill", r.file, clip(place))
		default:
			if err := r.npmEntry(place, p); err != nil {
				return err
			}
		}
		out[place] = p
	}
	for _, name := range sortedKeys(r.pkg.Dependencies) {
		if out[modules+"/"+name] == nil {
			return r.disagrees(fmt.Sprintf("it has no %q", name))
		}
	}
	r.pkg.DevDependencies = nil
	r.out, _ = json.Marshal(map[string]any{"lockfileVersion": lock.LockfileVersion, "requires": true, "packages": out}) // it was JSON
	return nil
}

// noContent is a checksum that no content has.
const noContent = "sha512-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="

// npmEntry checks the entry of a package, and changes its address.
func (r *lockReader) npmEntry(place string, p fields) error {
	names := strings.Split(strings.TrimPrefix(place, modules+"/"), "/"+modules+"/")
	for _, name := range names {
		if !validName(name) {
			return refuse("%s: %q is not a place of a package of a registry: write the lock again", r.file, clip(place))
		}
	}
	if p.is("inBundle") && len(names) > 1 {
		// It comes with the package that it lies in, whose checksum covers it. npm fetches it if that package does not have it: then nothing
		// may be what it gets.
		name, version := cmp.Or(p.text("name"), names[len(names)-1]), p.text("version")
		if !validName(name) || !validVersion(version) {
			return refuse("%s: %q is not a package of a registry: only those are installed: name a version that the registry has", r.file, clip(name)+"@"+clip(version))
		}
		address, err := r.from.address(entry{name: name, version: version})
		p["resolved"], p["integrity"] = address, noContent
		return err
	}
	address, err := r.take(entry{cmp.Or(p.text("name"), names[len(names)-1]), p.text("version"), p.text("resolved"), p.text("integrity")})
	p["resolved"] = address
	return err
}
