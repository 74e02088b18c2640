package house_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/test/deptest"
)

// mostOfLanguages is how many endings of scripts and names of interpreters a file may have without being a table of them.
const mostOfLanguages = 2

// besideLanguages are the files that may have more, and why.
var besideLanguages = map[string]string{
	"cmd/agent/internal/markup/code.go":             "the languages of blocks of code whose comments begin with #",
	"cmd/agent/internal/cli/completion.go":          "the shells for which the command completes words",
	"cmd/agent/internal/cli/doctor_surroundings.go": "the programs that run toolsets",
	"cmd/agent/internal/cli/mcp_config.go":          "formats of other programs",
	"script/internal/interpreter/source.go":         "what bun, deno, node and PHP are told about a skill's own files",
	"internal/pyenv/fetch.go":                       "how uv is asked for a Python",
	"internal/pyenv/python.go":                      "how uv and Python are asked for a version",
	"internal/survey/beyond.go":                     "how JavaScript completes the name of a module",
	"session/allow/programs.go":                     "programs that do more than their names say, by subcommand and option",
	"skill/check/markdown.go":                       "the names of code blocks in Markdown",
	"skill/scan/internal/flow/flow.go":              "how JavaScript completes the name of a module",
	"toolset/entry.go":                              "files of toolsets, which include modules",
	"toolset/internal/host/host.go":                 "the runtimes for which there is a program that serves toolsets",
	"toolset/servers.go":                            "the commands of MCP servers whose packages are prepared",
}

// What is known about a language stands in the table of internal/language, and nowhere else.
func TestLanguagesHaveOneTable(t *testing.T) {
	report(t, checkLanguages(module(t)))
}

func TestLanguagesHaveOneTableFindsBreaches(t *testing.T) {
	checkBroken(t, map[string]string{
		"skill/a.go": `package skill
var kinds = map[string]string{".py": "python3", ".rb": "a", "x": ".rb"}`,
		"skill/b.go": `package skill
var two, same = []string{".py", "python3"}, "python3"`,
		"skill/c.go": `package skill
const words = "bash sh zsh"`,
	}, checkLanguages, []string{
		"skill/a.go: has .py .rb python3: ask internal/language, or give a reason in besideLanguages",
		"skill/c.go: has bash sh zsh: ask internal/language, or give a reason in besideLanguages",
	})
}

// The guide for authors lists the endings of all scripts.
func TestLanguagesAreInTheGuide(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(module(t).Root, "docs", "SKILLS.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("is a script: with the extension"))
	text, _, _ = bytes.Cut(text, []byte("with a `#!` line"))
	for _, l := range language.All() {
		for _, ending := range l.Endings() {
			if !bytes.Contains(text, []byte("`"+ending+"`")) {
				t.Errorf("docs/SKILLS.md does not name %s, the ending of scripts in %s", ending, l.Name)
			}
		}
	}
}

func checkLanguages(m *deptest.Module) []string {
	known := language.ProgramNames()
	for _, l := range language.All() {
		known = append(known, l.Endings()...)
	}
	var breaches []string
	for _, p := range m.Packages {
		if p.Dir == "internal/language" || forTests(p.Dir) {
			continue
		}
		for _, f := range p.Code() {
			found := namedIn(f.Syntax, known)
			if len(found) <= mostOfLanguages && besideLanguages[f.Path] != "" {
				breaches = append(breaches, f.Path+": has no reason to be in besideLanguages")
			}
			if len(found) > mostOfLanguages && besideLanguages[f.Path] == "" {
				breaches = append(breaches, fmt.Sprintf("%s: has %s: ask internal/language, or give a reason in besideLanguages", f.Path, strings.Join(found, " ")))
			}
		}
	}
	return breaches
}

// namedIn returns those of some words that are in the text literals of a file, sorted.
func namedIn(file *ast.File, words []string) (found []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, _ := strconv.Unquote(lit.Value) // the parser has read it
		all := strings.Fields(text)
		if !slices.ContainsFunc(all, func(w string) bool { return !slices.Contains(words, w) }) {
			found = append(found, all...)
		}
		return true
	})
	slices.Sort(found)
	return slices.Compact(found)
}
