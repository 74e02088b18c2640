package house_test

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/deptest"
)

// In script and its internal packages a reader goes down, never up: files that use each other's names form no circle.
func TestFilesOfScriptFormNoCircle(t *testing.T) {
	report(t, checkCircles(module(t)))
}

func TestFilesOfScriptFormNoCircleFindsBreaches(t *testing.T) {
	checkBroken(t, map[string]string{
		"script/a.go":              "package script\ntype T struct{}\nfunc (t T) low() { t.high() }\n",
		"script/b.go":              "package script\nfunc (t T) high() {}\n",
		"script/internal/run/a.go": "package run\nfunc a() { b() }\n",
		"script/internal/run/b.go": "package run\nfunc b() { c() }\n",
		"script/internal/run/c.go": "package run\nfunc c() { a() }\n",
		"script/internal/run/d.go": "package run\nfunc d() { a(); b := 1; _ = b }\n",
		"skill/a.go":               "package skill\nfunc a() { b() }\n",
		"skill/b.go":               "package skill\nfunc b() { a() }\n",
	}, checkCircles, []string{
		"script: a.go, b.go use each other: move what both need to a file below them",
		"script/internal/run: a.go, b.go, c.go use each other: move what both need to a file below them",
	})
}

// checkCircles reports files that use each other. Of methods it knows those with a name of one file.
func checkCircles(m *deptest.Module) (out []string) {
	for _, p := range m.Packages {
		if p.Dir != "script" && !strings.HasPrefix(p.Dir, "script/internal/") {
			continue
		}
		uses := usesOf(p)
		told := map[string]bool{}
		for _, file := range slices.Sorted(maps.Keys(uses)) {
			var circle []string
			for other := range reached(uses, file) {
				if reached(uses, other)[file] {
					circle = append(circle, other)
				}
			}
			if slices.Sort(circle); len(circle) > 0 && !told[circle[0]] {
				told[circle[0]] = true
				out = append(out, fmt.Sprintf("%s: %s use each other: move what both need to a file below them", p.Dir, strings.Join(circle, ", ")))
			}
		}
	}
	return out
}

// reached returns the files that a file uses, and those that these use.
func reached(uses map[string]map[string]bool, from string) map[string]bool {
	out := map[string]bool{}
	next := []string{from}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for other := range uses[at] {
			if !out[other] {
				out[other] = true
				next = append(next, other)
			}
		}
	}
	return out
}

// usesOf returns for each file of a package the others that declare what it names.
func usesOf(p *deptest.Package) map[string]map[string]bool {
	names, methods := map[string]string{}, map[string]string{} // to the files that declare them; "" for several
	note := func(in map[string]string, name, file string) {
		if have, ok := in[name]; ok && have != file {
			file = ""
		}
		in[name] = file
	}
	for _, f := range p.Code() {
		file := path.Base(f.Path)
		for name := range f.Syntax.Scope.Objects {
			note(names, name, file)
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					note(methods, n.Name.Name, file)
				}
			case *ast.Field:
				for _, name := range n.Names {
					methods[name.Name] = "" // a selector may mean the field
				}
			}
			return true
		})
	}
	uses := map[string]map[string]bool{}
	for _, f := range p.Code() {
		file := path.Base(f.Path)
		uses[file] = map[string]bool{}
		use := func(other string) {
			if other != "" && other != file {
				uses[file][other] = true
			}
		}
		for _, name := range f.Syntax.Unresolved {
			use(names[name.Name])
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && !ast.IsExported(sel.Sel.Name) {
				use(methods[sel.Sel.Name])
			}
			return true
		})
	}
	return uses
}
