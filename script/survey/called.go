package survey

import (
	"io/fs"
	"path"
	"slices"
	"strings"
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
	c.commands(lex(Shell, text))
	return &c.found
}

type caller struct {
	fsys  fs.FS
	file  string // of the shell script
	found Called
}

// commands reads the tokens of a script, one command after the other.
func (c *caller) commands(tokens []token) {
	for from := 0; from < len(tokens); {
		to := from
		for to < len(tokens) && tokens[to].kind == wordToken {
			to++
		}
		c.command(tokens[from:to])
		from = to + 1
	}
}

// command reads the words of one command.
func (c *caller) command(words []token) {
	python := -1
	named := false
	for i, w := range words {
		for _, commands := range w.expanded {
			c.commands(commands)
		}
		switch {
		case c.name(w.s):
			named = true
		case python < 0 && startsCommand(words, i) && LanguageNamed(path.Base(w.s)) == Python && path.Base(w.s) != "uv":
			python = i
		}
	}
	if python >= 0 && !named {
		c.python(words[python+1:])
	}
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
func (c *caller) python(words []token) {
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1].s
		}
		switch {
		case len(c.found.Code) >= maxCalled:
		case w.s == "-c":
			c.found.Code = append(c.found.Code, next)
			return
		case w.s == "-m" && next == "pip": // it installs packages by itself
			return
		case w.s == "-m":
			c.found.Code = append(c.found.Code, "import "+next)
			return
		case w.s == "--version" || w.s == "-V":
			return
		case strings.HasPrefix(w.s, "-") && w.s != "-":
			continue
		}
		break
	}
	c.found.More = true
}

// startsCommand reports whether a word of a shell script is the name of a command.
func startsCommand(tokens []token, i int) bool {
	return i == 0 || tokens[i-1].kind == markToken || listed("do then else if while ! sudo exec time", tokens[i-1].s)
}
