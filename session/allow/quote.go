package allow

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Quoted returns a command of bash with quotes around the expansions of variables of these names that have none, so that a value with
// a space or a star stays one word: a folder, which is written without quotes where folders have no spaces. A command that cannot be
// read is returned as it is.
func Quoted(command string, names ...string) string {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return command
	}
	var at []uint // places of quotes
	var walk func(syntax.Node) bool
	walk = func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ArithmExp, *syntax.ArithmCmd:
			return false
		case *syntax.Redirect: // the text of a here-document is not split
			if n.Hdoc != nil {
				return false
			}
		case *syntax.DblQuoted:
			for _, part := range n.Parts {
				if s, ok := part.(*syntax.CmdSubst); ok {
					syntax.Walk(s, walk)
				}
			}
			return false
		case *syntax.ParamExp:
			if n.Param != nil && slices.Contains(names, n.Param.Value) {
				at = append(at, n.Pos().Offset(), n.End().Offset())
			}
			return false
		}
		return true
	}
	syntax.Walk(f, walk)
	slices.Sort(at)
	for _, i := range slices.Backward(at) {
		command = command[:i] + `"` + command[i:]
	}
	return command
}
