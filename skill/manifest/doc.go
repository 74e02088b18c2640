// Package manifest reads, checks and repairs one SKILL.md: bytes in, bytes out. It does not access folders or file
// systems.
//
// # Reading
//
// [Parse] returns the best [Manifest] that a text allows, and every [Problem] of the text. It never fails and never
// returns nil. Values are kept as they are written: the version 1.10 is "1.10". A field that is missing or was dropped
// has its zero value, except for the few that are true by default. [Manifest.Fields] lists every key of the front
// matter with its [Standing], which says whether this build acts on it.
//
// The reader is lenient. A value that YAML would misread, such as a text with a colon, is taken as text. A block that
// is not YAML is dropped, and the others are kept. Each time it reports a problem. It is strict if a field protects the
// user: a broken allowed-tools allows nothing, and so does a manifest that cannot be read at all. Anchors, aliases and
// tags are rejected, and all sizes are limited.
//
// # Problems and profiles
//
// A [Problem] has a stable code, a place, a message and a cure. [Codes] returns the rule of every code. The [Profile]
// decides how bad a problem is: "default" reads leniently; each of the others follows one specification, and treats
// every error as fatal. A skill with a fatal problem cannot be used. A [Report] applies a profile to problems that
// another package finds.
//
// # Repairing
//
// [Fix] repairs those problems in a text that need no decision. It changes nothing else and keeps the meaning of the
// text.
//
// # Names
//
// A name is kept as written and compared in the form that [Canonical] returns. [CheckName] checks whether a name can be
// the name of a skill.
//
// Every string of a manifest is untrusted text. A program that prints it to a terminal or puts it into a prompt must
// escape it. All functions are safe for concurrent use.
package manifest
