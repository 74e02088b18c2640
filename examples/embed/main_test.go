package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The program in README.md is this one, so that it compiles.
func TestReadme(t *testing.T) {
	page, program := read(t, "../../README.md"), read(t, "main.go")
	_, block, _ := strings.Cut(page, "```go\n")
	block, _, _ = strings.Cut(block, "```")
	if _, program, _ = strings.Cut(program, "package main\n"); "package main\n"+program != block {
		t.Error("the program of README.md and examples/embed/main.go differ")
	}
}

// It runs, and offers the tools that README names.
func TestMainPrints(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", "")
	out := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = f
	main()
	os.Stdout = stdout
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<name>kalshi-markets</name>", `"message":"Activated skill 'hello-world'"`} {
		if printed := read(t, out); !strings.Contains(printed, want) {
			t.Errorf("no %q is printed:\n%s", want, printed)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
