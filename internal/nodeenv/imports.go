package nodeenv

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// What a script imports decides whether it needs packages at all: a skill may have a package.json for one of its scripts
// and others that use Node.js alone. In doubt packages are needed.

var (
	// imported matches a module that is named: import … from "x", export … from "x", import "x", import("x"), require("x").
	imported = lazyregexp.New(`(?:\bfrom\s*|\bimport\s*|\b(?:import|require)\s*\(\s*)(?:"([^"\n]+)"|'([^'\n]+)'|` + "`([^`\n$]+)`" + `)`)
	// computed matches a module whose name is not known, and what starts other programs or files.
	computed = lazyregexp.New(`\b(?:import|require)\s*\(\s*[^"'\s)]|\bcreateRequire\b|\brequire\.resolve\b|\bimport\.meta\.resolve\b|` +
		`\bchild_process\b|\bworker_threads\b|\bcluster\b|\bBun\b|\bDeno\.Command\b|\bnew Worker\b|\beval\s*\(|\bnew Function\b`)
)

const (
	maxReached = 300     // files
	maxSource  = 4 << 20 // bytes of all of them
)

// endings are those of files with code, in the order in which a name without an ending is tried.
var endings = strings.Fields(".js .mjs .cjs .ts .mts .cts .tsx .jsx")

// reach reads the files of a skill that a script imports.
type reach struct {
	fsys     fs.FS
	seen     map[string]bool
	bytes    int
	names    []string // of the packages that they import
	packages bool     // one of them imports a package
	open     bool     // one of them may load or start others
}

// importsPackages reports whether scripts, or a file of their folder that they import or may start, import a package. It
// returns the names of the packages that the scripts and the files that they import name.
func importsPackages(fsys fs.FS, scripts []string, folder string) (names []string, any bool) {
	r := &reach{fsys: fsys, seen: map[string]bool{}}
	for _, script := range scripts {
		r.read(script)
	}
	names = slices.Compact(slices.Sorted(slices.Values(r.names)))
	if r.packages || !r.open {
		return names, r.packages
	}
	_ = fs.WalkDir(fsys, folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil || r.packages {
			return fs.SkipAll
		}
		if d.Type().IsRegular() && slices.Contains(endings, path.Ext(p)) {
			r.read(p)
		}
		return nil
	})
	return names, r.packages
}

// read reads a file and those that it imports by a relative name.
func (r *reach) read(file string) {
	if r.seen[file] || len(r.seen) > maxReached {
		return
	}
	r.seen[file] = true
	text, err := readFile(r.fsys, file, maxSource)
	r.bytes += len(text)
	// JSX imports a package without saying so.
	if err != nil || len(r.seen) > maxReached || r.bytes > maxSource || strings.HasSuffix(file, "x") && slices.Contains(endings, path.Ext(file)) {
		r.packages = true
		return
	}
	r.open = r.open || computed().Match(text)
	for _, m := range imported().FindAllSubmatch(text, -1) {
		name := string(m[1]) + string(m[2]) + string(m[3])
		switch {
		case strings.HasPrefix(name, "."):
			for _, next := range r.files(path.Join(path.Dir(file), name)) {
				r.read(next)
			}
		case isPackage(name):
			r.packages = true
			if p := packageOf(name); validName(p) {
				r.names = append(r.names, p)
			}
		}
	}
}

// files returns the files with code that a relative import may mean.
func (r *reach) files(name string) []string {
	stem := strings.TrimSuffix(name, path.Ext(name))
	for _, base := range []string{name, name + "/index", stem} {
		for _, ending := range append([]string{""}, endings...) {
			file := base + ending
			if info, err := fs.Stat(r.fsys, file); err == nil && info.Mode().IsRegular() {
				if slices.Contains(endings, path.Ext(file)) {
					return []string{file}
				}
				return nil
			}
		}
	}
	return nil
}

// packageOf returns the package of a module: "a" of "a/sub", "@s/a" of "@s/a/sub".
func packageOf(module string) string {
	parts := strings.SplitN(module, "/", 3)
	if strings.HasPrefix(module, "@") && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// isPackage reports whether a module is one of a package, not a file, an address or a part of the interpreter.
func isPackage(name string) bool {
	scheme, _, has := strings.Cut(name, ":")
	first, _, _ := strings.Cut(name, "/")
	return !has && scheme != "" && !strings.HasPrefix(name, "/") && first != "bun" && !language.JavaScript.Brings(first)
}
