// Package place has the names of the places of skills. A record, such as an approval, is of the skill with a canonical name in a place: a
// later content in the same place is the same skill, and the skill of that name in another place is another one. A place is a text without
// spaces that has at most one "@". No path of the machine can be read from it:
//
//	installed@<16 digits of a digest>    a version of an installed skill, see package store
//	folder@<32 digits of a hash>         any other folder, such as one of a project
//	mcp@<server>/<skill>                 a skill that an MCP server serves
//	<layer>                              a skill that is in no folder, by the name of its layer: bundled
//
// Each of the first three has one content at a time. A tenant has its own files of records, and its own homes, so places do not name it.
package place

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
)

// Digits are those of a digest that name a version.
const Digits = 16

const (
	version = "installed@"
	folder  = "folder@"
	server  = "mcp@"
)

// Folder returns the place of the skill in a folder. Links that lead to the folder are followed, so it has one place by all its names, and in
// all layers.
func Folder(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return RealFolder(dir)
}

// RealFolder is Folder for a path without links. The folder may be gone.
func RealFolder(dir string) string {
	return fmt.Sprintf("%s%x", folder, sha256.Sum256([]byte(filepath.Clean(dir))))[:len(folder)+32]
}

// IsFolder reports whether a place is that of a folder which is not a version.
func IsFolder(place string) bool { return strings.HasPrefix(place, folder) }

// Version returns the place of the version of an installed skill that was installed with a digest.
func Version(digest string) string {
	hash := strings.TrimPrefix(digest, "sha256:")
	return version + hash[:min(len(hash), Digits)]
}

// IsVersion reports whether a place is that of a version of an installed skill.
func IsVersion(place string) bool { return strings.HasPrefix(place, version) }

// Server returns the place of a skill of an MCP server. path names both.
func Server(path string) string { return server + path }

// IsServer reports whether a place is that of a skill of an MCP server.
func IsServer(place string) bool { return strings.HasPrefix(place, server) }

// OfServer returns the path of the place of a skill of an MCP server, and whether it is one.
func OfServer(place string) (path string, ok bool) { return strings.CutPrefix(place, server) }

// Home returns the name by which the home of the skill in a place is kept. The versions of an installed skill have the same.
func Home(place string) string {
	if IsVersion(place) {
		return "installed"
	}
	return place
}
