// Package deptest parses a module's source for tests of its rules, such as which package may import which. It parses
// every Go file, including those for other systems, and does not type-check them.
//
// It is for tests only: it runs the go command, which reads the environment. A Module does not change after Load; its
// methods are safe for concurrent use.
package deptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Module is one module's source, without nested modules, testdata and hidden folders.
type Module struct {
	Root     string // absolute directory
	Path     string // module path
	Fset     *token.FileSet
	Packages []*Package // by directory
}

// Package is one directory with Go files.
type Package struct {
	Dir   string // slash path below the root; "." for the root itself
	Name  string
	Files []*File
}

// File is one Go file.
type File struct {
	Path      string // slash path below the root
	Test      bool   // a _test.go file
	Generated bool
	Lines     int
	Syntax    *ast.File
}

// Load finds the module that contains the directory dir and parses it.
func Load(dir string) (*Module, error) {
	root, err := findRoot(dir)
	if err != nil {
		return nil, err
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	name := regexp.MustCompile(`(?m)^module\s+(\S+)`).FindSubmatch(mod)
	if name == nil {
		return nil, fmt.Errorf("%s: no module line", filepath.Join(root, "go.mod"))
	}
	m := &Module{Root: root, Path: string(name[1]), Fset: token.NewFileSet()}
	return m, m.walk()
}

func findRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for start := dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod in %s or above it", start)
		}
	}
}

func (m *Module) walk() error {
	return fs.WalkDir(os.DirFS(m.Root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return m.enter(name, d)
		case strings.HasSuffix(name, ".go"):
			return m.parse(name)
		}
		return nil
	})
}

// enter returns fs.SkipDir for a directory that does not belong to the module, and nil for others.
func (m *Module) enter(name string, d fs.DirEntry) error {
	if name == "." {
		return nil
	}
	_, err := os.Stat(filepath.Join(m.Root, filepath.FromSlash(name), "go.mod"))
	if err == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") {
		return fs.SkipDir
	}
	return nil
}

func (m *Module) parse(name string) error {
	src, err := os.ReadFile(filepath.Join(m.Root, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(m.Fset, name, src, parser.ParseComments)
	if err != nil {
		return err
	}
	p := m.Package(path.Dir(name))
	if p == nil {
		p = &Package{Dir: path.Dir(name)}
		m.Packages = append(m.Packages, p)
	}
	f := &File{
		Path: name, Test: strings.HasSuffix(name, "_test.go"), Generated: ast.IsGenerated(syntax),
		Lines: bytes.Count(src, []byte("\n")), Syntax: syntax,
	}
	if p.Name == "" || !f.Test {
		p.Name = strings.TrimSuffix(syntax.Name.Name, "_test")
	}
	p.Files = append(p.Files, f)
	return nil
}

// Package returns the package in a directory below the root, or nil.
func (m *Module) Package(dir string) *Package {
	i := slices.IndexFunc(m.Packages, func(p *Package) bool { return p.Dir == dir })
	if i < 0 {
		return nil
	}
	return m.Packages[i]
}

// Position returns a position in the source as file:line.
func (m *Module) Position(p token.Pos) string {
	at := m.Fset.Position(p)
	return fmt.Sprintf("%s:%d", at.Filename, at.Line)
}

// Own returns the directory below the root of an import path of this module; ok is false for every other path.
func (m *Module) Own(importPath string) (dir string, ok bool) {
	if importPath == m.Path {
		return ".", true
	}
	return strings.CutPrefix(importPath, m.Path+"/")
}

// Code returns the files that are part of the program, without tests.
func (p *Package) Code() []*File {
	return slices.DeleteFunc(slices.Clone(p.Files), func(f *File) bool { return f.Test })
}

// Import is one import of a file.
type Import struct {
	Path string
	Name string // the name in the file; guessed from the path if the file does not rename it
	Pos  token.Pos
}

// Imports returns a file's imports in their order.
func (f *File) Imports() []Import {
	var all []Import
	for _, spec := range f.Syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // cannot happen: the parser has accepted it
		}
		name := packageName(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		all = append(all, Import{Path: p, Name: name, Pos: spec.Pos()})
	}
	return all
}

var majorVersion = regexp.MustCompile(`^v\d+$`)

// packageName guesses the name of a package from its path: the last element that is not a major version.
func packageName(importPath string) string {
	name := path.Base(importPath)
	if majorVersion.MatchString(name) {
		name = path.Base(path.Dir(importPath))
	}
	return strings.TrimPrefix(name, "go-")
}

// Modules returns the sorted paths of the foreign modules that packages, given as directories, need without their tests.
// It runs `go list`.
func (m *Module) Modules(ctx context.Context, dirs ...string) ([]string, error) {
	args := []string{"list", "-e", "-deps", "-json=Standard,Module"}
	for _, dir := range dirs {
		args = append(args, "./"+dir)
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env, cmd.Stderr = m.Root, os.Environ(), &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	var paths []string
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Standard bool
			Module   *struct{ Path string }
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			slices.Sort(paths)
			return slices.Compact(paths), nil
		} else if err != nil {
			return nil, fmt.Errorf("output of go list: %w", err)
		}
		if !p.Standard && p.Module != nil && p.Module.Path != m.Path {
			paths = append(paths, p.Module.Path)
		}
	}
}
