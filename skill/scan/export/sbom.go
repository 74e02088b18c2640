package export

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/skill/scan"
)

// CycloneDX returns the packages that skills need as a bill of materials of version 1.6, for encoding/json.
func CycloneDX(tool Tool, now time.Time, skills []Skill) any {
	components, dependencies := []object{}, []object{}
	known := map[string]bool{}
	at := now.UTC().Format(time.RFC3339)
	all := sha256.New()
	for i := range skills {
		s := &skills[i]
		of, on := fmt.Sprintf("skill-%d", i+1), []string{}
		components = append(components, object{"type": "application", "bom-ref": of, "name": s.Name})
		for _, p := range packages(s.Report) {
			ref := p.purl()
			if on = append(on, ref); known[ref] {
				continue
			}
			known[ref] = true
			library := object{"type": "library", "bom-ref": ref, "name": p.Name, "purl": ref, "properties": []object{{"name": "agent:declared-in", "value": s.address(p.Place)}}}
			if p.Version != "" {
				library["version"] = p.Version
			}
			components = append(components, library)
		}
		dependencies = append(dependencies, object{"ref": of, "dependsOn": on})
		fmt.Fprintln(all, s.Name, on)
	}
	fmt.Fprint(all, at)
	h := all.Sum(nil)
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80 // a UUID of version 8
	return object{"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components, "dependencies": dependencies,
		"serialNumber": fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16]),
		"metadata":     object{"timestamp": at, "tools": object{"components": []object{{"type": "application", "name": tool.Name, "version": tool.Version}}}}}
}

// pinned is a package that a skill needs.
type pinned struct {
	Registry string // "pypi", "npm" and so on, as in package addresses
	Name     string
	Version  string // pinned; "" if it is not
	Place    scan.Place
	Fact     int // position in Report.Facts
}

// packages returns the packages that a skill needs, each version once.
func packages(r *scan.Report) []pinned {
	var out []pinned
	for i := range r.Facts {
		f := &r.Facts[i]
		if f.Object != "package" || f.Kind != "needs" || f.Name == "" {
			continue
		}
		p := pinned{Name: f.Name, Place: f.Place, Fact: i}
		p.Registry, p.Version = split(f.Detail, f.Name)
		if !slices.ContainsFunc(out, func(o pinned) bool { return o.purl() == p.purl() }) {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b pinned) int {
		return cmp.Or(strings.Compare(a.Registry, b.Registry), strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
	return out
}

// split reads what a fact says of a package: "pypi requests==2.32", "npm left-pad@1.3.0".
func split(detail, name string) (registry, version string) {
	registry, rest, _ := strings.Cut(detail, " ")
	rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), name))
	if i := strings.IndexByte(rest, ']'); strings.HasPrefix(rest, "[") && i > 0 { // extras
		rest = strings.TrimSpace(rest[i+1:])
	}
	for _, pin := range []string{"===", "==", "@", "="} {
		if after, ok := strings.CutPrefix(rest, pin); ok {
			rest = strings.TrimSpace(after)
			break
		}
	}
	if rest == "" || rest[0] < '0' || rest[0] > '9' || strings.ContainsAny(rest, "*<>|^~, ") {
		return strings.ToLower(registry), ""
	}
	return strings.ToLower(registry), rest
}

// purl returns the address of a package.
func (p *pinned) purl() string {
	kind := map[string]string{"crates.io": "cargo", "crates": "cargo", "go": "golang", "rubygems": "gem", "python": "pypi", "": "generic"}[p.Registry]
	name := p.Name
	if kind = cmp.Or(kind, p.Registry); kind == "pypi" {
		name = pypiName(name)
	}
	out := "pkg:" + kind + "/" + strings.ReplaceAll(strings.ReplaceAll(escape(name), "@", "%40"), "!", "%21")
	if p.Version != "" {
		out += "@" + strings.ReplaceAll(escape(p.Version), "@", "%40")
	}
	return out
}

// pypiName is a name of PyPI in its one form.
func pypiName(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' }), "-")
}
