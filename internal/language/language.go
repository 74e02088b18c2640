// Package language knows the languages of scripts and the programs that run them. Its one table, in rows.go, is asked by whatever
// recognises, reads, runs or restricts scripts.
package language

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

// ID names a language by the first ending of its files, as ".py". It is "" for a language whose files are known by their #! line
// alone.
type ID string

// Language is what is known about one language: a row of the table. Only Name and Programs must be given.
type Language struct {
	ID       ID
	Name     string    // for people
	Also     []string  // further endings of its files
	Modules  []string  // endings of files that are imported and not run
	Programs []Program // that run it
	Shell    bool      // its programs run commands
	Common   bool      // agents that know few languages know this one

	// Tried has the names of the programs that run a file by its ending, the first that is installed; nil means the first of Programs.
	Tried   []string
	Install string // how to get one of them, as "install Ruby"

	// Commands run a file in a shell, for the rules of allowed-tools; nil means Tried. "uv run" is one.
	Commands []string

	Packages string // the programs that install packages of the language, separated by spaces

	Syntax Syntax

	// Options is a function whose texts list the options of the script, as GetOptions of Perl.
	Options string
	// Helps are calls, as tokens, that show that a script answers --help.
	Helps [][]string

	// Input matches a text that reads the standard input.
	Input func() *regexp.Regexp

	// Missing matches what is said when a module is not installed; its first group is the name.
	Missing func() *regexp.Regexp

	// Obeys has patterns of the variables by which its programs and those of its packages load or find code, also code that they have
	// compiled and kept. No script gets them.
	Obeys []string
	// Sets has variables that every script gets, as NAME=value.
	Sets []string
}

// Syntax says how the texts and comments of a language are written. Without quotes the language cannot be read.
type Syntax struct {
	Open   string            // what a file begins with, as <?php
	Line   []string          // each begins a comment
	Block  [2]string         // begin and end a comment, if they do
	Quotes string            // characters that begin and end a text
	Triple bool              // """texts""" and prefixes of texts
	Regexp bool              // /expressions/
	Here   bool              // texts that follow <<NAME
	Begin  map[string]string // lines that begin a comment, with the lines that end it
	Equal  string            // a word that compares, as eq
}

// Of returns the language of a file that can be run by its ending, in any case, "" for an unknown one.
func Of(file string) ID { return byEnding(file, false) }

// OfModule returns the language of a file that can be run or imported by its ending, "" for an unknown one.
func OfModule(file string) ID {
	return byEnding(file, true)
}

func byEnding(file string, modules bool) ID {
	return ID(strings.ToLower(path.Ext(file))).row(modules).ID
}

// Named returns the language of a file by the program of its #! line, "" for an unknown one. The version in a name does not count.
func Named(program string) ID {
	if _, l := find(program); l != nil {
		return l.ID
	}
	return ""
}

// Row returns what is known about a language by any ending of its files. An unknown one has a row with nothing in it.
func (id ID) Row() *Language { return id.row(true) }

func (id ID) row(modules bool) *Language {
	for _, l := range table {
		if id != "" && (l.ID == id || slices.Contains(l.Also, string(id)) || modules && slices.Contains(l.Modules, string(id))) {
			return l
		}
	}
	return &Language{}
}

// Endings returns all endings of its files, the first of which names the language.
func (l *Language) Endings() []string { return append([]string{string(l.ID)}, l.Also...) }

// Runs returns the names of the programs that run a file by its ending, in the order in which they are tried.
func (l *Language) Runs() []string {
	if l.Tried == nil && len(l.Programs) > 0 {
		return []string{l.Programs[0].Name()}
	}
	return l.Tried
}

// RunsNamed is Runs for a file with a program of this name in its #! line, "" for none: that program comes first, and is alone if
// its row says so. A program of another language changes nothing.
func (l *Language) RunsNamed(name string) []string {
	all := l.Runs()
	i := slices.Index(all, name)
	switch {
	case i < 0:
		return all
	case ProgramNamed(name).Alone:
		return []string{name}
	}
	return append([]string{name}, slices.Delete(slices.Clone(all), i, i+1)...)
}

// Ways returns the commands that run a file in a shell, without the file.
func (l *Language) Ways() []string {
	if l.Commands == nil {
		return l.Runs()
	}
	return l.Commands
}

// All returns the languages that are known by the endings of their files.
func All() []*Language {
	return slices.DeleteFunc(slices.Clone(table), func(l *Language) bool { return l.ID == "" })
}

// Tried returns the names of all programs that run files by their endings, without repetitions.
func Tried() []string {
	var out []string
	for _, l := range All() {
		for _, name := range l.Runs() {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// Install says how to get a program that runs or installs something of a language, "" for another one.
func Install(program string) string {
	for _, name := range []string{program, strings.TrimSuffix(program, "x")} { // bunx comes with bun
		if p, l := find(name); p != nil {
			return cmp.Or(p.Install, l.Install)
		}
	}
	for _, l := range table {
		if slices.Contains(strings.Fields(l.Packages), program) {
			return l.Install
		}
	}
	return ""
}

// Obeyed returns the patterns of the variables by which programs of any language load or find code.
func Obeyed() []string { return collect(func(l *Language) []string { return l.Obeys }) }

// Set returns the variables that every script gets, as NAME=value.
func Set() []string { return collect(func(l *Language) []string { return l.Sets }) }

func collect(of func(*Language) []string) (out []string) {
	for _, l := range table {
		out = append(out, of(l)...)
	}
	return out
}
