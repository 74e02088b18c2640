// Package skill is the domain: what a skill is, where skills come from and which of them count.
//
// A skill is a folder with a SKILL.md: YAML front matter, then instructions for a model. The
// package reads such folders and never runs anything of them.
//
//   - [manifest.Parse] turns the text of a SKILL.md into a [manifest.Manifest] and every [manifest.Problem] it has. It never
//     fails: a damaged manifest is repaired as far as it can be, and the problems say what was done.
//   - A [Source] yields the skills of one place: [Dir] a folder on disk, [FS] a file system such as
//     an embedded one.
//   - [Open] merges layers of sources by precedence into a [Catalog], an immutable snapshot.
//     [Catalog.Refresh] returns a new one that reads again only what changed.
//   - An [Entry] is one skill of a catalogue; [Entry.Load] opens it as a [Skill] with its files.
//
// Names are kept as written and compared in canonical form, see [manifest.Canonical].
//
// Every string of a skill is foreign text. This package limits its size and refuses what cannot
// be text; whoever prints it to a terminal or into a prompt escapes it there.
//
// Catalogues, entries and manifests are immutable and safe for concurrent use. A Skill is safe
// for concurrent use until it is closed.
package skill
