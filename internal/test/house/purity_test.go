package house_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"testing"

	"github.com/agent-base/agent-base/internal/test/deptest"
)

// edge lists the packages that may use the rest of the system: the command, and the stage of a sandbox, which is a process of its
// own. Programs (package main) and packages for tests may do the same.
var edge = []string{"cmd/agent/internal/cli", "script/confine/internal/stage"}

// forbidden lists the names that only the edge may use, by package. "*" stands for every name.
var forbidden = map[string][]string{
	"os": {
		"Exit", "Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv",
		"UserHomeDir", "UserCacheDir", "UserConfigDir", "TempDir", "Chdir", "Stdin", "Stdout", "Stderr",
	},
	"os/exec":                {"LookPath"},
	"os/signal":              {"*"},
	"syscall":                {"Exit", "Getenv", "Environ", "Setenv"},
	"golang.org/x/sys/unix":  {"Exit", "Getenv", "Environ", "Setenv"},
	"log":                    {"*"},
	"log/slog":               {"Default", "SetDefault", "Debug", "Info", "Warn", "Error", "Log", "LogAttrs", "With", "DebugContext", "InfoContext", "WarnContext", "ErrorContext"},
	"fmt":                    {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"context":                {"Background", "TODO"},
	"flag":                   {"*"},
	"net/http":               {"DefaultClient", "DefaultServeMux", "DefaultTransport", "Get", "Head", "Post", "PostForm", "Handle", "HandleFunc", "ListenAndServe", "ListenAndServeTLS", "Serve", "ServeTLS"},
	"path/filepath":          {"HasPrefix"}, // it compares letters, not path elements
	"io/ioutil":              {"*"},
	"github.com/spf13/viper": {"*"},
}

func TestPurity(t *testing.T) {
	report(t, checkPurity(module(t)))
}

func TestPurityFindsBreaches(t *testing.T) {
	checkBroken(t, map[string]string{
		"skill/a.go": `package skill
import (
	"context"
	"os"
	. "fmt"
	run "os/exec"
	"log"
)
var home = os.Getenv("HOME")
func f(ctx context.Context) {
	context.Background()
	os := struct{ Exit func(int) }{}
	os.Exit(1)
	run.LookPath("x")
	log.Print(1)
	println(2)
	Sprint(3)
}
func g(ctx context.Context) {
	c := run.CommandContext(ctx, "x")
	c.Run()
}
func h(ctx context.Context) {
	c := run.CommandContext(ctx, "x")
	c.Env = []string{}
	_ = &run.Cmd{Path: "x"}
	_ = &run.Cmd{Path: "x", Env: []string{}}
	os.MkdirTemp("", "x")
	os.CreateTemp("dir", "x")
}`,
		"skill/a_test.go":             "package skill\nimport \"os\"\nvar _ = os.Getenv(\"X\")",
		"cmd/agent/internal/cli/a.go": "package cli\nimport \"os\"\nvar _ = os.Getenv(\"X\")",
		"cmd/agent/a.go":              "package main\nimport \"os\"\nfunc main() { os.Exit(0) }",
	}, checkPurity, []string{
		"skill/a.go:11: context.Background belongs to the command: take the value as an option",
		"skill/a.go:14: os/exec.LookPath belongs to the command: take the value as an option",
		"skill/a.go:15: log.Print belongs to the command: take the value as an option",
		"skill/a.go:16: remove println: it is for debugging",
		"skill/a.go:20: the command gets no Env, so it inherits this process's environment",
		"skill/a.go:26: the command gets no Env, so it inherits this process's environment",
		"skill/a.go:28: os.MkdirTemp in \"\" is the system's folder for temporary files: take the folder as an option",
		"skill/a.go:5: dot imports hide where a name comes from",
		"skill/a.go:9: os.Getenv belongs to the command: take the value as an option",
	})
}

func checkPurity(m *deptest.Module) []string {
	var breaches []string
	for _, p := range m.Packages {
		if p.Name == "main" || slices.Contains(edge, p.Dir) || forTests(p.Dir) {
			continue
		}
		for _, f := range p.Code() {
			breaches = append(breaches, purityOf(m, f)...)
		}
	}
	slices.Sort(breaches)
	return breaches
}

func purityOf(m *deptest.Module, f *deptest.File) []string {
	var breaches []string
	add := func(pos token.Pos, format string, args ...any) {
		breaches = append(breaches, m.Position(pos)+": "+fmt.Sprintf(format, args...))
	}
	imports := map[string]string{}
	for _, i := range f.Imports() {
		imports[i.Name] = i.Path
		if i.Name == "." {
			add(i.Pos, "dot imports hide where a name comes from")
		}
	}
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if path, name := qualified(imports, n); slices.Contains(forbidden[path], name) || slices.Contains(forbidden[path], "*") {
				add(n.Pos(), "%s.%s belongs to the command: take the value as an option", path, name)
			}
		case *ast.CallExpr:
			judgeCall(imports, n, add)
		case *ast.FuncDecl:
			for _, pos := range bareCommands(imports, n) {
				add(pos, "the command gets no Env, so it inherits this process's environment")
			}
		}
		return true
	})
	return breaches
}

// qualified returns the import path and the name of pkg.Name. It returns "" for anything else: a field, or a variable that
// hides the package.
func qualified(imports map[string]string, e ast.Expr) (path, name string) {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	id, ok := s.X.(*ast.Ident)
	if !ok || id.Obj != nil {
		return "", ""
	}
	return imports[id.Name], s.Sel.Name
}

func judgeCall(imports map[string]string, call *ast.CallExpr, add func(token.Pos, string, ...any)) {
	if id, ok := call.Fun.(*ast.Ident); ok && id.Obj == nil && (id.Name == "print" || id.Name == "println") {
		add(call.Pos(), "remove %s: it is for debugging", id.Name)
	}
	path, name := qualified(imports, call.Fun)
	if path == "os" && (name == "MkdirTemp" || name == "CreateTemp") && len(call.Args) > 0 && isEmptyString(call.Args[0]) {
		add(call.Pos(), "os.%s in \"\" is the system's folder for temporary files: take the folder as an option", name)
	}
}

func isEmptyString(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && (lit.Value == `""` || lit.Value == "``")
}

// bareCommands returns the positions where a function creates an exec.Cmd without an Env. A command from exec.Command
// must get one in the same function.
func bareCommands(imports map[string]string, fn *ast.FuncDecl) []token.Pos {
	var made, bare []token.Pos
	setsEnv := false
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if path, name := qualified(imports, n.Fun); path == "os/exec" && (name == "Command" || name == "CommandContext") {
				made = append(made, n.Pos())
			}
		case *ast.CompositeLit:
			if path, name := qualified(imports, n.Type); path == "os/exec" && name == "Cmd" && !hasKey(n, "Env") {
				bare = append(bare, n.Pos())
			}
		case *ast.AssignStmt:
			setsEnv = setsEnv || slices.ContainsFunc(n.Lhs, isEnvField)
		}
		return true
	})
	if !setsEnv {
		return append(bare, made...)
	}
	if len(made) > 0 {
		return bare
	}
	return nil // the literal gets its Env by assignment
}

func isEnvField(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Env"
}

func hasKey(lit *ast.CompositeLit, key string) bool {
	return slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		id, ok := kv.Key.(*ast.Ident)
		return ok && id.Name == key
	})
}
