// Package skilluri has the grammar of the addresses by which MCP servers publish skills: skill://NAME/FILE. Its functions are pure.
package skilluri

import (
	"io/fs"
	"net/url"
	"strings"
)

// Scheme begins every address.
const Scheme = "skill://"

// Manifest is the file that stands for a skill.
const Manifest = "SKILL.md"

// Of returns the address of a file of a skill, or of the skill's folder for ".".
func Of(name, file string) string {
	if file == "." {
		return Scheme + name
	}
	parts := strings.Split(file, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return Scheme + name + "/" + strings.Join(parts, "/")
}

// Parse returns the skill and the file that an address names; the file is "." for the skill's folder. It reports false for every address
// that Of does not return: two addresses never name the same file.
func Parse(uri string) (name, file string, ok bool) {
	rest, ok := strings.CutPrefix(uri, Scheme)
	if !ok {
		return "", "", false
	}
	name, escaped, below := strings.Cut(rest, "/")
	if file = "."; below {
		var err error
		if file, err = url.PathUnescape(escaped); err != nil || file == "." {
			return "", "", false
		}
	}
	if name == "" || !fs.ValidPath(file) || Of(name, file) != uri {
		return "", "", false
	}
	return name, file, true
}
