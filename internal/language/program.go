package language

import (
	"slices"
	"strings"
)

// Program is a program that runs files of a language, such as python3 or node. Nothing that a script is given may reach it as an
// option of its own.
type Program struct {
	Names []string // the first is the usual one

	Args []string // options that it is started with
	Bang []string // options that are added to those of a #! line in place of Args; after "run" if that is the first

	// Last is a word that stands right before the file: "--", without which the program takes options behind the file for its own, or
	// an option whose value is the file. A #! line that ends in it has it already.
	Last string

	// OfFile lists the options whose value is the file where a #! line ends in them, as awk -f. What follows the file is then read as
	// more options, up to "--".
	OfFile []string

	// Whole lists the options whose value is the file and after which the program reads no more of its own.
	Whole []string

	Install string // how to get it, where that is not how to get the language

	// Alone means that a file with the program in its #! line uses what no other program of the language has.
	Alone bool

	// Loads means that the program may load files of the folder where it starts, such as a tsconfig.json or modules.
	Loads bool

	// Filter means that what it runs only reads and writes text.
	Filter bool

	// Takes has patterns of arguments that the program takes for its own wherever they stand; a star stands for any text.
	Takes []string

	// Where holds arguments that make the program print the absolute path of the real one: version managers put a
	// shell script in its place that chooses a version.
	Where []string
}

// Options reports whether the program's own options are known. Those of another one are refused as arguments.
func (p *Program) Options() bool { return !slices.Contains(p.Takes, anyOption) }

const anyOption = "-*"

// Name returns the program's usual name, "" for one of which nothing is known.
func (p *Program) Name() string {
	if len(p.Names) == 0 {
		return ""
	}
	return p.Names[0]
}

// Command returns the argument list that runs a file, up to the arguments of the file. path is the program's own, and own has options
// in addition to its Args.
func (p *Program) Command(path, file string, own ...string) []string {
	return p.line(path, file, slices.Concat(p.Args, own))
}

// Follow returns the argument list by which a #! line with these words after the program's name runs a file.
func (p *Program) Follow(path, file string, words []string, own ...string) []string {
	at := 0
	if len(words) > 0 && words[0] == "run" {
		at = 1
	}
	return p.line(path, file, slices.Insert(slices.Clone(words), at, slices.Concat(p.Bang, own)...))
}

func (p *Program) line(path, file string, options []string) []string {
	last := ""
	if len(options) > 0 {
		last = options[len(options)-1]
	}
	switch {
	case slices.ContainsFunc(p.OfFile, func(o string) bool { return endsIn(last, o) }):
		return slices.Concat([]string{path}, options, []string{file, "--"})
	case slices.Contains(p.Whole, last):
	case p.Last != "" && last != p.Last:
		options = append(slices.Clip(options), p.Last)
	}
	return slices.Concat([]string{path}, options, []string{file})
}

// endsIn reports whether a word is an option, or a group of options of one letter that ends in it: -nf ends in -f.
func endsIn(word, option string) bool {
	if word == option {
		return true
	}
	return len(option) == 2 && strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.HasSuffix(word, option[1:])
}

// Taken returns the first of a script's arguments that the program takes for its own, "" if there is none. Its files must not be given
// such an argument.
func (p *Program) Taken(args []string) string {
	for _, arg := range args {
		for _, pattern := range p.Takes {
			if matches(pattern, arg) {
				return arg
			}
		}
	}
	return ""
}

// matches reports whether a pattern, in which a star stands for any text, covers a text.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if last == 0 {
		return text == pattern
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1:last] {
		if _, text, ok = strings.Cut(text, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(text, parts[last])
}

// ProgramNamed returns what is known about a program by its name, with or without a version, as in python3.12. Of another one it says
// that it takes every option for its own and may load files of the folder where it starts.
func ProgramNamed(name string) *Program {
	if p, _ := find(name); p != nil {
		return p
	}
	return &Program{Takes: []string{anyOption}, Loads: true}
}

// find returns the row of a program and that of its language, nil without one.
func find(name string) (*Program, *Language) {
	for _, n := range []string{name, strings.TrimRight(name, "0123456789.-")} {
		for _, l := range table {
			for i := range l.Programs {
				if slices.Contains(l.Programs[i].Names, n) {
					return &l.Programs[i], l
				}
			}
		}
	}
	return nil, nil
}

// ProgramNames returns the names of all programs of the table.
func ProgramNames() []string {
	var out []string
	for _, l := range table {
		for _, p := range l.Programs {
			out = append(out, p.Names...)
		}
	}
	return out
}

// launchers start the program or the file that they are given.
var launchers = []string{"uv", "py", "npx", "bunx", "pnpm", "yarn"}

// Starts reports whether a program, with or without a version in its name, runs a file that a command line names behind it: python3,
// bash, npx.
func Starts(name string) bool {
	p, l := find(name)
	return p != nil && (l.ID != "" || len(p.OfFile) == 0) || slices.Contains(launchers, name)
}

// RunsCode says that a program runs any code that it is given, and in which words. It returns "" for a program that is not in the table.
func RunsCode(name string) string {
	switch p, l := find(name); {
	case p == nil, p.Filter:
		return ""
	case l.Shell:
		return "runs any command that it is given"
	}
	return "runs any program that it is given"
}
