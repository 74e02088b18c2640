// Package source reads what a user types to say where skills are: "owner/repo", the URL of a repository, of an archive or of
// a site, a folder, an artifact of a registry, or a skill of an MCP server. It opens nothing.
package source

import "strings"

// Kind is the kind of a place that has skills.
type Kind uint8

// The kinds. Each has its own fetcher.
const (
	Git     Kind = iota + 1 // a git repository
	Folder                  // a folder on this machine
	Archive                 // a .tar.gz, .tgz, .zip or .skill file, on this machine or at an https URL
	Index                   // a site with an index below /.well-known
	OCI                     // an artifact in an OCI registry
	Server                  // a skill of an MCP server that the user has named
)

// String returns the kind as the registry and the lock files have it: "git", "local", "archive", "well-known", "oci" or "mcp".
func (k Kind) String() string {
	return [...]string{"unknown", "git", "local", "archive", "well-known", "oci", "mcp"}[k]
}

// KindNamed returns the kind that String returns name for, or 0.
func KindNamed(name string) Kind {
	for k := Git; k <= Server; k++ {
		if k.String() == name {
			return k
		}
	}
	return 0
}

// HasVersions reports whether a place of the kind has versions with names: branches, tags and commits, or tags and digests.
func (k Kind) HasVersions() bool { return k == Git || k == OCI }

// Ref is a place that has one or more skills.
type Ref struct {
	Kind Kind

	// URL is, by kind: the URL of the repository (https, ssh, file or "user@host:path"), the absolute path of a folder,
	// the https URL or the absolute path of an archive, the https URL of a site, "registry/repository" of an artifact, or the label of a
	// server with the name or the path of one of its skills, as "docs/pdf". It has no password.
	URL string

	Path string // slash path of the skill or the folder of skills below the root; "" is the root
	Want string // branch, tag or commit of a repository, tag or digest of an artifact; "" is the default
	Type string // what Want is, if the user said so: "branch", "tag" or "commit"
	Name string // of the one skill that is wanted, from "owner/repo@name"; "" is any

	// Joined says that Want and Path are from one address, and that Want may have more parts, which are the first of Path: see Longer.
	Joined bool
}

// Local reports whether only this machine can reach the place: it is a path, or a server that is named in the settings.
func (r Ref) Local() bool {
	switch r.Kind {
	case Git:
		return strings.HasPrefix(r.URL, "file:")
	case Archive:
		return !strings.Contains(r.URL, "://")
	}
	return r.Kind == Folder || r.Kind == Server
}

// String returns a text that Parse reads as the same place, without Path, Want, Type, Name and Joined.
func (r Ref) String() string {
	return r.Kind.scheme() + r.URL
}

// scheme is what the text of a place begins with and its URL does not.
func (k Kind) scheme() string {
	switch k {
	case OCI:
		return ociScheme
	case Server:
		return serverScheme
	}
	return ""
}

// Of returns the place of a kind whose text is that of Ref.String.
func Of(kind Kind, text string) Ref {
	return Ref{Kind: kind, URL: strings.TrimPrefix(text, kind.scheme())}
}
