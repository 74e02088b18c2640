package cause

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// errorsIn returns the types of errors and the fixed errors of packages, as PACKAGE.NAME.
func errorsIn(t *testing.T, dirs ...string) []string {
	t.Helper()
	var out []string
	for _, dir := range dirs {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, file.Name()), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range f.Decls {
				for _, name := range errorsOf(decl) {
					out = append(out, f.Name.Name+"."+name)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// errorsOf returns the type of a method Error, and the variables that begin with err and are made of a text.
func errorsOf(decl ast.Decl) (out []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.Name != "Error" || d.Recv == nil {
			return nil
		}
		of := d.Recv.List[0].Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if name, ok := of.(*ast.Ident); ok {
			out = append(out, name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || d.Tok != token.VAR {
				continue
			}
			for i, name := range v.Names {
				if i >= len(v.Values) || !strings.HasPrefix(strings.ToLower(name.Name), "err") {
					continue
				}
				if _, made := v.Values[i].(*ast.CallExpr); made {
					out = append(out, name.Name)
				}
			}
		}
	}
	return out
}
