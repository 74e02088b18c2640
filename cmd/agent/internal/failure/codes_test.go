package failure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// converted are the constants whose value is the code of a failure somewhere, by conversion from their type.
var converted = map[string]string{
	"tool.NotFound": string(tool.NotFound), "tool.InvalidName": string(tool.InvalidName), "tool.PermissionDenied": string(tool.PermissionDenied),
	"tool.Timeout": string(tool.Timeout), "llm.Network": string(llm.Network),
}

// passed are the codes that are some value of a type: all constants of the type are codes.
var passed = map[string][]string{
	"code": {}, "f.Code": {}, "first.Code": {}, // copies of other failures' codes; literals for "code" are found where they are
	"string(code)": {}, "string(r.Error)": toolErrors(), "string(provider.Kind)": kinds(), "string(answer.Stop)": stops(),
}

func toolErrors() (out []string) {
	for _, c := range []tool.Code{tool.NotFound, tool.InvalidName, tool.ArgsTooLarge, tool.Timeout, tool.ParseError, tool.ExecutionFailed, tool.PermissionDenied} {
		out = append(out, string(c))
	}
	return out
}

func kinds() (out []string) {
	for _, k := range []llm.ErrorKind{llm.BadKey, llm.BadRequest, llm.NoModel, llm.TooLong, llm.RateLimit, llm.Overloaded, llm.Network, llm.Cut, llm.Malformed, llm.TimedOut} {
		out = append(out, string(k))
	}
	return out
}

func stops() (out []string) {
	for _, s := range []agent.Stop{agent.Empty, agent.Length, agent.Refused, agent.Turns, agent.Tokens, agent.Time} {
		out = append(out, string(s))
	}
	return out
}

// The table of codes has each code that an Error can have, with its exit codes, and no other.
func TestCodes(t *testing.T) {
	table := map[string][]string{}
	for _, row := range Codes() {
		if table[row.Code] != nil {
			t.Errorf("%q is in the table twice", row.Code)
		}
		table[row.Code] = row.ExitTexts()
	}
	used := map[string]bool{}
	for _, list := range passed {
		for _, code := range list {
			used[code] = true
		}
	}
	failures := 0
	eachFile(t, func(files *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if name := text(n.Type); name != "failure.Error" && (name != "Error" || file.Name.Name != "failure") {
					return true
				}
				exit, code := field(n, "Exit"), field(n, "Code")
				if code == nil { // silent
					return true
				}
				failures++
				value := codeOf(code)
				if _, ok := passed[text(code)]; ok {
					return true
				}
				used[value] = true
				if want := exitOf(exit); value == "" || want != "" && !slices.Contains(table[value], want) {
					t.Errorf("%s: code %s with exit code %s is not in the table of Codes", files.Position(n.Pos()), text(code), text(exit))
				}
			case *ast.AssignStmt: // code := "x"
				for i, left := range n.Lhs {
					if id, ok := left.(*ast.Ident); ok && id.Name == "code" && len(n.Rhs) == len(n.Lhs) && codeOf(n.Rhs[i]) != "" {
						used[codeOf(n.Rhs[i])] = true
					}
				}
			}
			return true
		})
	})
	for code := range used {
		if table[code] == nil {
			t.Errorf("the code %q is not in the table of Codes", code)
		}
	}
	for code := range table {
		if !used[code] {
			t.Errorf("nothing has the code %q of the table", code)
		}
	}
	if failures < 40 {
		t.Errorf("%d failures were found: the test is blind", failures)
	}
}

// eachFile calls visit for the files of the command that are no tests.
func eachFile(t *testing.T, visit func(*token.FileSet, *ast.File)) {
	t.Helper()
	files := token.NewFileSet()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err == nil {
			visit(files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func field(lit *ast.CompositeLit, name string) ast.Expr {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && text(kv.Key) == name {
			return kv.Value
		}
	}
	return nil
}

// codeOf returns the code that an expression is, "" if that is not known.
func codeOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		value, _ := strconv.Unquote(e.Value)
		return value
	case *ast.CallExpr:
		if text(e.Fun) == "string" && len(e.Args) == 1 {
			return converted[text(e.Args[0])]
		}
	}
	return ""
}

// exitOf returns the number of an exit code that is named, "" for others.
func exitOf(e ast.Expr) string {
	names := map[string]Exit{
		"ExitFailure": ExitFailure, "ExitUsage": ExitUsage, "ExitNotFound": ExitNotFound, "ExitInvalid": ExitInvalid, "ExitDenied": ExitDenied,
		"ExitConflict": ExitConflict, "ExitIntegrity": ExitIntegrity, "ExitUpdate": ExitUpdate, "ExitIncomplete": ExitIncomplete, "ExitTimeout": ExitTimeout, "ExitInterrupted": ExitInterrupted,
	}
	if exit, ok := names[strings.TrimPrefix(text(e), "failure.")]; ok {
		return strconv.Itoa(int(exit))
	}
	return ""
}

// text returns a short expression as it is written.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return text(e.X) + "." + e.Sel.Name
	case *ast.BasicLit:
		return e.Value
	case *ast.CallExpr:
		if len(e.Args) == 1 {
			return text(e.Fun) + "(" + text(e.Args[0]) + ")"
		}
	}
	return ""
}
