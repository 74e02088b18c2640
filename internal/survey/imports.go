package survey

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// imported is what a Python file imports.
type imported struct {
	modules []string // that are not part of Python
	more    bool     // perhaps others too: it imports relative to itself, or by a name that it computes
}

// reaching are words of Python programs that may import something by a computed name, or start another Python program.
var reaching = []string{"importlib", "__import__", "runpy", "exec", "executable"}

func pythonImports(tokens []token) imported {
	var out imported
	for i := 0; i < len(tokens); i++ {
		switch t := tokens[i]; {
		case t.kind != wordToken:
		case t.s == "import" && (i == 0 || !tokens[i-1].is(markToken, ".")):
			i = out.names(tokens, i+1)
		case t.s == "from" && i+1 < len(tokens):
			i = out.from(tokens, i+1)
		case slices.Contains(reaching, t.s):
			out.more = true
		}
	}
	return out
}

// names reads "a.b as c, d" and returns the index of its last token.
func (m *imported) names(tokens []token, i int) int {
	for {
		name, next := dotted(tokens, i)
		if name == "" {
			return max(i-1, next-1)
		}
		m.add(name)
		if next+1 < len(tokens) && tokens[next].is(wordToken, "as") {
			next += 2
		}
		if next >= len(tokens) || !tokens[next].is(markToken, ",") {
			return next - 1
		}
		i = next + 1
	}
}

// from reads "a.b import c, d" and returns the index of its last token.
func (m *imported) from(tokens []token, i int) int {
	if tokens[i].is(markToken, ".") { // relative: the names that follow are not modules from elsewhere
		m.more = true
		for i < len(tokens) && tokens[i].is(markToken, ".") {
			i++
		}
		if _, next := dotted(tokens, i); next < len(tokens) && tokens[next].is(wordToken, "import") {
			return next
		}
		return i
	}
	name, next := dotted(tokens, i)
	if name == "" || next >= len(tokens) || !tokens[next].is(wordToken, "import") {
		return i - 1 // such as "yield from"
	}
	if !shared(name) {
		m.add(name)
		return next
	}
	for next++; next < len(tokens); next++ { // the packages of a shared name may be what follows
		if tokens[next].is(markToken, "(") {
			continue
		}
		if tokens[next].kind != wordToken {
			return next - 1
		}
		m.add(name + "." + tokens[next].s)
		if next+2 < len(tokens) && tokens[next+1].is(wordToken, "as") {
			next += 2
		}
		if next+1 >= len(tokens) || !tokens[next+1].is(markToken, ",") {
			return next
		}
		next++
	}
	return next
}

// dotted reads a name such as "a.b" and returns the index of the token after it.
func dotted(tokens []token, i int) (name string, next int) {
	for i < len(tokens) && tokens[i].kind == wordToken {
		name += tokens[i].s
		i++
		if i >= len(tokens) || !tokens[i].is(markToken, ".") {
			break
		}
		name += "."
		i++
	}
	return strings.TrimSuffix(name, "."), i
}

var moduleForm = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// add takes a module that is not part of Python.
func (m *imported) add(module string) {
	first, _, _ := strings.Cut(module, ".")
	m.more = m.more || slices.Contains(reaching, first)
	if len(module) > 200 || !moduleForm().MatchString(module) || Python.Brings(module) {
		return
	}
	parts := strings.Split(module, ".")
	keep := 1
	for keep < len(parts) && shared(strings.Join(parts[:keep], ".")) {
		keep++
	}
	m.modules = append(m.modules, strings.Join(parts[:keep], "."))
}

// Bounds of looking through the files of a skill.
const (
	maxFollowed = 100    // files of a skill that are read for what they import
	maxSeen     = 20_000 // files and folders
)

// Outside returns the modules that a Python script imports, itself or through other files of the skill, and that are neither
// part of Python nor files of the skill, sorted. all is false if it may import others, by a name that it computes.
func Outside(files fs.FS, file string, text []byte) (modules []string, all bool) {
	f := &follower{files: files, seen: map[string]bool{file: true}}
	f.follow(file, text)
	slices.Sort(f.modules)
	return slices.Compact(f.modules), !f.more
}

// follower reads what a script imports from the skill.
type follower struct {
	imported
	files fs.FS
	seen  map[string]bool
}

func (f *follower) follow(file string, text []byte) {
	if len(text) > MaxText || len(f.seen) > maxFollowed {
		f.more = true
		return
	}
	found := pythonImports(lex(Python, text))
	f.more = f.more || found.more
	for _, module := range found.modules {
		if !f.own(path.Dir(file), module) {
			f.modules = append(f.modules, module)
		}
	}
}

// own follows a module that is a file or folder of the skill: where Python looks for it, and where scripts often tell it to.
func (f *follower) own(dir, module string) bool {
	first, _, _ := strings.Cut(module, ".")
	dirs := []string{"scripts", "src", "lib"}
	for ; dir != "."; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	for _, d := range append(dirs, ".") {
		place := path.Join(d, first)
		if f.once(place + ".py") {
			return true
		}
		if entries, err := fs.ReadDir(f.files, place); err == nil && slices.ContainsFunc(entries, isModule) {
			f.folder(place)
			return true
		}
	}
	return false
}

func isModule(d fs.DirEntry) bool { return path.Ext(d.Name()) == ".py" || d.IsDir() }

// folder follows all modules of a package.
func (f *follower) folder(dir string) {
	_ = fs.WalkDir(f.files, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || len(f.seen) > maxFollowed {
			f.more = true
			return fs.SkipAll
		}
		if path.Ext(p) == ".py" && d.Type().IsRegular() {
			f.once(p)
		}
		return nil
	})
}

// once follows a file if that was not done yet. It reports whether there is one. No more is read than follow looks at.
func (f *follower) once(file string) bool {
	if f.seen[file] {
		return true
	}
	if info, err := fs.Stat(f.files, file); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f.seen[file] = true
	f.follow(file, head(f.files, file, MaxText+1))
	return true
}

// HasModule reports whether a module of Python is taken for one of a skill: a file or folder has its name, anywhere, and no package is
// known that has it, as python-pptx has pptx. A package of that name from elsewhere is not what its scripts mean.
func HasModule(files fs.FS, module string) bool {
	if KnownPackage(module) {
		return false
	}
	first, _, _ := strings.Cut(module, ".")
	found, seen := false, 0
	_ = fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		seen++
		if err != nil || seen > maxSeen {
			return fs.SkipAll
		}
		if name := d.Name(); name == first+".py" || d.IsDir() && name == first && p != "." {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

var packageForm = lazyregexp.New(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$`)

// NodePackage returns the package that a module of JavaScript is in: "@a/b" for "@a/b/c.js". It returns "" for a file, an
// address, and a module with a scheme, such as "node:fs".
func NodePackage(module string) string {
	parts := strings.SplitN(module, "/", 3)
	name := parts[0]
	if strings.HasPrefix(name, "@") && len(parts) > 1 {
		name += "/" + parts[1]
	}
	if !packageForm().MatchString(name) {
		return ""
	}
	return name
}
