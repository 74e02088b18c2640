// Package skill finds skills, merges them into a catalogue and opens them.
//
// A skill is a folder with a SKILL.md: YAML front matter, then instructions for a model. The package reads such folders and
// never runs anything of them. What one SKILL.md says is the matter of package manifest.
//
// # Sources and layers
//
// A [Source] yields the skills of one place: [Dir] those of a folder on disk, [FS] those of a file system such as an
// embedded one, [Merge] those of several sources. A [Layer] is a source with a name and a trust. The order of layers is
// their precedence.
//
// # The catalogue
//
// [Open] reads the layers and merges them into a [Catalog], an immutable snapshot. [Catalog.All] yields every [Entry] by
// name, [Catalog.Visible] those that a model may be told about, [Catalog.Lookup] finds one. A skill that cannot be used
// is in the catalogue too: Entry.State, Entry.Reason and Entry.Problems say why. A skill that another one of its name hides
// is among that one's Entry.Shadows. [Catalog.Refresh] returns a new catalogue, or the same one when nothing changed; it
// reads only what changed.
//
// # Opened skills
//
// [Entry.Load] opens a [Skill]: its manifest, read anew, and its files. It holds its folder until it is closed, so that it
// keeps reading the same one when another is put in its place. [Skill.Digest] identifies the content, [Skill.Seal] copies
// it to a read-only folder.
//
// # Trust
//
// Whether the scripts of a skill may run is decided by Options.Trust, a [TrustFunc]; [Entry.Trust] and [Skill.Trust] ask
// it. A layer with a trust of its own, such as TrustBundled, is not asked about.
//
// Names are kept as written and compared in the form that manifest.Canonical returns. Every string of a skill is foreign
// text: this package limits its size, and a program that prints it to a terminal or puts it into a prompt escapes it there.
//
// Catalogues and entries are immutable and safe for concurrent use. A Skill is safe for concurrent use until it is closed.
package skill
