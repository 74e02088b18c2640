package house_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/deptest"
	"github.com/agent-base/agent-base/skill/manifest"
)

// skill/manifest/fields.go has the one table of front matter keys. Others ask manifest.FindKey and Manifest.Facts.
func TestOneTableOfKeys(t *testing.T) {
	report(t, checkKeys(module(t)))
}

func TestOneTableOfKeysFindsBreaches(t *testing.T) {
	checkBroken(t, map[string]string{
		"skill/manifest/fields.go": "package manifest\nvar a = []string{\"name\", \"license\", \"hooks\", \"scope\", \"tags\"}\n",
		"install/a.go": "package install\nvar a = []string{\"name\", \"license\", \"hooks\", \"scope\", \"Default_Enabled\"}\n" +
			"var b = map[string]string{\"name\": \"x\", \"license\": \"\", \"hooks\": \"\", \"scope\": \"y\", \"tags\": \"\"}\n" +
			"var c = []string{\"name\", \"license\", \"a\", \"b\", \"c\"}\nvar d = []string{\"name\", \"license\"}\n",
		"install/a_test.go": "package install\nvar x = []string{\"name\", \"license\", \"hooks\", \"scope\", \"tags\"}\n",
	}, checkKeys, []string{
		"install/a.go:2: a table of 5 front matter keys: skill/manifest/fields.go has the one table, manifest.FindKey reads it",
		"install/a.go:3: a table of 5 front matter keys: skill/manifest/fields.go has the one table, manifest.FindKey reads it",
	})
}

// mostKeys is how many keys a list may name that is no table of them.
const mostKeys = 4

func checkKeys(m *deptest.Module) []string {
	var breaches []string
	for _, p := range m.Packages {
		if p.Dir == "skill/manifest" || forTests(p.Dir) || strings.HasPrefix(p.Dir, "cmd/agent/internal/docgen") {
			continue
		}
		for _, f := range p.Code() {
			ast.Inspect(f.Syntax, func(n ast.Node) bool {
				lit, ok := n.(*ast.CompositeLit)
				if !ok {
					return true
				}
				if keys := keysIn(lit); keys > mostKeys && keys*2 > len(lit.Elts) {
					breaches = append(breaches, fmt.Sprintf("%s: a table of %d front matter keys: skill/manifest/fields.go has the one table, manifest.FindKey reads it", m.Position(lit.Pos()), keys))
				}
				return true
			})
		}
	}
	slices.Sort(breaches)
	return breaches
}

// keysIn counts the elements of a literal that are front matter keys, or have one as their key or their first part.
func keysIn(lit *ast.CompositeLit) (n int) {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Key
		}
		if row, ok := e.(*ast.CompositeLit); ok && len(row.Elts) > 0 {
			e = row.Elts[0]
		}
		text, ok := e.(*ast.BasicLit)
		if !ok || text.Kind != token.STRING {
			continue
		}
		if key, err := strconv.Unquote(text.Value); err == nil {
			if _, known := manifest.FindKey(key); known {
				n++
			}
		}
	}
	return n
}
