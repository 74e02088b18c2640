package house_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/deptest"
)

// fixed lists the calls whose results a package variable may hold: immutable values, and those that are made once, on first use.
var fixed = []string{"sync.OnceValue", "sync.OnceValues", "errors.New", "regexp.MustCompile", "lazyregexp.New", "strings.NewReplacer", "regexp.MustCompilePOSIX", "fmt.Errorf"}

// reforms lists the calls that only convert a text: their results count as literals.
var reforms = []string{"json.RawMessage", "strings.Fields"}

// excused lists the package variables that the rule below misjudges, with the reason why they never change.
var excused = map[string]string{
	"cmd/agent/internal/protect.hidden": "its initialiser hides the process's keys and must run before main; nothing reads or writes it",

	"script/confine/internal/stage.ran": "its initialiser is the whole work of a process that is a stage; nothing reads or writes it",

	"internal/walk.how": "the kernel reads it through a pointer; nothing writes to it",
}

// There are no init functions and no mutable package variables: two instances in one process do not affect each other.
//
// A package variable is a sentinel, a compiled pattern, an embedded file, or a literal that its package never writes to.
// Other packages can write to an exported variable, so it must be one of the first three.
func TestNoPackageState(t *testing.T) {
	report(t, checkState(module(t)))
}

func TestNoPackageStateFindsBreaches(t *testing.T) {
	checkBroken(t, map[string]string{
		"skill/a.go": `package skill
import (
	"embed"
	"errors"
	"regexp"
	"sync"
)
//go:embed x
var files embed.FS
var ErrX = errors.New("x")
var word = regexp.MustCompile("x")
var _ error = (*T)(nil)
var table = map[string][]int{"a": {1}}
var counts = map[string]int{}
var total = 0
var pointed = 1
var cache sync.Map
var lock = sync.Mutex{}
var hook func()
var made = make(map[string]int)
var Rules = []string{"a"}
const c = 1
type T struct{}
func init() {}
func (T) init() {}
func f() {
	counts["a"]++
	total = 2
	p := &pointed
	delete(counts, "a")
	table := map[string]int{}
	table["a"] = 1
}`,
	}, checkState, []string{
		"skill/a.go:14: counts is written to: keep it in a value",
		"skill/a.go:15: total is written to: keep it in a value",
		"skill/a.go:16: pointed is written to: keep it in a value",
		"skill/a.go:17: cache is a package variable that can change: keep it in a value",
		"skill/a.go:18: lock is a package variable that can change: keep it in a value",
		"skill/a.go:19: hook is a package variable that can change: keep it in a value",
		"skill/a.go:20: made is a package variable that can change: keep it in a value",
		"skill/a.go:21: Rules can be changed by every importer: return a copy from a function",
		"skill/a.go:24: init functions make the import order part of the behaviour",
	})
}

func checkState(m *deptest.Module) []string {
	var breaches []string
	for _, p := range m.Packages {
		if forTests(p.Dir) {
			continue
		}
		written := writtenIn(p)
		for _, f := range p.Code() {
			for _, decl := range f.Syntax.Decls {
				breaches = append(breaches, stateOf(m, p, decl, written)...)
			}
		}
	}
	slices.Sort(breaches)
	return breaches
}

func stateOf(m *deptest.Module, p *deptest.Package, decl ast.Decl, written map[string]bool) []string {
	var breaches []string
	if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
		breaches = append(breaches, m.Position(fn.Pos())+": init functions make the import order part of the behaviour")
	}
	group, ok := decl.(*ast.GenDecl)
	if !ok || group.Tok != token.VAR {
		return breaches
	}
	for _, spec := range group.Specs {
		v := spec.(*ast.ValueSpec)
		for i, name := range v.Names {
			var value ast.Expr
			if i < len(v.Values) {
				value = v.Values[i]
			}
			_, isExcused := excused[p.Dir+"."+name.Name]
			if name.Name == "_" || isExcused || isEmbed(group, v) {
				continue
			}
			if breach := judgeVariable(name.Name, value, written); breach != "" {
				breaches = append(breaches, m.Position(name.Pos())+": "+name.Name+" "+breach)
			}
		}
	}
	return breaches
}

func judgeVariable(name string, value ast.Expr, written map[string]bool) string {
	switch {
	case written[name]:
		return "is written to: keep it in a value"
	case isFixedCall(value):
		return ""
	case !isLiteral(value):
		return "is a package variable that can change: keep it in a value"
	case ast.IsExported(name):
		return "can be changed by every importer: return a copy from a function"
	}
	return ""
}

func isEmbed(group *ast.GenDecl, v *ast.ValueSpec) bool {
	for _, doc := range []*ast.CommentGroup{group.Doc, v.Doc} {
		if doc == nil {
			continue
		}
		for _, line := range doc.List {
			if strings.HasPrefix(line.Text, "//go:embed ") {
				return true
			}
		}
	}
	return false
}

func isFixedCall(e ast.Expr) bool {
	if s, ok := e.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Err") { // a sentinel of another package
		return true
	}
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	return slices.Contains(fixed, fmt.Sprintf("%s.%s", s.X, s.Sel))
}

// isLiteral reports whether a value is a literal. Locks and other values of package sync are not: they are mutable.
func isLiteral(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit, *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return true
	case *ast.UnaryExpr:
		return e.Op != token.ARROW && isLiteral(e.X)
	case *ast.BinaryExpr:
		return isLiteral(e.X) && isLiteral(e.Y)
	case *ast.CallExpr:
		s, ok := e.Fun.(*ast.SelectorExpr)
		return ok && slices.Contains(reforms, fmt.Sprintf("%s.%s", s.X, s.Sel)) && len(e.Args) == 1 && isLiteral(e.Args[0])
	case *ast.CompositeLit:
		s, ok := e.Type.(*ast.SelectorExpr)
		return !ok || (fmt.Sprint(s.X) != "sync" && fmt.Sprint(s.X) != "atomic")
	}
	return false
}

// writtenIn returns the names of package variables that the package assigns to, changes in place or takes the address
// of.
func writtenIn(p *deptest.Package) map[string]bool {
	written := map[string]bool{}
	mark := func(e ast.Expr) {
		if id := rootOf(e); id != nil && isPackageLevel(p, id) {
			written[id.Name] = true
		}
	}
	for _, f := range p.Code() {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					mark(e)
				}
			case *ast.IncDecStmt:
				mark(n.X)
			case *ast.UnaryExpr:
				if _, isLit := n.X.(*ast.CompositeLit); n.Op == token.AND && !isLit {
					mark(n.X)
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && slices.Contains([]string{"delete", "clear", "copy"}, id.Name) {
					mark(n.Args[0])
				}
			}
			return true
		})
	}
	return written
}

// rootOf returns x of x, x.f, x[i], *x and combinations of them.
func rootOf(e ast.Expr) *ast.Ident {
	for {
		switch at := e.(type) {
		case *ast.Ident:
			return at
		case *ast.SelectorExpr:
			e = at.X
		case *ast.IndexExpr:
			e = at.X
		case *ast.StarExpr:
			e = at.X
		case *ast.ParenExpr:
			e = at.X
		default:
			return nil
		}
	}
}

// isPackageLevel reports whether a name is not a local variable. The parser resolves local variables, and package
// variables of the same file, to their declarations. It leaves names of other files unresolved.
func isPackageLevel(p *deptest.Package, id *ast.Ident) bool {
	if id.Obj == nil {
		return true
	}
	for _, f := range p.Code() {
		if f.Syntax.Scope.Lookup(id.Name) == id.Obj {
			return true
		}
	}
	return false
}
