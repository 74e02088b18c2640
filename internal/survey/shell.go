package survey

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/shellsyntax"
)

// shell is a shell script that is examined.
type shell struct{ source string }

func newShell(text []byte) *shell {
	return &shell{strings.ToValidUTF8(string(text[:min(len(text), MaxText)]), "\ufffd")}
}

// word returns a word without its quotes. What is replaced in it stays as it is written.
func (s *shell) word(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	return s.parts(w.Parts)
}

func (s *shell) parts(list []syntax.WordPart) string {
	text := ""
	for _, part := range list {
		switch p := part.(type) {
		case *syntax.Lit:
			text += strings.ReplaceAll(p.Value, `\`, "")
		case *syntax.SglQuoted:
			text += p.Value
		case *syntax.DblQuoted:
			text += s.parts(p.Parts)
		default:
			text += s.source[min(int(p.Pos().Offset()), len(s.source)):min(int(p.End().Offset()), len(s.source))]
		}
	}
	return text
}

func (s *shell) words(list []*syntax.Word) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = s.word(w)
	}
	return out
}

// knows reports whether the script compares its arguments with a flag, or has it in the pattern of a case. With bare, a flag that takes the
// next argument does not count.
func (s *shell) knows(flag string, bare bool) bool {
	found := false
	note := func(is bool, after syntax.Pos) {
		found = found || is && !(bare && takesNext(s.source[min(int(after.Offset()), len(s.source)):]))
	}
	shellsyntax.Walk(s.source, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CaseClause:
			for _, item := range n.Items {
				if last := len(item.Patterns) - 1; last >= 0 {
					note(slices.Contains(s.words(item.Patterns), flag), item.Patterns[last].End())
				}
			}
		case *syntax.BinaryTest:
			if x, ok := n.X.(*syntax.Word); ok {
				y, _ := n.Y.(*syntax.Word)
				note(isCompared(s.word(x), n.Op.String(), s.word(y), flag), n.End())
			}
		case *syntax.CallExpr:
			words := s.words(n.Args)
			for i := 1; i+2 < len(words) && (words[0] == "[" || words[0] == "test"); i++ {
				note(isCompared(words[i], words[i+1], words[i+2], flag), n.End())
			}
		}
		return !found
	})
	return found
}

// isCompared reports whether an argument is compared with a flag: "$1" = --json, $1 =~ ^(-j|--json)$.
func isCompared(x, operator, y, flag string) bool {
	if !strings.HasPrefix(strings.TrimLeft(x, " "), "$") {
		return false
	}
	return operator == "=~" && strings.Contains(y, flag) || slices.Contains([]string{"=", "==", "!="}, operator) && strings.Trim(y, "* ") == flag
}

var (
	branchEnd = lazyregexp.New(`;;|;&|\b(?:elif|fi|esac)\b`)
	next      = lazyregexp.New(`\$\{?2|\bshift 2`)
)

// takesNext reports whether the part of a script after a flag takes the next argument.
func takesNext(after string) bool {
	after = after[:min(len(after), 200)]
	if end := branchEnd().FindStringIndex(after); end != nil {
		after = after[:end[0]]
	}
	return next().MatchString(after)
}

// getopts reports whether the script calls getopts.
func (s *shell) getopts() bool {
	found := false
	shellsyntax.Walk(s.source, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		found = found || ok && len(c.Args) > 1 && s.word(c.Args[0]) == "getopts"
		return !found
	})
	return found
}
