package house_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/deptest"
)

// command matches a call of the command agent.
var command = regexp.MustCompile(`\bagent (skill|script|doctor|--)`)

// The library does not name commands of agent: a program that embeds it does not have them. Package cli adds what to type.
func TestLibraryNamesNoCommands(t *testing.T) {
	report(t, checkAdvice(module(t)))
}

func TestLibraryNamesNoCommandsFindsBreaches(t *testing.T) {
	checkBroken(t, map[string]string{
		"skill/a.go":                  "package skill\n\n// F is like agent skill list.\nvar a = \"run: agent skill trust\"\nvar b = `agent --model x`\nvar c = \"agent \" + \"reagent skill\"\n",
		"skill/a_test.go":             "package skill\nvar want = \"agent doctor\"\n",
		"cmd/agent/internal/cli/a.go": "package cli\nvar a = \"agent doctor\"\n",
		"bench/run/main.go":           "package main\nvar a = \"agent script run\"\n",
		"internal/test/x/a.go":        "package x\nvar a = \"agent script run\"\n",
	}, checkAdvice, []string{
		"skill/a.go:4: the text names \"agent skill\": let package cli add what to type",
		"skill/a.go:5: the text names \"agent --\": let package cli add what to type",
	})
}

// gives matches a command that gives a skill something or takes it.
var gives = regexp.MustCompile(`\bagent skill (grant|revoke|trust|untrust|prepare|enable)\b`)

// Only package cure names a command that gives a skill something or takes it: it asks what the policy allows. What describes the
// commands themselves, in their help and in the table of settings, may name them.
func TestCuresComeFromOnePlace(t *testing.T) {
	report(t, checkCures(module(t)))
}

func TestCuresComeFromOnePlaceFindsBreaches(t *testing.T) {
	checkBroken(t, map[string]string{
		"cmd/agent/internal/cli/a.go":  "package cli\nvar a = \"run agent skill trust x\"\nvar c = &cobra.Command{Long: `see agent skill grant`}\nvar b = \"agent skill list\"\n",
		"cmd/agent/internal/cure/a.go": "package cure\nvar a = \"agent skill trust \"\n",
	}, checkCures, []string{"cmd/agent/internal/cli/a.go:2: the text names \"agent skill trust\": ask package cure"})
}

func checkCures(m *deptest.Module) []string {
	var breaches []string
	for _, p := range m.Packages {
		if !strings.HasPrefix(p.Dir, "cmd/agent/internal/") || p.Dir == "cmd/agent/internal/cure" || p.Dir == "cmd/agent/internal/docgen" || forTests(p.Dir) {
			continue
		}
		for _, f := range p.Code() {
			ast.Inspect(f.Syntax, func(n ast.Node) bool {
				if field, ok := n.(*ast.KeyValueExpr); ok {
					name, _ := field.Key.(*ast.Ident)
					return name == nil || !slices.Contains([]string{"Long", "Short", "Example", "about", "means"}, name.Name)
				}
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				if text, err := strconv.Unquote(lit.Value); err == nil && gives.MatchString(text) {
					breaches = append(breaches, m.Position(lit.Pos())+": the text names "+strconv.Quote(gives.FindString(text))+": ask package cure")
				}
				return true
			})
		}
	}
	slices.Sort(breaches)
	return breaches
}

func checkAdvice(m *deptest.Module) []string {
	var breaches []string
	for _, p := range m.Packages {
		if p.Name == "main" || strings.HasPrefix(p.Dir, "cmd/") || forTests(p.Dir) {
			continue
		}
		for _, f := range p.Code() {
			ast.Inspect(f.Syntax, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					return true // cannot happen: the parser has accepted it
				}
				if found := command.FindString(text); found != "" {
					breaches = append(breaches, m.Position(lit.Pos())+": the text names "+strconv.Quote(found)+": let package cli add what to type")
				}
				return true
			})
		}
	}
	slices.Sort(breaches)
	return breaches
}
