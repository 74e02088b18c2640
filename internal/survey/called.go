package survey

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agent-base/agent-base/internal/shellsyntax"
)

// Called is what a shell script starts of Python and Node.js.
type Called struct {
	Files []string // slash paths of the skill's files in Python, JavaScript and TypeScript that it names, in their order
	Code  []string // Python programs and modules in its commands, as Python: the text after -c, "import NAME" for -m NAME
	More  bool     // Python runs something else too, which is not known: what it reads, or a file that is not in the skill
}

const maxCalled = 50 // files and commands that are taken from one script

// CalledBy reads a shell script, and returns nil for another one. A path counts wherever it stands, since scripts put paths into variables; what a variable
// or a substitution may stand for at its beginning is left out: "$DIR/run.py" means run.py next to the script, in the skill's
// folder or in scripts/.
func CalledBy(fsys fs.FS, file string, text []byte) *Called {
	if LanguageIn(file, text) != Shell {
		return nil
	}
	c := &caller{fsys: fsys, file: file}
	c.script(newShell(text))
	return &c.found
}

type caller struct {
	fsys  fs.FS
	file  string // of the shell script
	found Called
}

// script reads all commands, and the words that stand elsewhere: not those that a variable may have by default.
func (c *caller) script(s *shell) {
	var within []bool // whether a node that is being visited stands for a variable's value
	shellsyntax.Walk(s.source, func(n syntax.Node) bool {
		if n == nil {
			within = within[:len(within)-1]
			return true
		}
		value := len(within) > 0 && within[len(within)-1]
		switch n := n.(type) {
		case *syntax.ParamExp:
			value = true
		case *syntax.CmdSubst:
			value = false
		case *syntax.CallExpr:
			c.command(s.words(n.Args))
		case *syntax.Word:
			if !value {
				c.name(s.word(n))
			}
		}
		within = append(within, value)
		return true
	})
}

// command reads the words of one command.
func (c *caller) command(words []string) {
	python := slices.IndexFunc(words, func(w string) bool {
		return LanguageNamed(path.Base(w)) == Python && path.Base(w) != "uv"
	})
	if python < 0 || python > 0 && words[python-1] != "sudo" && words[python-1] != "exec" {
		return
	}
	for _, w := range words {
		if c.name(w) {
			return
		}
	}
	c.python(words[python+1:])
}

// name takes a word that names a file of the skill, and reports whether it does.
func (c *caller) name(word string) bool {
	lang := LanguageOf(word)
	if lang != Python && lang != JavaScript && lang != TypeScript || len(c.found.Files) >= maxCalled {
		return false
	}
	if at := strings.LastIndexAny(word, "=})`"); at >= 0 { // of NAME=path, ${NAME}/path and $(command)/path
		word = word[at+1:]
	}
	if strings.HasPrefix(word, "$") {
		_, word, _ = strings.Cut(word, "/")
	}
	if word = strings.TrimLeft(word, "/"); strings.ContainsAny(word, " \n") {
		return false
	}
	for _, dir := range []string{path.Dir(c.file), ".", Dir} {
		p := path.Join(dir, word)
		if !fs.ValidPath(p) || p == c.file {
			continue
		}
		if info, err := fs.Stat(c.fsys, p); err == nil && info.Mode().IsRegular() {
			if !slices.Contains(c.found.Files, p) {
				c.found.Files = append(c.found.Files, p)
			}
			return true
		}
	}
	return false
}

// python reads the words after the name of Python's interpreter, in a command that names no file of the skill.
func (c *caller) python(words []string) {
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case len(c.found.Code) >= maxCalled:
		case w == "-c":
			c.found.Code = append(c.found.Code, next)
			return
		case w == "-m" && next == "pip": // it installs packages by itself
			return
		case w == "-m":
			c.found.Code = append(c.found.Code, "import "+next)
			return
		case w == "--version" || w == "-V":
			return
		case strings.HasPrefix(w, "-") && w != "-":
			continue
		}
		break
	}
	c.found.More = true
}
