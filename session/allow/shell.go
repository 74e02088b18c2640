package allow

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// plain reads a shell command and returns its simple commands, word by word. why says what else is in it: a command is
// plain if it has nothing but words without expansion, joined by && || ; | and line breaks.
func plain(text string) (commands [][]string, why string) {
	list, why := read(text, false)
	for _, c := range list {
		var out []string
		for _, w := range c {
			out = append(out, w[0])
		}
		commands = append(commands, out)
	}
	return commands, why
}

// read is plain for patterns, too: with stars, a star outside of quotes splits a word.
func read(text string, stars bool) (commands [][]word, why string) {
	if why := unreadable(text); why != "" {
		return nil, why
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, fmt.Sprintf("the command cannot be read: %.200s", strings.TrimPrefix(err.Error(), ":"))
	}
	r := &reader{stars: stars}
	syntax.Walk(f, r.node)
	if r.why == "" && len(r.commands) == 0 {
		return nil, "there is no command"
	}
	return r.commands, r.why
}

// unreadable says why a text is not read at all. Characters that a person cannot see or that a shell may take for a space
// are refused.
func unreadable(text string) string {
	if len(text) > maxCommand {
		return fmt.Sprintf("the command has more than %d bytes", maxCommand)
	}
	if !utf8.ValidString(text) {
		return "the command is not valid UTF-8"
	}
	// Where a line goes on in the next one, the parser and bash agree except in comments and after another backslash.
	if strings.Contains(text, "\\\n") && (strings.Contains(text, "#") || strings.Contains(text, "\\\\\n")) {
		return "a line of the command goes on in the next one, beside a # or a backslash; write it as one line"
	}
	for _, r := range text {
		hidden := r > 0x7e && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r))
		if r < ' ' && r != '\n' && r != '\t' || hidden {
			return fmt.Sprintf("the command has the invisible character %U", r)
		}
	}
	return ""
}

// reader collects the simple commands of a syntax tree, and stops at the first node that is not in its closed list.
type reader struct {
	stars    bool
	commands [][]word
	why      string
}

func (r *reader) node(n syntax.Node) bool {
	if r.why != "" {
		return false
	}
	switch x := n.(type) {
	case nil, *syntax.File, *syntax.Comment:
	case *syntax.Stmt:
		r.statement(x)
	case *syntax.BinaryCmd: // && || | |&
	case *syntax.Redirect: // statement has looked at it
		return false
	case *syntax.CallExpr:
		r.command(x)
		return false
	default:
		r.why = "the command has " + construct(n) + "; plain commands alone are compared with the rules"
	}
	return r.why == ""
}

func (r *reader) statement(s *syntax.Stmt) {
	switch {
	case s.Background || s.Coprocess || s.Disown:
		r.why = "the command starts a process in the background"
	default:
		if i := slices.IndexFunc(s.Redirs, func(d *syntax.Redirect) bool { return !harmless(d) }); i >= 0 {
			r.why = fmt.Sprintf("the command has a redirection (%s); its output and its errors are returned without one", s.Redirs[i].Op)
		}
	}
}

// harmless reports whether a redirection writes and reads no file: 2>&1, >/dev/null, 2>/dev/null or </dev/null. &> is none of
// them, because some shells take it for two operators.
func harmless(d *syntax.Redirect) bool {
	if d.N != nil && !slices.Contains([]string{"0", "1", "2"}, d.N.Value) || d.Word == nil || d.Hdoc != nil {
		return false
	}
	switch d.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn:
		return d.Word.Lit() == "/dev/null"
	case syntax.DplOut:
		return d.Word.Lit() == "1" || d.Word.Lit() == "2"
	}
	return false
}

func (r *reader) command(c *syntax.CallExpr) {
	if len(c.Assigns) > 0 {
		r.why = "the command sets a variable"
		return
	}
	if len(r.commands) == maxCommands {
		r.why = fmt.Sprintf("the command consists of more than %d commands", maxCommands)
		return
	}
	var out []word
	for _, w := range c.Args {
		one, ok := r.word(w)
		if !ok {
			r.why = "a word of the command is not plain text: the shell may expand it; put it in single quotes"
			if lit, ok := w.Parts[0].(*syntax.Lit); ok && strings.HasPrefix(lit.Value, "~") {
				r.why = "a word of the command begins with ~, which the shell expands; write the whole path"
			}
			return
		}
		out = append(out, one)
	}
	if len(out) == 0 || out[0][0] == "" && len(out[0]) == 1 {
		r.why = "a command has no name"
		return
	}
	r.commands = append(r.commands, out)
}

// word returns the value of a word that no shell expands.
func (r *reader) word(w *syntax.Word) (word, bool) {
	out := word{""}
	for i, part := range w.Parts {
		switch x := part.(type) {
		case *syntax.Lit:
			text := x.Value
			if r.stars {
				if i == 0 && strings.HasPrefix(text, "~/") {
					text = homeMark + text[1:]
				}
				pieces := strings.Split(text, "*")
				out[len(out)-1] += pieces[0]
				out = append(out, pieces[1:]...)
				text = strings.Join(pieces, "")
			} else {
				out[0] += text
			}
			if expands(text, i == 0) {
				return nil, false
			}
		case *syntax.SglQuoted:
			if x.Dollar {
				return nil, false
			}
			out[len(out)-1] += x.Value
		case *syntax.DblQuoted:
			text, ok := quoted(x)
			if !ok {
				return nil, false
			}
			out[len(out)-1] += text
		default:
			return nil, false
		}
	}
	return out, true
}

// expands reports whether a shell may read an unquoted text as something else: a glob, braces, a home folder, an escape,
// the history.
func expands(text string, first bool) bool {
	return strings.ContainsAny(text, "\\*?[]{}!") || strings.Contains(text, "=~") || strings.Contains(text, ":~") ||
		first && (strings.HasPrefix(text, "~") || strings.HasPrefix(text, "="))
}

// quoted returns the text in double quotes in which nothing is expanded.
func quoted(q *syntax.DblQuoted) (string, bool) {
	text := ""
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || strings.ContainsAny(lit.Value, "\\!`") {
			return "", false
		}
		text += lit.Value
	}
	return text, !q.Dollar
}

// construct names a node that a plain command does not have.
func construct(n syntax.Node) string {
	switch n.(type) {
	case *syntax.Subshell, *syntax.Block:
		return "a group in ( ) or { }"
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.TestClause, *syntax.ArithmCmd:
		return "a control structure"
	case *syntax.FuncDecl:
		return "a function"
	case *syntax.TimeClause, *syntax.CoprocClause, *syntax.DeclClause, *syntax.LetClause:
		return "a word of the shell itself"
	}
	return "a construct of the shell"
}
