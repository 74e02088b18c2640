package skill

import (
	"context"
	"io"
	"io/fs"
	"iter"
	"slices"

	"github.com/agent-base/agent-base/skill/manifest"
)

// Source yields the skills of one place. Skills must be safe for concurrent use and must stop
// when its context is done. An error with a Found is about that candidate alone: a *Problem keeps
// its code, and the walk goes on.
type Source interface {
	Skills(context.Context) iter.Seq2[Found, error]
}

// Rooted is an optional method of a Source whose skills lie in folders of this machine. A program that watches a catalogue
// watches these folders, and asks a source that is not Rooted again and again. A skill of a Rooted source whose Tree is a
// Locator can lie below a folder that the user trusts: a TrustFunc then gets its location in Subject.Dir. Dir is Rooted.
// FS is Rooted without a folder: what is embedded never changes, and a copy of it lies where the user put nothing.
type Rooted interface {
	Roots() []string // absolute, also those that do not exist; none: the skills never change
}

// SourceFunc makes a Source of a function.
type SourceFunc func(context.Context) iter.Seq2[Found, error]

// Skills calls f.
func (f SourceFunc) Skills(ctx context.Context) iter.Seq2[Found, error] { return f(ctx) }

// Found is one skill as a source sees it. It is valid until the iteration goes on.
type Found struct {
	Path  string // slash path of its directory below the source's root; "." for the root itself
	File  string // name of its manifest: "SKILL.md", or "skill.md" where only that is there
	Stamp Stamp  // what the file system says of the manifest; zero when there is nothing to tell
	Head  []byte // the manifest from its first byte to the end of the front matter at least

	// Open gives the skill's files. The catalogue calls it when the skill is loaded.
	Open func(context.Context) (Tree, error)
}

// Stamp identifies one state of a file without reading it.
type Stamp struct {
	Size, MTime, CTime int64 // bytes, nanoseconds
	Inode              uint64
}

// Tree is the file system of one skill, confined to its directory.
type Tree interface {
	fs.FS
	io.Closer
}

// Locator is what a Tree can be as well when its files lie on disk, or can be put there. A skill whose Tree is none has no
// folder (ErrNoFolder): it can be read, and its scripts cannot run.
type Locator interface {
	Location(context.Context) (string, error) // absolute directory
}

// Layer is a source with its name and the path under which its skills are mounted for a model
// . The order of layers is their precedence, highest first.
type Layer struct {
	Name   string // "project", "user", "bundled" …; several layers may share a name
	Mount  string // default: "skills"
	Source Source // nil is a problem of the catalogue, source-unreadable
	Trust  Trust  // Bundled for what came with the program; Untrusted leaves it to Options.Trust

	// Value is the value of the layer with PrecedencePriority; layers of one name have one value. 0 means the number of
	// the layer, counted from the lowest, which is 1.
	Value int
}

// Merge returns the sources as one, for a single layer. Where two hold a skill of one name, the
// earlier source counts, and a catalogue lists the other as shadowed. Who iterates over the merged source
// itself meets every path once: of a later skill at a path that was there before it gets the *Problem
// path-taken. A nil source is a problem, as that of a Layer is.
func Merge(sources ...Source) Source { return merged(slices.Clone(sources)) }

type merged []Source

// Skills yields what the sources yield, one source after the other.
func (m merged) Skills(ctx context.Context) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		taken := map[string]bool{}
		for _, s := range leaves(m) {
			for f, err := range s.Skills(ctx) {
				if _, note := leftOut(err); !note {
					if taken[f.Path] {
						f, err = Found{Path: f.Path}, pathTaken(f.Path)
					}
					taken[f.Path] = true
				}
				if !yield(f, err) {
					return
				}
			}
		}
	}
}

func pathTaken(path string) *manifest.Problem {
	return &manifest.Problem{Code: "path-taken", Severity: manifest.SeverityWarning, File: path,
		Message: "left out: an earlier one of the merged sources has a skill at this path", Cure: "rename one of the two folders"}
}

// nothing is the source that somebody forgot.
type nothing struct{}

func (nothing) Skills(context.Context) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		yield(Found{Path: "."}, &manifest.Problem{Code: "source-unreadable", Severity: manifest.SeverityError, File: ".",
			Message: "skills cannot be listed: the source is nil", Cure: "give the layer a source, or leave it out"})
	}
}

func (nothing) Roots() []string { return nil }

// leaves returns the sources that a source is made of.
func leaves(s Source) []Source {
	if s == nil {
		return []Source{nothing{}}
	}
	m, ok := s.(merged)
	if !ok {
		return []Source{s}
	}
	var out []Source
	for _, part := range m {
		out = append(out, leaves(part)...)
	}
	return out
}
