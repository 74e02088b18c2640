// Package manifest reads, checks and repairs one SKILL.md: bytes in, bytes out. It knows no folder and no file system.
//
// # Reading
//
// [Parse] returns the best [Manifest] that a text allows, with every [Problem] it has. It never fails and never returns
// nil. Values are kept as they are written: the version 1.10 is "1.10". A field that is missing or was dropped has its zero
// value, except for the few that are true by default. [Manifest.Fields] lists every key of the front matter with its
// [Standing], which says whether this build acts on it.
//
// The reader is lenient. A value that YAML reads as something else, such as a text with a colon, is taken as text; a block
// that is not YAML is dropped, and the others are kept; each time there is a problem that says so. It is strict where a
// field protects the user: a broken allowed-tools allows nothing, and so does a manifest that cannot be read at all.
// Anchors, aliases and tags are refused, and all sizes are bounded.
//
// # Problems and profiles
//
// A [Problem] has a stable code, a place, a message and a cure. [Codes] returns the rule of every code. How bad a problem
// is depends on the [Profile]: "default" reads leniently, the others follow one specification each, and there every error
// is fatal. A skill with a fatal problem cannot be used. A [Report] applies a profile to problems that another package
// finds.
//
// # Repairing
//
// [Fix] repairs in a text what needs no decision. It changes nothing else and does not change what the text means.
//
// # Names
//
// A name is kept as written and compared in the form that [Canonical] returns. [CheckName] says which names a skill can
// have.
//
// Every string of a manifest is foreign text. A program that prints it to a terminal or puts it into a prompt escapes it
// there. All functions are safe for concurrent use.
package manifest
