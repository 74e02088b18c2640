package survey

import (
	"io/fs"
	"path"
	"strings"
)

// Module says how a Python script is run as a module of a package, as python -m does. It returns the slash path of the
// folder that holds the package, "." for the skill's own, and the module's name, such as "scripts.status". The name is ""
// for a script that shows no need of that: it imports neither relative to its package nor modules of a package that its
// own folder belongs to.
func Module(fsys fs.FS, file string, text []byte) (root, name string) {
	p := &program{lang: Python, row: Python.Row(), tokens: lex(Python, text)}
	if root = p.packageRoot(fsys, path.Dir(file)); root == "" {
		return "", ""
	}
	inside := strings.TrimSuffix(file, path.Ext(file))
	if root != "." {
		inside = strings.TrimPrefix(inside, root+"/")
	}
	if strings.Contains(inside, ".") { // a name cannot hold it
		return "", ""
	}
	return root, strings.ReplaceAll(inside, "/", ".")
}

// packageRoot returns the folder that holds the package that a script in the folder dir needs, "" without need.
func (p *program) packageRoot(fsys fs.FS, dir string) string {
	for d := dir; d != "."; d = path.Dir(d) {
		if p.importsFrom(fsys, d) {
			return path.Dir(d)
		}
	}
	levels := p.relative()
	if levels == 0 || dir == "." {
		return ""
	}
	top := dir
	for n := 1; path.Dir(top) != "." && (n < levels || isFile(fsys, path.Dir(top)+"/__init__.py")); n++ {
		top = path.Dir(top)
	}
	return path.Dir(top)
}

// relative returns the most dots of an import such as from ..x import y, 0 without one.
func (p *program) relative() int {
	most := 0
	for i := range p.tokens {
		dots := 0
		for p.word(i, "from") && p.mark(i+1+dots, ".") {
			dots++
		}
		most = max(most, dots)
	}
	return most
}

// maxImports is how many imports of one name are looked at.
const maxImports = 50

// importsFrom reports whether a program imports a module that lies in the folder dir by the folder's own name:
// from scripts.utils import x, for scripts/utils.py.
func (p *program) importsFrom(fsys fs.FS, dir string) bool {
	name := path.Base(dir)
	looks := 0
	for i := 0; i < len(p.tokens) && looks < maxImports; i++ {
		if !p.word(i+1, name) || !p.word(i, "from") && !p.word(i, "import") || p.mark(i-1, ".") {
			continue
		}
		module := p.at(i + 3)
		if !p.mark(i+2, ".") && !p.word(i+2, "import") || module.kind != wordToken {
			continue
		}
		looks++
		if isFile(fsys, dir+"/"+module.s+".py") || isFolder(fsys, dir+"/"+module.s) {
			return true
		}
	}
	return false
}

func isFile(fsys fs.FS, name string) bool {
	info, err := fs.Lstat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

func isFolder(fsys fs.FS, name string) bool {
	info, err := fs.Lstat(fsys, name)
	return err == nil && info.IsDir()
}
