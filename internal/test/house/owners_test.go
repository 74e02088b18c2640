package house_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/obeyed"
	"github.com/agent-base/agent-base/internal/test/deptest"
)

// owner is a package that alone knows some names.
type owner struct {
	dir   string
	what  string
	most  int // names that a file elsewhere may have
	names []string
	also  string // a package that owns another fact about some of the names
}

// ownLayers are folders that the command itself finds its skills in.
var ownLayers = []string{".agent", ".agents", ".claude"}

func owners() []owner {
	var names []string
	for _, name := range obeyed.Names() {
		if !slices.Contains(ownLayers, name) {
			names = append(names, name)
		}
	}
	return []owner{{"internal/obeyed", "what other programs obey", 2, names, "internal/content"}} // which says what of a folder is a skill, and what is a secret
}

// Each table has one owner: no file elsewhere has several of its names as texts.
func TestOneOwner(t *testing.T) {
	report(t, checkOwners(module(t)))
}

func TestOneOwnerFindsOthers(t *testing.T) {
	checkBroken(t, map[string]string{
		"skill/a.go":           "package skill\nvar list = []string{\"CLAUDE.md\", \".envrc\", \".Cursor\", \".claude\"}\n",
		"skill/b.go":           "package skill\nvar text = \"x .zed .npmrc .husky y\"\n",
		"skill/c.go":           "package skill\nvar a, b = \"CLAUDE.md\", \".envrc\"\n",
		"internal/obeyed/x.go": "package obeyed\nvar text = \".zed .npmrc .husky\"\n",
	}, checkOwners, []string{
		"skill/a.go:2: internal/obeyed owns what other programs obey, and this file has .cursor, .envrc, claude.md: ask it",
		"skill/b.go:2: internal/obeyed owns what other programs obey, and this file has .husky, .npmrc, .zed: ask it",
	})
}

func checkOwners(m *deptest.Module) []string {
	var breaches []string
	for _, o := range owners() {
		for _, p := range m.Packages {
			if p.Dir == o.dir || p.Dir == o.also || forTests(p.Dir) {
				continue
			}
			for _, f := range p.Code() {
				if at, has := o.namesIn(f); len(has) > o.most {
					breaches = append(breaches, fmt.Sprintf("%s: %s owns %s, and this file has %s: ask it", m.Position(at), o.dir, o.what, strings.Join(has, ", ")))
				}
			}
		}
	}
	slices.Sort(breaches)
	return breaches
}

// namesIn returns the names in the texts of a file, and where the first is.
func (o *owner) namesIn(f *deptest.File) (first token.Pos, has []string) {
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			return true
		}
		for word := range strings.FieldsSeq(strings.ToLower(text)) {
			if slices.Contains(o.names, word) {
				has = append(has, word)
				if first == token.NoPos {
					first = lit.Pos()
				}
			}
		}
		return true
	})
	slices.Sort(has)
	return first, slices.Compact(has)
}
