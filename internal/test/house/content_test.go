package house_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/deptest"
)

// leftovers are names by which a second table of what belongs to no skill is known. Package internal/content has the only one.
var leftovers = []string{"__pycache__", ".pyc", "node_modules", ".venv", ".DS_Store", ".git", ".pytest_cache", ".idea"}

// otherTables are the declarations that have two of these names for another reason.
var otherTables = map[string]string{
	"internal/hosttool Walk":       "what a search in the user's workspace goes past, which is no skill",
	"cmd/agent/internal/lock hash": "the rule of other programs, whose hashes are compared",
	"script/runner notSearched":    "where no repositories are looked for",
}

// What belongs to a skill is asked of package internal/content: nothing else has a list.
func TestOneTableOfLeftovers(t *testing.T) {
	report(t, checkLeftovers(module(t)))
}

func TestOneTableOfLeftoversFindsBreaches(t *testing.T) {
	checkBroken(t, map[string]string{
		"install/a.go": `package install
var left = []string{".git", "x", ".DS_Store"}
var one = ".git"
func f(name string) bool { return name == "node_modules" || name == "__pycache__" }
func g(name string) bool { return name == ".git" || name == ".git" }`,
		"internal/content/a.go": `package content
var left = []string{".git", ".DS_Store"}`,
	}, checkLeftovers, []string{
		"install/a.go:2: left has .DS_Store and .git: ask internal/content what belongs to a skill",
		"install/a.go:4: f has __pycache__ and node_modules: ask internal/content what belongs to a skill",
	})
}

func checkLeftovers(m *deptest.Module) []string {
	var breaches []string
	for _, p := range m.Packages {
		if p.Dir == "internal/content" {
			continue
		}
		for _, f := range p.Code() {
			for _, decl := range f.Syntax.Decls {
				for _, d := range declared(decl) {
					found := leftoversIn(d.node)
					if len(found) > 1 && otherTables[p.Dir+" "+d.name] == "" {
						breaches = append(breaches, m.Position(d.node.Pos())+": "+d.name+" has "+strings.Join(found, " and ")+": ask internal/content what belongs to a skill")
					}
				}
			}
		}
	}
	slices.Sort(breaches)
	return breaches
}

// named is one declaration.
type named struct {
	name string
	node ast.Node
}

// declared returns the functions, constants and variables that a declaration declares, with their names.
func declared(decl ast.Decl) (out []named) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		out = append(out, named{d.Name.Name, d})
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && d.Tok != token.IMPORT {
				out = append(out, named{v.Names[0].Name, v})
			}
		}
	}
	return out
}

// leftoversIn returns which of the names a node has as texts, sorted.
func leftoversIn(n ast.Node) []string {
	var out []string
	ast.Inspect(n, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && slices.Contains(leftovers, text) && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
		return true
	})
	slices.Sort(out)
	return out
}
