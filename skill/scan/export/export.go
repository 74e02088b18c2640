// Package export writes what a scan found in the formats of other programs: SARIF for findings, CycloneDX for packages; and it compares
// packages with advisories in the form of OSV. It reads and writes no file.
package export

import (
	"path"
	"strings"

	"github.com/agent-base/agent-base/skill/scan"
)

// Tool says what made a document.
type Tool struct{ Name, Version, Address string }

// Skill is a skill with what was found of it.
type Skill struct {
	Name   string
	Path   string // slash path of its folder, "" for none: places are below it
	Report *scan.Report
}

// address returns the place of a file as a relative address, with the members of archives after "!".
func (s *Skill) address(p scan.Place) string {
	base := strings.TrimLeft(path.Clean("/"+s.Path), "/")
	if strings.HasPrefix(s.Path, "/") || strings.HasPrefix(path.Clean(s.Path), "..") {
		base = s.Name // nothing of the machine is in a document that is handed on
	}
	name := path.Join(base, p.File)
	for _, inside := range p.Inside {
		name += "!" + inside
	}
	return escape(name)
}

// escape writes a path as a part of an address.
func escape(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~/!@+", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		const hexadecimal = "0123456789ABCDEF"
		b.Write([]byte{'%', hexadecimal[c>>4], hexadecimal[c&15]})
	}
	return b.String()
}
