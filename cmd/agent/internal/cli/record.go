package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/skill"
)

// record is a skill in the output of list and show, and the first part of info's (R61).
type record struct {
	Name        string   `json:"name"`
	Canonical   string   `json:"name_canonical"`
	Version     string   `json:"version"`
	Description string   `json:"description"`
	State       string   `json:"state"`
	Reason      string   `json:"reason,omitempty"`
	Enabled     bool     `json:"enabled"` // what the user's files and the manifest wish (C22)
	Active      bool     `json:"active"`  // what is so in this run
	SHA         string   `json:"sha,omitempty"`
	Source      string   `json:"source"`
	Path        string   `json:"path"` // below the source's root
	Priority    int      `json:"priority"`
	Tags        []string `json:"tags,omitempty"`
}

func (a *app) record(e skill.Entry) record {
	return record{
		Name: e.Name(), Canonical: e.Canonical(), Version: e.Version(), Description: e.Description(),
		State: e.State().String(), Reason: e.Reason(), Enabled: a.wished(e), Active: isActive(e),
		Source: e.Layer(), Path: e.Path(), Priority: e.Priority(), Tags: e.Tags(),
	}
}

// isActive reports whether a skill can be used in this run, if only by a person.
func isActive(e skill.Entry) bool {
	return e.State() == skill.StateEnabled || e.State() == skill.StateHidden
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// count returns a number with its noun: "1 script", "2 scripts".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// short cuts a digest to the eight characters that people are shown (R155).
func short(digest string) string {
	digest = strings.TrimPrefix(digest, dirhash.Prefix)
	return digest[:min(8, len(digest))]
}

// digest returns the digest of a skill's whole content. It reads every file.
func digest(ctx context.Context, s *skill.Skill) (string, error) {
	sum, err := dirhash.Dir(ctx, s.FS(), nil)
	return sum.Digest, err
}
