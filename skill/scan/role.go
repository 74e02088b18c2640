package scan

import (
	"path"
	"strings"

	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// roles gives each fact the role of the text around it.
func (r *reader) roles() {
	named := r.namedDocuments()
	documents := map[blockKey]bool{}
	for i := range r.r.Files {
		documents[keyOf(r.r.Files[i].place())] = isDocument(&r.r.Files[i])
	}
	blocks := map[blockKey]fact.Role{}
	for _, s := range r.sources {
		if s.role != "" {
			for i := range strings.Count(s.text, "\n") + 1 {
				key := keyOf(s.place)
				key.line = s.line + i
				blocks[key] = s.role
			}
		}
	}
	for i := range r.r.Facts {
		f := &r.r.Facts[i]
		if f.Role == "" && f.Place.Block != "" {
			key := keyOf(f.Place)
			key.line = f.Place.Line
			f.Role = blocks[key]
		}
		if document := documents[keyOf(f.Place)]; f.Role == "" && (document || f.Kind == fact.Tells) {
			if f.Role = r.roleOf(f.Place, named); !document && f.Role == fact.Reference { // no text names a script that another runs
				f.Role = fact.Instruction
			}
		}
	}
}

type blockKey struct {
	file, inside string
	line         int
}

func keyOf(p fact.Place) blockKey {
	return blockKey{file: p.File, inside: strings.Join(p.Inside, "\x00")}
}

// roleOf returns the role of a file.
func (r *reader) roleOf(p fact.Place, named map[string]bool) fact.Role {
	name := p.File
	if n := len(p.Inside); n > 0 {
		name = p.Inside[n-1]
	}
	base := strings.ToLower(path.Base(name))
	switch {
	case strings.HasPrefix(base, "license") || strings.HasPrefix(base, "licence") || strings.HasPrefix(base, "notice") || strings.HasPrefix(base, "copying"):
		return fact.Legal
	case strings.EqualFold(base, "skill.md"):
		return fact.Instruction
	}
	for dir := range strings.SplitSeq(strings.ToLower(path.Dir(name)), "/") {
		switch dir {
		case "test", "tests", "testdata", "fixtures", "__tests__", "spec", "evals", "fixture":
			return fact.TestData
		}
	}
	if len(p.Inside) == 0 && !named[p.File] {
		return fact.Reference
	}
	return fact.Instruction
}

// isDocument reports whether a file is for people or a model to read.
func isDocument(f *File) bool {
	return f.Kind == kindMarkdown || f.Kind == kindText && !isRequirements(f.name())
}

// namedDocuments returns the documents that SKILL.md names, and those that these name.
func (r *reader) namedDocuments() map[string]bool {
	out := map[string]bool{}
	var next []document
	for _, d := range r.docs {
		if f := r.r.Files[d.file]; strings.EqualFold(path.Base(f.Path), "skill.md") && len(f.Inside) == 0 {
			next = append(next, d)
		}
	}
	for len(next) > 0 {
		d := next[0]
		next = next[1:]
		for _, other := range r.docs {
			name := r.r.Files[other.file].Path
			if !out[name] && (strings.Contains(d.text, path.Base(name)) || strings.Contains(d.text, path.Dir(name)+"/") && path.Dir(name) != ".") {
				out[name] = true
				next = append(next, other)
			}
		}
	}
	return out
}
