package hook

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/toolrule"
	"github.com/agent-base/agent-base/session/allow"
)

// maxMatcher is how many bytes a matcher may have.
const maxMatcher = 1024

// Matcher says which calls a hook sees. The zero value is about all calls.
type Matcher struct {
	parts  []part
	regexp *regexp.Regexp // for the names of tools; nil for none
}

// part is one entry of a list.
type part struct {
	tool string      // canonical name; with a final "*" all tools that begin with it
	args *allow.List // which arguments the part is about; nil for any
}

// ParseMatcher reads a matcher in the forms that other hosts have:
//
//   - "" and "*" are about all calls;
//   - Write|Edit and Write, Edit about those two tools, under the names of any host;
//   - Bash(git push:*) about the calls that this rule of a deny list names, see allow.List.Names;
//   - any other text is a regular expression, which matches a part of a name unless it has anchors.
//
// The error says why a matcher is not understood or can match no call. The Matcher is then about all calls, so that no guard is
// left out. o may be nil.
func ParseMatcher(text string, o *allow.Options) (Matcher, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "*" {
		return Matcher{}, nil
	}
	if len(text) > maxMatcher {
		return Matcher{}, fmt.Errorf("the matcher has more than %d bytes", maxMatcher)
	}
	var m Matcher
	listed, exact := true, true // all entries are rules; none has a character that a regular expression reads as more
	for _, entry := range toolrule.SplitAt(text, "|,") {
		p, ok, err := parsePart(strings.TrimSpace(entry), o)
		if err != nil {
			return Matcher{}, err
		}
		if !ok {
			listed = false
			continue
		}
		name, _, _ := strings.Cut(entry, "(")
		exact = exact && !strings.ContainsAny(name, "*.")
		m.parts = append(m.parts, p)
	}
	if listed && exact {
		return m, nil
	}
	re, err := regexp.Compile(text)
	switch {
	case err == nil && canMatch(text):
		m.regexp = re
	case !listed && err != nil:
		return Matcher{}, fmt.Errorf("the matcher %.100q is neither a list of tools nor a regular expression", text)
	case !listed:
		return Matcher{}, fmt.Errorf("the matcher %.100q matches the name of no tool", text)
	}
	return m, nil
}

// parsePart reads an entry of a list. ok is false for a text that is not a rule for a tool.
func parsePart(entry string, o *allow.Options) (p part, ok bool, err error) {
	if _, _, _, ok := toolrule.Cut(entry); !ok {
		return part{}, false, nil
	}
	strict := allow.Options{}
	if o != nil {
		strict = *o
	}
	strict.Forbids = true
	list, problems := allow.Parse([]string{entry}, &strict)
	rules := list.Rules()
	if len(rules) == 0 {
		return part{}, false, nil
	}
	if meant := rules[0].Meant(); meant != "" {
		return part{}, false, fmt.Errorf("the matcher names %.100q, and no tool has that name; did you mean %s?", entry, meant)
	}
	if len(problems) > 0 {
		return part{}, false, fmt.Errorf("in the matcher, %s", problems[0].Message)
	}
	p = part{tool: rules[0].Name()}
	if !rules[0].Bare() {
		p.args = list
	}
	return p, true, nil
}

// Sees reports whether a hook with the matcher sees a call of a tool that has these names.
func (m Matcher) Sees(c allow.Call, names ...string) bool {
	if len(m.parts) == 0 && m.regexp == nil {
		return true
	}
	names = spelled(names)
	for _, p := range m.parts {
		if !slices.ContainsFunc(names, p.names) {
			continue
		}
		if p.args == nil {
			return true
		}
		if _, ok := p.args.Names(c); ok {
			return true
		}
	}
	return m.regexp != nil && slices.ContainsFunc(names, m.regexp.MatchString)
}

// names reports whether the part is about the tool with a name.
func (p part) names(tool string) bool {
	tool = allow.Canonical(tool)
	stem, begins := strings.CutSuffix(p.tool, "*")
	return tool == p.tool || begins && strings.HasPrefix(tool, stem)
}

// spelled returns names with those that Claude Code and the engine have for the same tools.
func spelled(names []string) []string {
	var out []string
	for _, n := range names {
		canonical := allow.Canonical(n)
		out = append(append(out, allow.Spellings(canonical)...), n, canonical)
	}
	return out
}

// canMatch reports whether a regular expression may match a name: one that wants a space or a parenthesis never does.
func canMatch(text string) bool {
	re, err := syntax.Parse(text, syntax.Perl)
	return err == nil && fits(re)
}

func fits(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpNoMatch:
		return false
	case syntax.OpLiteral:
		return !slices.ContainsFunc(re.Rune, func(r rune) bool { return !nameRune(r) })
	case syntax.OpCharClass:
		for r := rune(0); r < 0x80; r++ {
			if nameRune(r) && inClass(re.Rune, r) {
				return true
			}
		}
		return len(re.Rune) > 0 && re.Rune[len(re.Rune)-1] >= 0x80
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !fits(s) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, fits)
	case syntax.OpRepeat:
		return re.Min == 0 || fits(re.Sub[0])
	}
	return true
}

func inClass(ranges []rune, r rune) bool {
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i] <= r && r <= ranges[i+1] {
			return true
		}
	}
	return false
}

// nameRune reports whether a tool's name may have a character.
func nameRune(r rune) bool {
	return r >= 0x80 || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-.:/", r)
}
