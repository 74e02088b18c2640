package house_test

import (
	"go/ast"
	"slices"
	"testing"

	"github.com/agent-base/agent-base/internal/test/deptest"
)

// reachFields are the fields of runner.Command that say what a command may do. Only runner.Reach sets them.
var reachFields = []string{"Read", "Write", "Own", "Stored", "Keep", "Absent", "Hide", "Missing", "Network", "Confine", "Limits"}

// What a command of a script, a hook, a toolset or bash may reach is said in one place.
func TestCommandsComeFromReach(t *testing.T) {
	report(t, checkCommands(module(t)))
}

func TestCommandsComeFromReachFindsBreaches(t *testing.T) {
	checkBroken(t, map[string]string{
		"script/a.go": `package script
var _ = runner.Command{Path: "/bin/sh"}
var _ = &runner.Command{Path: "/bin/sh", Read: nil,
	Confine: ""}
var _ = runner.Limits{Disk: 1}`,
	}, checkCommands, []string{
		"script/a.go:3: Read of a runner.Command is set by runner.Reach alone",
		"script/a.go:4: Confine of a runner.Command is set by runner.Reach alone",
	})
}

func checkCommands(m *deptest.Module) []string {
	var breaches []string
	for _, p := range m.Packages {
		if forTests(p.Dir) || p.Dir == "script/confine" { // which tries its own sandbox out
			continue
		}
		for _, f := range p.Code() {
			ast.Inspect(f.Syntax, func(n ast.Node) bool {
				for _, key := range commandFields(n) {
					breaches = append(breaches, m.Position(key.Pos())+": "+key.Name+" of a runner.Command is set by runner.Reach alone")
				}
				return true
			})
		}
	}
	slices.Sort(breaches)
	return breaches
}

// commandFields returns those of reachFields that a node sets, if it is a literal of a runner.Command.
func commandFields(n ast.Node) (out []*ast.Ident) {
	lit, ok := n.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	if named, ok := lit.Type.(*ast.SelectorExpr); !ok || named.Sel.Name != "Command" {
		return nil
	} else if of, ok := named.X.(*ast.Ident); !ok || of.Name != "runner" {
		return nil
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := kv.Key.(*ast.Ident); ok && slices.Contains(reachFields, key.Name) {
			out = append(out, key)
		}
	}
	return out
}
