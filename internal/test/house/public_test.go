package house_test

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/deptest"
)

// What a program can import names no type that it cannot import: no field, parameter or result is of an internal package. A type
// of one gets an alias, and a comment that says what it has.
func TestPublicTypes(t *testing.T) {
	report(t, checkPublicTypes(module(t)))
}

func TestPublicTypesFindsBreaches(t *testing.T) {
	checkBroken(t, map[string]string{
		"a/a.go": `// Package a is for the test.
package a

import (
	"example.com/m/internal/x"
	other "example.com/m/internal/y"
)

type T struct {
	F []x.T
	g x.T
}

type Alias = x.T

type I interface{ M(*other.T) }

type t struct{ F x.T }

func F() (x.T, error) { return x.T{}, nil }

func f() x.T { return x.T{} }

func (T) M(map[string]x.T) {}

func (t) M(x.T) {}

var V x.T

const C = x.C
`,
		"internal/b/b.go": "package b\n\nimport \"example.com/m/internal/x\"\n\nfunc F() x.T\n",
		"cmd/c/c.go":      "package main\n\nimport \"example.com/m/internal/x\"\n\nfunc F() x.T\n",
	}, checkPublicTypes, []string{
		"a/a.go:10: x.T is of an internal package",
		"a/a.go:16: other.T is of an internal package",
		"a/a.go:20: x.T is of an internal package",
		"a/a.go:24: x.T is of an internal package",
		"a/a.go:28: x.T is of an internal package",
	})
}

func checkPublicTypes(m *deptest.Module) []string {
	var breaches []string
	for _, p := range m.Packages {
		if p.Name == "main" || slices.ContainsFunc(strings.Split(p.Dir, "/"), func(dir string) bool { return dir == "internal" }) {
			continue
		}
		for _, f := range p.Code() {
			hidden := internalImports(f.Syntax)
			for _, decl := range f.Syntax.Decls {
				for _, x := range publicParts(decl) {
					ast.Inspect(x, func(n ast.Node) bool {
						if s, ok := n.(*ast.SelectorExpr); ok {
							if of, ok := s.X.(*ast.Ident); ok && hidden[of.Name] {
								breaches = append(breaches, m.Position(s.Pos())+": "+of.Name+"."+s.Sel.Name+" is of an internal package")
							}
						}
						return true
					})
				}
			}
		}
	}
	slices.Sort(breaches)
	return breaches
}

// internalImports returns the names under which a file imports internal packages.
func internalImports(f *ast.File) map[string]bool {
	out := map[string]bool{}
	for _, i := range f.Imports {
		from, err := strconv.Unquote(i.Path.Value)
		if err != nil || !slices.Contains(strings.Split(from, "/"), "internal") {
			continue
		}
		name := path.Base(from)
		if i.Name != nil {
			name = i.Name.Name
		}
		out[name] = true
	}
	return out
}

// publicParts returns the types that a declaration shows to other packages. An alias shows only its name.
func publicParts(decl ast.Decl) []ast.Node {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
			return []ast.Node{d.Type}
		}
	case *ast.GenDecl:
		var out []ast.Node
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && !s.Assign.IsValid() {
					out = append(out, publicFields(s.Type)...)
				}
			case *ast.ValueSpec:
				if s.Type != nil && slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
					out = append(out, s.Type)
				}
			}
		}
		return out
	}
	return nil
}

// publicFields returns the exported fields of a struct, or another type as it is.
func publicFields(t ast.Expr) []ast.Node {
	s, ok := t.(*ast.StructType)
	if !ok {
		return []ast.Node{t}
	}
	var out []ast.Node
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
			out = append(out, f.Type)
		}
	}
	return out
}
