package house_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/deptest"
)

// Every package has a comment, and every exported name has one. The comment of a function, a method or a type begins with
// the name.
func TestComments(t *testing.T) {
	report(t, checkComments(module(t)))
}

func TestCommentsFindsBreaches(t *testing.T) {
	checkBroken(t, map[string]string{
		"a/a.go": `// Package a is for the test.
package a

func F() {}

// Something else.
func G() {}

// H is fine.
func H() {}

type T struct{}

func (T) M() {}

func (t *t) M() {}

type t struct{}

const C, D = 1, 2

// The kinds.
const (
	K1 = iota
	K2
)

const (
	L1 = 1 // one
	L2 = 2
)

// A Thing is fine.
type Thing[P any] struct{}

func (*Thing[P]) Do() {}
`,
		"b/b.go":        "package b\n",
		"c/c_test.go":   "package c\n",
		"cmd/x/main.go": "// Command x is fine.\npackage main\n\nfunc Exported() {}\n",
	}, checkComments, []string{
		"a/a.go:12: T has no comment",
		"a/a.go:14: M has no comment",
		"a/a.go:20: C has no comment",
		"a/a.go:20: D has no comment",
		"a/a.go:30: L2 has no comment",
		"a/a.go:36: Do has no comment",
		"a/a.go:4: F has no comment",
		"a/a.go:7: the comment of G does not begin with its name",
		"b: the package has no comment",
	})
}

func checkComments(m *deptest.Module) []string {
	var breaches []string
	for _, p := range m.Packages {
		code := p.Code()
		if len(code) == 0 {
			continue
		}
		if !slices.ContainsFunc(code, func(f *deptest.File) bool { return f.Syntax.Doc != nil }) {
			breaches = append(breaches, p.Dir+": the package has no comment")
		}
		if p.Name == "main" {
			continue
		}
		for _, f := range code {
			for _, decl := range f.Syntax.Decls {
				for _, found := range commentsOf(decl) {
					breaches = append(breaches, m.Position(found.pos)+": "+found.text)
				}
			}
		}
	}
	slices.Sort(breaches)
	return breaches
}

type finding struct {
	pos  token.Pos
	text string
}

func commentsOf(decl ast.Decl) []finding {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && !ast.IsExported(receiver(d)) {
			return nil
		}
		return judgeComment(d.Name, d.Doc, true)
	case *ast.GenDecl:
		var all []finding
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				all = append(all, judgeComment(s.Name, first(s.Doc, d.Doc), s.Doc != nil || !d.Lparen.IsValid())...)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					all = append(all, judgeComment(name, first(s.Doc, s.Comment, d.Doc), false)...)
				}
			}
		}
		return all
	}
	return nil
}

func judgeComment(name *ast.Ident, doc *ast.CommentGroup, named bool) []finding {
	if !name.IsExported() {
		return nil
	}
	if doc == nil {
		return []finding{{name.Pos(), name.Name + " has no comment"}}
	}
	text := doc.Text()
	for _, article := range []string{"A ", "An ", "The "} {
		text = strings.TrimPrefix(text, article)
	}
	if named && !strings.HasPrefix(text, name.Name) {
		return []finding{{name.Pos(), "the comment of " + name.Name + " does not begin with its name"}}
	}
	return nil
}

func first(docs ...*ast.CommentGroup) *ast.CommentGroup {
	for _, doc := range docs {
		if doc != nil {
			return doc
		}
	}
	return nil
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	for {
		switch at := e.(type) {
		case *ast.StarExpr:
			e = at.X
		case *ast.IndexExpr:
			e = at.X
		case *ast.IndexListExpr:
			e = at.X
		case *ast.Ident:
			return at.Name
		default:
			return ""
		}
	}
}
