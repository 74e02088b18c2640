// Package place has the names of the places of skills. A place and a canonical name say which skill something is recorded of: a later
// content in the same place is the same skill, and the skill of that name in another place is another one. A place names no folder of
// the machine in clear, and is a text without spaces that has at most one "@":
//
//	installed@<16 digits of a digest>    a version of an installed skill, see package store
//	folder@<32 digits of a hash>         any other folder, such as one of a project
//	mcp@<server>/<skill>                 a skill that an MCP server serves
//	<layer>                              what is in no folder, by the name of its layer: bundled
//
// Each of the first three has one content at a time. A tenant has files of their own, so no place in them names one: see For.
package place

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
)

const (
	version = "installed@"
	folder  = "folder@"
	server  = "mcp@"
)

// Folder returns the place of the skill in a folder. Links that lead to the folder are followed, so that it has one place whatever it is
// called; the layers in which it is read do not matter.
func Folder(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return RealFolder(dir)
}

// RealFolder is Folder for the name of a folder that had no links in it, whatever is there now.
func RealFolder(dir string) string {
	return fmt.Sprintf("%s%x", folder, sha256.Sum256([]byte(filepath.Clean(dir))))[:len(folder)+32]
}

// IsFolder reports whether a place is that of a folder of the user's own.
func IsFolder(place string) bool { return strings.HasPrefix(place, folder) }

// Version returns the place of the version of an installed skill that was installed with a digest.
func Version(digest string) string {
	const digits = 16 // as in the store
	hash := strings.TrimPrefix(digest, "sha256:")
	return version + hash[:min(len(hash), digits)]
}

// IsVersion reports whether a place is that of a version of an installed skill.
func IsVersion(place string) bool { return strings.HasPrefix(place, version) }

// Server returns the place of a skill of an MCP server. path names both.
func Server(path string) string { return server + path }

// IsServer reports whether a place is that of a skill of an MCP server.
func IsServer(place string) bool { return strings.HasPrefix(place, server) }

// OfServer returns the path of the place of a skill of an MCP server, and whether it is one.
func OfServer(place string) (path string, ok bool) { return strings.CutPrefix(place, server) }

// For returns a place as that of a tenant, for a worker of several: none has what another one keeps there. "" is no tenant.
func For(tenant, place string) string {
	if tenant == "" {
		return place
	}
	return fmt.Sprintf("%s+%x", place, sha256.Sum256([]byte(tenant)))
}

// Home returns what the skill of a place shares with that of other places in its own home: the versions of an installed skill have one.
func Home(place string) string {
	if _, tenant, _ := strings.Cut(place, "+"); IsVersion(place) {
		return "installed" + tenant
	}
	return place
}
