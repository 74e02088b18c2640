package skill

import (
	"context"
	"io"
	"io/fs"
	"iter"
	"slices"

	"github.com/agent-base/agent-base/skill/manifest"
)

// Source yields the skills of one place. Skills must be safe for concurrent use and must stop when its context is done.
// An error with a Found is about that candidate alone: the iteration continues, and a *Problem keeps its code.
type Source interface {
	Skills(context.Context) iter.Seq2[Found, error]
}

// Rooted is an optional method of a Source whose skills are in folders of this machine. A program that watches a
// catalogue watches these folders, and polls a source that is not Rooted. If the source is Rooted and the skill's Tree
// is a Locator, a TrustFunc gets the location in Subject.Dir, and the skill can be below a folder that the user trusts.
// Dir is Rooted. FS is Rooted without a folder: embedded files never change, and the user did not choose where their
// copies are.
type Rooted interface {
	Roots() []string // absolute, including folders that do not exist; empty if the skills never change
}

// SourceFunc makes a function a Source.
type SourceFunc func(context.Context) iter.Seq2[Found, error]

// Skills calls f.
func (f SourceFunc) Skills(ctx context.Context) iter.Seq2[Found, error] { return f(ctx) }

// Found is one skill as a source sees it. It is valid until the next step of the iteration.
type Found struct {
	Path  string // slash path of its directory below the source's root; "." for the root itself
	File  string // name of its manifest: "SKILL.md", or "skill.md" if there is only that file; "" means "SKILL.md"
	Stamp Stamp  // the file system's stamp of the manifest; zero if there is none: Head then shows whether it has changed
	Head  []byte // the manifest from its first byte to at least the end of the front matter

	// Folder is the skill's absolute folder, if it lies outside the roots of its source; "" otherwise. A link to it in another
	// folder of skills is then no problem, as the skill is read here.
	Folder string

	// Digest is the digest that the content was accepted with when it was installed, as Skill.Digest returns it, or "". A catalogue
	// does not compare them: Entry.Installed says what it is.
	Digest string

	// Told says that Head is not the beginning of the file: it is front matter that the place tells of the skill before the file is read.
	// What the tree then reads has to have the same.
	Told bool

	// Place is the name of the skill's place for approvals and grants, see Entry.Place; "" means that of its folder. A skill of a Layer with a
	// Server needs one that no other skill of any server has.
	Place string

	// Open returns the skill's files. The catalogue calls it when the skill is loaded.
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

// Locator is an optional method of a Tree whose files are on disk or can be written there. A skill whose Tree is not a
// Locator has no folder (ErrNoFolder): it can be read, but its scripts cannot run. The Trees of FS with a cache are Locators.
type Locator interface {
	Location(context.Context) (string, error) // absolute directory
}

// Hashed is an optional method of a Tree that knows the hashes of its files without reading them, and lets nobody read other content.
// The error is for a tree whose content has no digest.
type Hashed interface {
	Sum(context.Context) (Sum, error)
}

// Layer is a source with its name and the path under which its skills are mounted for a model. The order of layers is
// their precedence, highest first.
type Layer struct {
	Name   string // "project", "user", "bundled" …; several layers may share a name
	Mount  string // default: "skills"
	Source Source // nil is a problem of the catalogue, source-unreadable

	// Trust is the trust of all skills of the layer, whatever their content: TrustBundled for skills that come with the program,
	// TrustRoot for a folder whose later changes are trusted, too. TrustNone leaves the decision to Options.Trust.
	Trust Trust

	// Server is the label of the MCP server that serves the skills, "" for skills of this machine. Such a skill has its name alone: where
	// another source has one of that name, or the server a second one, it is called SERVER:NAME, and hides nothing. It gets nothing from
	// Trust, which must be TrustNone, nor from a trusted folder, and what its manifest asks of the host holds only once it is approved:
	// see Skill.Heeded.
	Server string

	// Profile has the rules by which its skills are read. Nil means Options.Profile, and DefaultProfile with TrustBundled.
	Profile *manifest.Profile

	// Place is the place of the skills whose source names none, see Entry.Place; "" for that of the folder of each.
	Place string

	// Value is the value of the layer for PrecedencePriority; layers with the same name have one value. 0 means the
	// number of the layer, counted from the lowest, which is 1.
	Value int
}

// Merge returns the sources as one source, for a single layer. If two of them have a skill of one name, the earlier
// source takes precedence, and a catalogue lists the other skill as shadowed. Iteration yields each path once; a later
// skill at the same path yields the *Problem path-taken. A nil source is a problem, as in a Layer.
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

// nothing stands for a nil source.
type nothing struct{}

func (nothing) Skills(context.Context) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		yield(Found{Path: "."}, &manifest.Problem{Code: "source-unreadable", Severity: manifest.SeverityError, File: ".",
			Message: "skills cannot be listed: the source is nil", Cure: "give the layer a source, or leave it out"})
	}
}

func (nothing) Roots() []string { return nil }

// leaves returns the sources that a source consists of.
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
