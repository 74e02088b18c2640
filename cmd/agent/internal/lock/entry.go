package lock

import (
	"net/url"
	"path"
	"strings"

	"github.com/agent-base/agent-base/install/source"
)

// NewEntry returns the entry of a skill that was installed from ref: dir is the slash path of its folder below the root of the
// place, and hash the Hash of its files.
func NewEntry(ref *source.Ref, dir, hash string) Entry {
	e := Entry{Source: ref.URL, Ref: ref.Want, ComputedHash: hash, SkillPath: path.Join(dir, "SKILL.md")}
	switch ref.Kind {
	case source.Git:
		e.SourceType, e.Source, e.SourceURL = repository(ref.URL)
	case source.Folder:
		e.SourceType, e.SkillPath = "local", "" // the program that shares the file looks for the name there
	case source.Archive:
		e.SourceType = download
	case source.Index:
		e.SourceType, e.SourceURL, e.SkillPath = "well-known", ref.URL, ""
	default:
		e.SourceType = ref.Kind.String()
	}
	return e
}

// isPath reports whether the source is a folder or an archive of this machine.
func (e *Entry) isPath() bool {
	return e.SourceType == "local" || e.SourceType == download && !strings.Contains(e.Source, "://")
}

// download is the type of an archive.
const download = "download"

// repository returns the type and the source of a repository, and its URL unless the source has it.
func repository(address string) (kind, from, at string) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return "git", address, address
	}
	switch u.Hostname() {
	case "github.com":
		return "github", strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git"), ""
	case "gitlab.com":
		return "gitlab", address, address
	}
	return "git", address, address
}
