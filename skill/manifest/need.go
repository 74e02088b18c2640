package manifest

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/semver"
)

// Need is a skill that another skill requires, and which versions of it will do.
type Need struct {
	Name   string // as written
	Source string // where it can be installed from, as in "owner/repo"; "" if that is not said
	bounds []bound
}

// bound is one condition of a version.
type bound struct{ operator, version string }

// maxNeed is the length of the longest requirement, in bytes.
const maxNeed = 256

// ParseNeed reads an entry of requires-skills: "pdf", "pdf >=1.2 <2" or "owner/repo@pdf =1.4.0". All conditions must hold.
// The operators are =, >, >=, < and <=.
func ParseNeed(text string) (Need, error) {
	words := strings.Fields(text)
	if len(words) == 0 || len(text) > maxNeed {
		return Need{}, fmt.Errorf("it is empty, or has more than %d bytes", maxNeed)
	}
	n := Need{Name: words[0]}
	if i := strings.LastIndexByte(words[0], '@'); i >= 0 {
		n.Source, n.Name = words[0][:i], words[0][i+1:]
		if n.Source == "" || strings.HasPrefix(n.Source, "-") {
			return Need{}, errors.New("nothing stands before the @")
		}
	}
	if err := CheckName(n.Name); err != nil {
		return Need{}, err
	}
	for _, w := range words[1:] {
		version := strings.TrimLeft(w, "<>=")
		b := bound{w[:len(w)-len(version)], version}
		if _, ok := parseVersion(version); !ok {
			return Need{}, fmt.Errorf("%q has no version such as 1.2", w)
		}
		switch b.operator {
		case "=", ">", ">=", "<", "<=":
		default:
			return Need{}, fmt.Errorf("%q does not begin with =, >, >=, < or <=", w)
		}
		n.bounds = append(n.bounds, b)
	}
	return n, nil
}

// String returns the entry without its source, as in "pdf >=1.2 <2".
func (n Need) String() string {
	words := []string{n.Name}
	for _, b := range n.bounds {
		words = append(words, b.operator+b.version)
	}
	return strings.Join(words, " ")
}

// Meets reports whether a version will do. A skill without a version, or with a text that is not a version, meets no condition.
func (n Need) Meets(version string) bool {
	have, ok := parseVersion(version)
	for _, b := range n.bounds {
		want, _ := parseVersion(b.version)
		d := semver.Compare(have, want)
		if !ok || !map[string]bool{"=": d == 0, ">": d > 0, ">=": d >= 0, "<": d < 0, "<=": d <= 0}[b.operator] {
			return false
		}
	}
	return true
}
