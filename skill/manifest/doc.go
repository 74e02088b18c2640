// Package manifest reads and repairs one SKILL.md: bytes in, bytes out. It knows no folder and no file system.
//
// [Parse] returns the best [Manifest] that a text allows, with every [Problem] it has. [Fix] mends what can be mended
// without a decision. A [Profile] says how bad each problem is; [Codes] lists them all.
package manifest
