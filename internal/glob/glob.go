// Package glob matches names and paths with globs that somebody else wrote: a manifest, a project's settings, a model.
//
// It refuses what could take long: the matcher tries the alternatives in braces one by one, so that twenty groups of two
// are a million attempts for one name. Check bounds them before anything is matched. It opens no file. Functions are safe
// for concurrent use; a Set is once nothing is added any more.
package glob

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of a glob and of a Set. What is accepted costs at most MaxAlternatives times the length of the glob times that of the
// name, and all globs of a Set together MaxSet times as much.
const (
	MaxBytes        = 256
	MaxAlternatives = 16 // of all groups together: {a,b}{c,d} has four
	MaxSet          = 64 // globs of a Set, each alternative counted; names without a wildcard are not
)

// ErrTooMany means that a Set holds all the globs that it may.
var ErrTooMany = fmt.Errorf("there are more than %d globs, alternatives counted", MaxSet)

// errSyntax is a glob whose brackets, braces or backslashes do not end.
var errSyntax = errors.New("its brackets do not match")

// Check says why a glob cannot be used, as the rest of a sentence about it; nil means that Match may be asked.
func Check(pattern string) error {
	if len(pattern) > MaxBytes {
		return fmt.Errorf("it has %d bytes, at most %d are allowed", len(pattern), MaxBytes)
	}
	if !doublestar.ValidatePattern(pattern) {
		return errSyntax
	}
	if alternatives(pattern) > MaxAlternatives {
		return fmt.Errorf("its braces stand for more than %d alternatives", MaxAlternatives)
	}
	return nil
}

// Match reports whether a glob that Check has accepted matches a slash path as a whole.
func Match(pattern, name string) bool { return doublestar.MatchUnvalidated(pattern, name) }

// Split divides a glob into the folder before its first wildcard, "." for none, and the rest.
func Split(pattern string) (dir, rest string) { return doublestar.SplitPattern(pattern) }

// alternatives returns how many globs without braces a valid one stands for: groups side by side multiply, groups within
// one another add up. Above MaxAlternatives it is only known to be more.
func alternatives(pattern string) int {
	type level struct{ sum, product int } // of the alternatives that ended, of the groups in the present one
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

// classEnd returns where the class ends that begins at pattern[i].
func classEnd(pattern string, i int) int {
	for i++; i < len(pattern) && pattern[i] != ']'; i++ {
		if pattern[i] == '\\' {
			i++
		}
	}
	return i
}

// Set is globs that are asked about together. Its zero value is empty and matches nothing.
type Set struct {
	names    map[string]bool // without a wildcard
	patterns []string
	weight   int
}

// Add puts a glob into the set. One that cannot be used is left out, with Check's error or ErrTooMany.
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

// Match returns the glob that matches name, and whether there is one. The first that was added counts, after equal names.
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
