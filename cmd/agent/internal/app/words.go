package app

import (
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/skill"
)

// IsActive reports whether a skill can be used in this run, at least by a person.
func IsActive(e skill.Entry) bool {
	return e.State() == skill.StateEnabled || e.State() == skill.StateHidden
}

// OrDash returns s, or a dash if s is empty.
func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Count returns a number with its noun: "1 script", "2 scripts".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Short cuts a digest to the eight characters that people are shown.
func Short(digest string) string {
	digest = strings.TrimPrefix(digest, dirhash.Prefix)
	return digest[:min(8, len(digest))]
}
