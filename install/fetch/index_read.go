package fetch

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/manifest"
)

// schema020 is the $schema of an index of version 0.2.0. An index of version 0.1.0 has none.
const schema020 = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

// Limits of an index.
const (
	maxIndex       = 8 << 20 // bytes
	maxEntries     = 5000
	maxDescription = 8 << 10 // bytes; the format allows 1,024 characters, and whether more is an error is for the check of the skill
	maxParts       = 1000    // files of one entry of version 0.1.0
)

// index is what a site says of its skills.
type index struct {
	skills  []offered
	leftOut []string // what was not read, and why
}

// offered is a skill of an index.
type offered struct {
	name, description string

	// Of version 0.2.0: a SKILL.md or an archive.
	archive bool
	url     string
	digest  string

	// Of version 0.1.0: the URL of each file, by path.
	files map[string]string
}

var (
	indexName   = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	indexDigest = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)
)

// errNoIndex means that a text is not an index, such as the page that a site sends for every path.
var errNoIndex = errors.New("not an index: it is not a JSON object with skills")

// readIndex reads the index that was found at a URL. Unknown fields are ignored. An entry that cannot be used is left out, and so
// is a second one of a name. It returns an error for an index of an unknown version.
func readIndex(text []byte, at *url.URL) (*index, error) {
	var raw struct {
		Schema *string           `json:"$schema"`
		Skills []json.RawMessage `json:"skills"`
	}
	if err := json.Unmarshal(text, &raw); err != nil || raw.Skills == nil {
		return nil, errNoIndex
	}
	if raw.Schema != nil && *raw.Schema != schema020 {
		return nil, fmt.Errorf("the index is of an unknown version: its $schema is %.200q", *raw.Schema)
	}
	if len(raw.Skills) > maxEntries {
		return nil, fmt.Errorf("the index has %d skills, more than the %d that are read", len(raw.Skills), maxEntries)
	}
	x, seen := &index{}, map[string]bool{}
	for i, one := range raw.Skills {
		s, err := readEntry(one, raw.Schema != nil, at)
		if err == nil && seen[s.name] {
			err = errors.New("another one has this name")
		}
		if err != nil {
			x.leftOut = append(x.leftOut, fmt.Sprintf("skill %d of the index, %.64q: %v", i+1, s.name, err))
			continue
		}
		seen[s.name] = true
		x.skills = append(x.skills, s)
	}
	return x, nil
}

// readEntry reads a skill of an index, which is of version 0.2.0 or of 0.1.0.
func readEntry(text []byte, current bool, at *url.URL) (offered, error) {
	var raw struct {
		Name        string   `json:"name"`
		Type        string   `json:"type"`
		Description string   `json:"description"`
		URL         string   `json:"url"`
		Digest      string   `json:"digest"`
		Files       []string `json:"files"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return offered{}, errors.New("it is not an object with texts")
	}
	s := offered{name: raw.Name, description: raw.Description}
	switch {
	case len(s.name) > manifest.MaxName || !indexName().MatchString(s.name) || filename.IsDevice(s.name):
		return s, errors.New("its name is not valid")
	case s.description == "" || len(s.description) > maxDescription:
		return s, fmt.Errorf("its description has not 1 to %d bytes", maxDescription)
	}
	if !current {
		return s, s.listFiles(raw.Files, at)
	}
	if raw.Type != "skill-md" && raw.Type != "archive" {
		return s, fmt.Errorf("its type %.50q is not known", raw.Type)
	}
	if !indexDigest().MatchString(raw.Digest) {
		return s, errors.New("its digest is not sha256: and 64 hexadecimal digits")
	}
	u, err := at.Parse(raw.URL)
	if err != nil || raw.URL == "" {
		return s, errors.New("its URL is not valid")
	}
	if err := checkURL(u); err != nil {
		return s, err
	}
	s.archive, s.url, s.digest = raw.Type == "archive", u.String(), raw.Digest
	return s, nil
}

// listFiles sets the URLs of the files of a skill of version 0.1.0, which lie next to the index.
func (s *offered) listFiles(files []string, at *url.URL) error {
	s.files = map[string]string{}
	if len(files) > maxParts {
		return fmt.Errorf("it has more than %d files", maxParts)
	}
	for _, name := range files {
		for part := range strings.SplitSeq(name, "/") {
			if filename.Unsafe(part) != "" {
				return fmt.Errorf("its file %.100q has no valid path", name)
			}
		}
		u := *at
		u.Path, u.RawPath, u.RawQuery, u.Fragment = path.Join(path.Dir(at.Path), s.name, name), "", "", ""
		s.files[name] = u.String()
	}
	if s.files["SKILL.md"] == "" {
		return errors.New("it has no SKILL.md")
	}
	return nil
}
