package pyenv

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// specifier is one condition on a version, such as ">=3.9" or "==3.12.*" (PEP 440).
type specifier struct {
	op      string
	release []int // the numbers of the version
	any     bool  // ends in ".*"
}

var specifierForm = lazyregexp.New(`^(~=|===|==|!=|<=|>=|<|>)[ \t]*v?((?:[0-9]{1,6}!)?([0-9]{1,9}(?:\.[0-9]{1,9}){0,9})(?:[-_.]?[a-z]{1,8}[-_.]?[0-9]{0,9}){0,3}(?:-[0-9]{1,9})?(?:\+[a-z0-9._-]{1,64})?)(\.\*)?$`)

// parseSpecifiers reads conditions with commas between them. No condition is valid too.
func parseSpecifiers(s string) ([]specifier, error) {
	var out []specifier
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		part = strings.ToLower(strings.TrimSpace(part))
		if part == "" {
			continue // a comma at the end
		}
		found := specifierForm().FindStringSubmatch(part)
		if found == nil {
			return nil, fmt.Errorf("%q is not a condition on a version, such as \">=3.9\"", part)
		}
		sp := specifier{op: found[1], any: found[4] != ""}
		if sp.any && sp.op != "==" && sp.op != "!=" {
			return nil, fmt.Errorf("%q: .* goes with == and != alone", part)
		}
		for n := range strings.SplitSeq(found[3], ".") {
			v, err := strconv.Atoi(n)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", part, err)
			}
			sp.release = append(sp.release, v)
		}
		if sp.op == "~=" && len(sp.release) < 2 {
			return nil, fmt.Errorf("%q: ~= needs a version of two numbers at least", part)
		}
		out = append(out, sp)
	}
	return out, nil
}

// satisfies reports whether the release of an interpreter fulfils all conditions. Only release numbers count: 3.14.0rc1 is
// 3.14.0.
func satisfies(version string, all []specifier) bool {
	var v []int
	for n := range strings.SplitSeq(version, ".") {
		i, err := strconv.Atoi(n)
		if err != nil {
			return false
		}
		v = append(v, i)
	}
	return !slices.ContainsFunc(all, func(s specifier) bool { return !s.holds(v) })
}

func (s specifier) holds(v []int) bool {
	c := compareReleases(v, s.release)
	switch s.op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	case "~=":
		return c >= 0 && samePrefix(v, s.release[:len(s.release)-1])
	case "!=":
		return !(c == 0 || s.any && samePrefix(v, s.release))
	}
	return c == 0 || s.any && samePrefix(v, s.release)
}

// compareReleases orders release numbers; missing ones count as 0.
func compareReleases(a, b []int) int {
	for i := range max(len(a), len(b)) {
		if c := cmp.Compare(number(a, i), number(b, i)); c != 0 {
			return c
		}
	}
	return 0
}

func number(v []int, i int) int {
	if i < len(v) {
		return v[i]
	}
	return 0
}

func samePrefix(v, prefix []int) bool {
	return compareReleases(v[:min(len(v), len(prefix))], prefix) == 0
}

// Satisfies reports whether a version, such as "22.6.0", fulfils conditions, such as ">=22.6,<23". The error is about the
// conditions.
func Satisfies(version, conditions string) (bool, error) {
	specs, err := parseSpecifiers(conditions)
	return err == nil && satisfies(version, specs), err
}
