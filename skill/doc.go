// Package skill finds skills, merges them into a catalogue and opens them.
//
// A skill is a folder with a SKILL.md: YAML front matter, then instructions for a model. The package reads such folders
// and never runs anything in them. Package manifest reads a single SKILL.md.
//
// # Sources and layers
//
// A [Source] yields the skills of one place: [Dir] those of a folder on disk, [FS] those of a file system such as an
// embedded one, [Merge] those of several sources. A [Layer] is a source with a name and a trust. The order of layers is
// their precedence.
//
// # The catalogue
//
// [Open] reads the layers and merges them into a [Catalog], an immutable snapshot. [Catalog.All] yields every [Entry]
// by name, [Catalog.Visible] those that may be shown to a model, and [Catalog.Lookup] finds one by name. A skill that
// cannot be used is in the catalogue, too: Entry.State, Entry.Reason and Entry.Problems say why. A skill hidden by
// another one of the same name is in the Entry.Shadows of that one. [Catalog.Refresh] reads only what changed and
// returns a new catalogue, or the same one if nothing changed.
//
// # Opened skills
//
// [Entry.Load] opens a [Skill]: its manifest, read again, and its files. A Skill holds its folder open until it is
// closed, and reads that folder even if another one replaces it. [Skill.Digest] identifies the content. [Skill.Seal]
// copies it to a read-only folder.
//
// # Trust
//
// Options.Trust, a [TrustFunc], decides whether the scripts of a skill may run. [Entry.Trust] and [Skill.Trust] call
// it, unless the layer has a trust of its own, such as TrustBundled.
//
// Names are kept as written and compared in the form that manifest.Canonical returns. Every string of a skill is
// untrusted text. This package limits its size. A program that prints it to a terminal or puts it into a prompt must
// escape it.
//
// Catalogues and entries are immutable and safe for concurrent use. A Skill is safe for concurrent use until it is
// closed.
package skill
