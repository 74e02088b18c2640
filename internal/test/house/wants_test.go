package house_test

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/deptest"
	"github.com/agent-base/agent-base/want"
)

// mostKinds is how many kinds of wants, that a user can give, a declaration may name and still not be a list of them.
const mostKinds = 2

// besideWants are the declarations that name more of them, and why.
var besideWants = map[string]string{
	"policy decide":                      "what may be given of some kinds, and why not",
	"policy forbids":                     "how what an organisation never gives is compared",
	"cmd/agent/internal/config listed":   "which settings give commands something, and of which kind",
	"cmd/agent/internal/consent again":   "what of a grant is not suggested again",
	"cmd/agent/internal/scanner ReachOf": "which list of a sheet is of which kind",
	"cmd/agent/internal/cli details":     "its scripts are those of the skill, and no grant",
	"script/runner Command":              "what a process gets, and what the sandbox enforces",
	"skill/manifest fields":              "each front matter key with the kind that it asks for",
	"trust formerLines":                  "the kinds in the first format of a file",
	"trust upgradeGrant":                 "likewise",
	"trust formerWord":                   "likewise",
}

// A kind of want is one row in the table of package want. What shows, asks for or gives all kinds goes through want.Kinds.
func TestKindsHaveOneTable(t *testing.T) {
	report(t, checkWants(module(t)))
}

func TestKindsHaveOneTableFindsBreaches(t *testing.T) {
	checkBroken(t, map[string]string{
		"install/a.go": `package install
var list = []want.Kind{want.Read, want.Write, want.Host}
var two = []want.Kind{want.Read, want.Write, want.Write, want.Tool, want.Hook}
func f(g *T) { g.List(want.Variable); g.List(want.Home); g.List(want.Package) }`,
		"install/b.go": `package install
type view struct {
	Env []string
	Home bool
	Net []string ` + "`json:\"net\"`" + `
}
type place struct { Home, Env string; Network bool }`,
		"want/a.go": `package want
var list = []want.Kind{want.Read, want.Write, want.Host}`,
	}, checkWants, []string{
		"install/a.go:2: list lists the kinds host write read: ask want.Kinds or have a want.Set, or give a reason in besideWants",
		"install/a.go:4: f lists the kinds env home package: ask want.Kinds or have a want.Set, or give a reason in besideWants",
		"install/b.go:2: view has a field for each of the kinds env home host: ask want.Kinds or have a want.Set, or give a reason in besideWants",
	})
}

func checkWants(m *deptest.Module) []string {
	own, err := load()
	if err != nil {
		return []string{err.Error()}
	}
	kinds := kindNames(own)
	var breaches []string
	used := map[string]bool{}
	for _, p := range m.Packages {
		if p.Dir == "want" || forTests(p.Dir) {
			continue
		}
		for _, f := range p.Code() {
			for _, d := range declarations(f) {
				found, what := kindsIn(d.node, kinds), "lists"
				if fields := kindFields(d.node); len(fields) > mostKinds {
					found, what = fields, "has a field for each of"
				}
				reason := besideWants[p.Dir+" "+d.name]
				switch {
				case len(found) > mostKinds && reason == "":
					breaches = append(breaches, fmt.Sprintf("%s: %s %s the kinds %s: ask want.Kinds or have a want.Set, or give a reason in besideWants", m.Position(d.node.Pos()), d.name, what, strings.Join(found, " ")))
				case len(found) > mostKinds:
					used[p.Dir+" "+d.name] = true
				}
			}
		}
	}
	for name := range besideWants {
		if m == own && !used[name] {
			breaches = append(breaches, name+" needs no reason in besideWants")
		}
	}
	slices.Sort(breaches)
	return breaches
}

// declarations returns what a file declares: functions, constants, variables and types.
func declarations(f *deptest.File) (out []named) {
	for _, decl := range f.Syntax.Decls {
		out = append(out, declared(decl)...)
		if types, ok := decl.(*ast.GenDecl); ok {
			for _, spec := range types.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					out = append(out, named{t.Name.Name, t})
				}
			}
		}
	}
	return out
}

// kindNames returns the kinds that a user can give by the names of their constants.
func kindNames(m *deptest.Module) map[string]want.Kind {
	out := map[string]want.Kind{}
	for _, p := range m.Packages {
		if p.Dir != "want" {
			continue
		}
		for _, f := range p.Code() {
			ast.Inspect(f.Syntax, func(n ast.Node) bool {
				spec, ok := n.(*ast.ValueSpec)
				if !ok || len(spec.Values) == 0 {
					return true
				}
				if text, ok := spec.Values[0].(*ast.BasicLit); ok && isNamed(spec.Type, "Kind") {
					if k := want.Kind(strings.Trim(text.Value, `"`)); k.Granted() {
						out[spec.Names[0].Name] = k
					}
				}
				return true
			})
		}
	}
	return out
}

func isNamed(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// kindsIn returns the kinds that a node names, in the order of the table.
func kindsIn(n ast.Node, kinds map[string]want.Kind) []string {
	var found []want.Kind
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && isNamed(s.X, "want") && kinds[s.Sel.Name] != "" {
			found = append(found, kinds[s.Sel.Name])
		}
		return true
	})
	return inOrder(found)
}

// kindFields returns the kinds by whose titles a struct type has fields that hold names, or whether there is one.
func kindFields(n ast.Node) []string {
	spec, ok := n.(*ast.TypeSpec)
	if !ok {
		return nil
	}
	s, ok := spec.Type.(*ast.StructType)
	if !ok {
		return nil
	}
	var found []want.Kind
	for _, field := range s.Fields.List {
		if _, list := field.Type.(*ast.ArrayType); !list && !isNamed(field.Type, "bool") {
			continue
		}
		for _, name := range field.Names {
			for _, k := range want.Kinds() {
				titles := []string{k.Title(want.Declared), k.Title(want.Seen), k.Title(want.User)}
				if k.Granted() && slices.Contains(titles, strings.ToLower(name.Name)) {
					found = append(found, k)
				}
			}
		}
	}
	return inOrder(found)
}

// inOrder returns kinds once each, in the order of the table.
func inOrder(kinds []want.Kind) (out []string) {
	for _, k := range want.Kinds() {
		if slices.Contains(kinds, k) {
			out = append(out, string(k))
		}
	}
	return out
}
