// Package glob matches names and paths against globs from untrusted sources: manifests, settings of projects, models.
//
// It refuses globs that take long to match. The matcher tries the alternatives in braces one by one, so twenty groups of
// two mean a million attempts for one name. Check bounds them before a match. The package opens no files. Functions are
// safe for concurrent use; a Set is safe for concurrent use after the last Add.
package glob

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of a glob and of a Set. Matching an accepted glob costs at most MaxAlternatives times the length of the glob times
// the length of the name; matching a Set costs at most MaxSet times as much.
const (
	MaxBytes        = 256
	MaxAlternatives = 16 // in all groups together: {a,b}{c,d} has four
	MaxSet          = 64 // globs in a Set; each alternative counts, and names without a wildcard do not
)

// ErrTooMany is returned by Add for a Set that has MaxSet globs.
var ErrTooMany = fmt.Errorf("more than %d globs, counting alternatives", MaxSet)

// errSyntax is the error for unbalanced brackets or braces, or a backslash at the end.
var errSyntax = errors.New("syntax error: unbalanced brackets")

// Check returns an error for a glob that Match must not be called with.
func Check(pattern string) error {
	if len(pattern) > MaxBytes {
		return fmt.Errorf("%d bytes, more than %d", len(pattern), MaxBytes)
	}
	if !doublestar.ValidatePattern(pattern) {
		return errSyntax
	}
	if alternatives(pattern) > MaxAlternatives {
		return fmt.Errorf("more than %d alternatives in braces", MaxAlternatives)
	}
	return nil
}

// Match reports whether a glob matches a whole slash path. Check must have accepted the glob.
func Match(pattern, name string) bool { return doublestar.MatchUnvalidated(pattern, name) }

// Split splits a glob into the folder before its first wildcard, or ".", and the rest.
func Split(pattern string) (dir, rest string) { return doublestar.SplitPattern(pattern) }

// alternatives returns how many globs without braces a valid glob stands for. The counts of adjacent groups are multiplied,
// those of alternatives are added. A result above MaxAlternatives is not exact.
func alternatives(pattern string) int {
	type level struct{ sum, product int } // sum: of finished alternatives; product: of groups in the current one
	at, outer := level{0, 1}, []level{}
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(pattern, i)
		case '{':
			outer = append(outer, at)
			at = level{0, 1}
		case ',':
			if len(outer) > 0 {
				at = level{bounded(at.sum + at.product), 1}
			}
		case '}':
			group := bounded(at.sum + at.product)
			at = outer[len(outer)-1]
			at.product, outer = bounded(at.product*group), outer[:len(outer)-1]
		}
	}
	return at.product
}

func bounded(n int) int { return min(n, MaxAlternatives+1) }

// classEnd returns the index of the end of the class that begins at pattern[i].
func classEnd(pattern string, i int) int {
	for i++; i < len(pattern) && pattern[i] != ']'; i++ {
		if pattern[i] == '\\' {
			i++
		}
	}
	return i
}

// Set is a set of globs. The zero value is empty and matches nothing.
type Set struct {
	names    map[string]bool // globs without a wildcard
	patterns []string
	weight   int
}

// Add adds a glob to the set. It does not add an unusable glob and returns the error of Check or ErrTooMany.
func (s *Set) Add(pattern string) error {
	if err := Check(pattern); err != nil {
		return err
	}
	if !strings.ContainsAny(pattern, `*?[]{}\`) {
		if s.names == nil {
			s.names = map[string]bool{}
		}
		s.names[pattern] = true
		return nil
	}
	n := alternatives(pattern)
	if s.weight+n > MaxSet {
		return ErrTooMany
	}
	s.patterns, s.weight = append(s.patterns, pattern), s.weight+n
	return nil
}

// Match returns a glob that matches name, and whether there is one. It prefers a glob that equals name, and then the one
// that was added first.
func (s *Set) Match(name string) (pattern string, ok bool) {
	if s.names[name] {
		return name, true
	}
	for _, p := range s.patterns {
		if Match(p, name) {
			return p, true
		}
	}
	return "", false
}
