package lock

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lockfile"
)

// userVersion is the oldest version of a user's list that has what is needed.
const userVersion = 3

// ReadUser reads the list of the skills that the npm program "skills" or the GitHub command line installed for a user:
// ~/.agents/.skill-lock.json, or skills/.skill-lock.json in the user's state folder. It returns nothing for a missing file, and
// for a list of a version before 3, as those programs do. The skills are sorted by name. The error may be ErrCorrupt.
func ReadUser(path string) ([]Skill, error) {
	content, err := lockfile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list struct {
		Version float64 `json:"version"`
		Skills  map[string]struct {
			Source          string `json:"source"`
			SourceType      string `json:"sourceType"`
			SourceURL       string `json:"sourceUrl"`
			Ref             string `json:"ref"`
			SkillPath       string `json:"skillPath"`
			SkillFolderHash string `json:"skillFolderHash"`
			PinnedRef       string `json:"pinnedRef"`
		} `json:"skills"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(content, []byte(byteOrderMark)), &list); err != nil {
		return nil, fmt.Errorf("%q is %w (%w)", path, ErrCorrupt, err)
	}
	if list.Version < userVersion {
		return nil, nil
	}
	var out []Skill
	for _, name := range slices.Sorted(maps.Keys(list.Skills)) {
		e := list.Skills[name]
		k := Skill{Name: name, Type: e.SourceType, Source: e.SourceURL, Ref: e.Ref, Path: folder(e.SkillPath), Tree: e.SkillFolderHash}
		if k.Source == "" {
			k.Source = e.Source
		}
		if len(k.Tree) == sha256.Size*2 { // of a folder that is not in a repository
			k.Hash, k.Tree = k.Tree, ""
		}
		if e.PinnedRef != "" {
			k.Ref, k.Pinned = shortRef(e.PinnedRef), true
		}
		out = append(out, k)
	}
	return out, nil
}

// FromManifest returns what the GitHub command line recorded in the metadata of a skill's manifest, and whether it did.
func FromManifest(name string, metadata map[string]string) (Skill, bool) {
	k := Skill{Name: name, Type: "github", Source: metadata["github-repo"], Ref: shortRef(metadata["github-ref"]),
		Path: folder(metadata["github-path"]), Tree: metadata["github-tree-sha"]}
	switch pin := metadata["github-pinned"]; pin {
	case "", "false":
	case "true":
		k.Pinned = true
	default:
		k.Ref, k.Pinned = shortRef(pin), true
	}
	if k.Source != "" {
		return k, true
	}
	if dir := metadata["local-path"]; dir != "" {
		return Skill{Name: name, Type: "local", Source: dir}, true
	}
	return Skill{}, false
}

// shortRef returns the branch or tag of a full reference, such as refs/tags/v1.
func shortRef(ref string) string {
	for _, prefix := range []string{"refs/heads/", "refs/tags/"} {
		if short, ok := strings.CutPrefix(ref, prefix); ok {
			return short
		}
	}
	return ref
}
