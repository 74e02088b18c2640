package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pkg is a package as `go list` describes it. A package with its tests is a package of its own: "p [p.test]".
type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string // from the path in an import to the ImportPath of what it means
	Module     *struct {
		Main      bool
		GoVersion string
	}
}

// own reports whether it is a package of the main module.
func (p *pkg) own() bool { return p.Module != nil && p.Module.Main }

// packages returns the packages of the module, their tests and their dependencies, each after those it imports.
func packages(goos, arch string) ([]pkg, error) {
	c := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./...")
	c.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	var list []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if !strings.HasSuffix(p.ImportPath, ".test") { // the main package of a test is generated
			list = append(list, p)
		}
	}
}

// checker checks the packages for one architecture.
type checker struct {
	arch  string
	files *token.FileSet
	known map[string]*types.Package // by ImportPath
}

func newChecker(arch string) *checker {
	return &checker{arch: arch, files: token.NewFileSet(), known: map[string]*types.Package{"unsafe": types.Unsafe}}
}

// check checks a package whose imports were checked before. Of other modules it leaves out the bodies of functions.
func (c *checker) check(p *pkg) error {
	if p.ImportPath == "unsafe" {
		return nil
	}
	var errs []error
	files := make([]*ast.File, 0, len(p.GoFiles))
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		files = append(files, f)
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	config := types.Config{
		IgnoreFuncBodies: !p.own(),
		FakeImportC:      true,
		Importer:         importer{c, p.ImportMap},
		Sizes:            types.SizesFor("gc", c.arch),
		Error:            func(err error) { errs = append(errs, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	c.known[p.ImportPath], _ = config.Check(path, c.files, files, nil) // Error has the errors
	return errors.Join(errs...)
}

// importer finds what a package imports among the packages that were checked.
type importer struct {
	*checker
	meant map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if to, ok := i.meant[path]; ok {
		path = to
	}
	if p := i.known[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%q is not among the packages", path)
}
