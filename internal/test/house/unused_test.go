package house_test

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/deptest"
)

// namedByRows lists the exported names that only a row of docs/requirements.md names, with what it is about.
var namedByRows = map[string]string{
	"skilltool.Coded": "errors with the codes of their source",
}

// Each exported name of a public package has a user outside its package, an Example, or a row that names it. A type that the
// declaration of such a name shows counts, and so do the constants of a type that is used: they are one enumeration.
func TestExportedNamesAreUsed(t *testing.T) {
	m := module(t)
	unused := checkUnused(m)
	for name, row := range namedByRows {
		i := slices.IndexFunc(unused, func(breach string) bool { return strings.HasSuffix(breach, ": "+name+noUser) })
		if i < 0 {
			t.Errorf("%s (%s) is not exported or has a user: take it out of namedByRows", name, row)
			continue
		}
		unused = slices.Delete(unused, i, i+1)
	}
	report(t, unused)
}

func TestExportedNamesAreUsedFindsBreaches(t *testing.T) {
	checkBroken(t, map[string]string{
		"a/a.go": `// Package a is for the test.
package a

type Options struct {
	Shown Shown
	hidden Hidden
}

type Shown int

const (
	One Shown = iota
	Two
)

type Hidden int

const Of Hidden = 1

func (Hidden) M() {}

func New(Options) (*Result, error) { return nil, nil }

type Result struct{}

func (*Result) Method() int { return 0 }

func Forgotten() {}

var ErrForgotten, ErrUsed error
`,
		"a/a_test.go": "package a_test\n\nimport \"example.org/m/a\"\n\nvar _ = a.Forgotten\n\nfunc Example() { _ = a.ErrUsed }\n",
		"b/b.go": `package b

import "example.org/m/a"

type Part int

type Kept interface{ Keep() Piece }

type Keeper[T Kept] struct{ Field T }

type Piece = []Of

type Of int

const Two a.Shown = 2
`,
		"internal/c/c_test.go": "package c\n\nimport (\n\tother \"example.org/m/a\"\n\t\"example.org/m/b\"\n)\n\nvar _, _ = other.New(nil)\n\nvar _ b.Keeper\n",
		"internal/c/c.go":      "package c\n\nfunc F() {}\n",
		"cmd/d/d.go":           "package main\n\nfunc F() {}\n",
	}, checkUnused, []string{
		"a/a.go:16: a.Hidden" + noUser,
		"a/a.go:18: a.Of" + noUser,
		"a/a.go:28: a.Forgotten" + noUser,
		"a/a.go:30: a.ErrForgotten" + noUser,
		"b/b.go:5: b.Part" + noUser,
	})
}

const noUser = " has no user outside its package, no Example and no row: unexport or delete it"

// surface is what the public packages of a module export.
type surface struct {
	names map[string]*exported // by directory and name, such as "skill.Open"
	order []*exported
}

// exported is one name of a package.
type exported struct {
	name  string
	at    string
	shows []string // names whose users are also those of this one: the types that its declaration shows
	of    string   // a constant: its type
	used  bool
}

func checkUnused(m *deptest.Module) []string {
	s := &surface{names: map[string]*exported{}}
	for _, p := range m.Packages {
		if p.Name != "main" && !slices.Contains(strings.Split(p.Dir, "/"), "internal") {
			for _, f := range p.Code() {
				s.declared(m, p, f)
			}
		}
	}
	for _, p := range m.Packages {
		for _, f := range p.Files {
			for _, name := range usedNames(m, p, f) {
				s.use(name)
			}
		}
	}
	var breaches []string
	for _, e := range s.order {
		if of := s.names[e.of]; !e.used && (of == nil || !of.used) {
			breaches = append(breaches, e.at+": "+e.name+noUser)
		}
	}
	return breaches
}

// use marks a name and the types that it shows as used.
func (s *surface) use(name string) {
	e := s.names[name]
	if e == nil || e.used {
		return
	}
	e.used = true
	for _, shown := range e.shows {
		s.use(shown)
	}
}

// entry returns the entry of a name, which a method may have made before its type.
func (s *surface) entry(name string) *exported {
	if s.names[name] == nil {
		s.names[name] = &exported{name: name}
	}
	return s.names[name]
}

// declared adds the exported names of a file.
func (s *surface) declared(m *deptest.Module, p *deptest.Package, f *deptest.File) {
	add := func(id *ast.Ident, of string, parts ...ast.Node) {
		if id.IsExported() {
			e := s.entry(p.Dir + "." + id.Name)
			e.at, e.of, e.shows = m.Position(id.Pos()), of, append(e.shows, shownNames(m, p, f, parts)...)
			s.order = append(s.order, e)
		}
	}
	for _, decl := range f.Syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name, "", d.Type)
			} else if d.Name.IsExported() {
				e := s.entry(p.Dir + "." + receiver(d))
				e.shows = append(e.shows, shownNames(m, p, f, []ast.Node{d.Type})...)
			}
		case *ast.GenDecl:
			var of string
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name, "", append(publicFields(spec.Type), typeParams(spec)...)...)
				case *ast.ValueSpec:
					if spec.Type != nil || spec.Values != nil {
						of = ""
					}
					if d.Tok == token.CONST && spec.Type != nil {
						of = shownNames(m, p, f, []ast.Node{spec.Type})[0]
					}
					for _, id := range spec.Names {
						add(id, of, spec.Type)
					}
				}
			}
		}
	}
}

// typeParams returns the parameters of a generic type.
func typeParams(spec *ast.TypeSpec) []ast.Node {
	if spec.TypeParams == nil {
		return nil
	}
	return []ast.Node{spec.TypeParams}
}

// usedNames returns the names of other packages of the module that a file uses. In an Example it returns those of its own package,
// too, and of the other test files of the package under test it returns none.
func usedNames(m *deptest.Module, p *deptest.Package, f *deptest.File) []string {
	own := strings.HasPrefix(path.Base(f.Path), "example")
	var names []string
	for _, decl := range f.Syntax.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		example := own || ok && strings.HasPrefix(fn.Name.Name, "Example")
		for _, name := range shownNames(m, p, f, []ast.Node{decl}) {
			if dir, _, _ := strings.Cut(name, "."); dir != p.Dir || f.Test && example {
				names = append(names, name)
			}
		}
	}
	return names
}

// shownNames returns the names of packages of the module that parts of a file have: those of its own package, and those of imported ones.
func shownNames(m *deptest.Module, p *deptest.Package, f *deptest.File, parts []ast.Node) []string {
	dirs := map[string]string{}
	for _, i := range f.Imports() {
		if dir, ok := m.Own(i.Path); ok {
			dirs[i.Name] = dir
		}
	}
	own := !strings.HasSuffix(f.Syntax.Name.Name, "_test")
	var names []string
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && dirs[of.Name] != "" {
				names = append(names, dirs[of.Name]+"."+n.Sel.Name)
			}
			ast.Inspect(n.X, visit)
			return false
		case *ast.Ident:
			if own {
				names = append(names, p.Dir+"."+n.Name)
			}
		}
		return true
	}
	for _, part := range parts {
		if part != nil {
			ast.Inspect(part, visit)
		}
	}
	return names
}
