package survey

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
)

// KnowsJSON reports whether the text of a script declares --json as a flag of its own that takes no value: by a parser of
// arguments, an option table, or a comparison with its arguments. Comments, help texts and the arguments of other commands
// do not count. It reports false for a script whose parser has sub-commands, since a flag of one is an error in another,
// and for a language that it does not know.
func KnowsJSON(lang Language, text []byte) bool {
	if lang == Shell {
		return newShell(text).knows("--json", true)
	}
	p := newProgram(lang, text)
	return !p.subcommands() && (p.declares() || p.compares("--json", true))
}

// KnowsHelp reports whether the text of a script shows that it answers --help: it uses a parser of arguments that does, or
// compares its arguments with --help. Comments, texts and the arguments of other commands do not count, nor does -h
// alone: such a script would take --help for an argument and start its work. It reports false for a language that it does not know.
func KnowsHelp(lang Language, text []byte) bool {
	if lang == Shell {
		s := newShell(text)
		return s.knows("--help", false) || s.getopts()
	}
	p := newProgram(lang, text)
	return p.parses() || p.compares("--help", false)
}

// program is a script that is examined.
type program struct {
	lang   Language
	row    *language.Language
	tokens []token
	own    []string // the names of lists of its own arguments
	table  bool     // it imports a module whose options are a table
}

func newProgram(lang Language, text []byte) *program {
	p := &program{lang: lang, row: lang.Row(), tokens: lex(lang, text)}
	p.findOwn()
	p.table = p.imports(tables...)
	return p
}

// at returns a token, or an empty one outside the program.
func (p *program) at(i int) token {
	if i < 0 || i >= len(p.tokens) {
		return token{kind: markToken}
	}
	return p.tokens[i]
}

func (p *program) mark(i int, s string) bool { return p.at(i).is(markToken, s) }
func (p *program) word(i int, s string) bool { return p.at(i).is(wordToken, s) }

// has reports whether the tokens from i on are these words and marks.
func (p *program) has(i int, want ...string) bool {
	for n, s := range want {
		if t := p.at(i + n); t.s != s || t.kind == textToken {
			return false
		}
	}
	return true
}

// contains reports whether these tokens follow each other somewhere.
func (p *program) contains(want ...string) bool {
	for i := range p.tokens {
		if p.has(i, want...) {
			return true
		}
	}
	return false
}

// imports reports whether a program names one of the modules in a text, as in require("commander") and from "commander".
func (p *program) imports(modules ...string) bool {
	for i, t := range p.tokens {
		if t.kind == textToken && slices.Contains(modules, t.s) && (p.word(i-1, "from") || p.word(i-1, "import") || p.word(i-1, "require") || p.has(i-2, "require", "(") || p.has(i-2, "import", "(")) {
			return true
		}
	}
	return false
}

// findOwn finds the names that stand for the script's own arguments: argv, and what is assigned from it.
func (p *program) findOwn() {
	for i, t := range p.tokens {
		if t.kind != wordToken || t.s != "argv" && t.s != "$argv" && t.s != "ARGV" && !p.has(i-2, "Deno", ".", "args") {
			continue
		}
		p.own = append(p.own, t.s)
		p.own = append(p.own, p.assigned(i)...)
	}
	if len(p.own) > 0 && (p.lang == JavaScript || p.lang == TypeScript) {
		p.own = append(p.own, p.parameters()...)
	}
	slices.Sort(p.own)
	p.own = slices.Compact(p.own)
}

// assigned returns the name that an expression around the token at i is assigned to on the same line.
func (p *program) assigned(i int) []string {
	for n := i - 1; n > i-8 && p.at(n).line == p.at(i).line && !p.mark(n, ",") && !p.mark(n, ";"); n-- {
		if !p.mark(n, "=") {
			continue
		}
		n--
		if p.mark(n-3, ":") && p.mark(n-1, "[") && p.mark(n, "]") { // args: string[] =
			n -= 4
		} else if p.mark(n, "]") { // [, , ...args] =
			n--
		}
		if p.at(n).kind == wordToken {
			return []string{p.at(n).s}
		}
		return nil
	}
	return nil
}

// parameters returns the first parameters of functions that take the script's arguments: parseArgs(args), main(args).
func (p *program) parameters() (out []string) {
	for i := range p.tokens {
		name := strings.ToLower(p.at(i + 1).s)
		if p.word(i, "function") && p.mark(i+2, "(") && p.at(i+3).kind == wordToken && (name == "main" || strings.Contains(name, "parse") || strings.Contains(name, "arg")) {
			out = append(out, p.at(i+3).s)
		}
	}
	return out
}

// How many tokens are searched for the bracket that closes one, and for the bracket around a token.
const (
	maxCall = 600
	maxBack = 40
)

// closing returns the position of the bracket that closes the one at i, or where the search ends.
func (p *program) closing(i int) int {
	depth := 0
	last := min(i+maxCall, len(p.tokens))
	for ; i < last; i++ {
		if t := p.tokens[i]; t.kind == markToken {
			switch t.s {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				if depth--; depth == 0 {
					return i
				}
			}
		}
	}
	return last
}

// opening returns the position of the bracket around the token at i, -1 without one.
func (p *program) opening(i int) int {
	depth := 0
	for last := max(0, i-maxBack); i > last; {
		i--
		if t := p.tokens[i]; t.kind == markToken {
			switch t.s {
			case ")", "]", "}":
				depth++
			case "(", "[", "{":
				if depth--; depth < 0 {
					return i
				}
			}
		}
	}
	return -1
}

// subcommands reports whether a script's parser has sub-commands.
func (p *program) subcommands() bool {
	commands := 0
	for i := range p.tokens {
		switch decorator := p.mark(i-2, "@"); {
		case p.word(i, "add_subparsers"), p.has(i, ".", "add_typer", "("), decorator && p.has(i, ".", "group"):
			return true
		case p.has(i, ".", "command") && (decorator || p.lang != Python && p.mark(i+2, "(")):
			commands++
		}
	}
	if p.lang == Python { // the decorator of the one command
		commands--
	}
	return commands > 0
}

// declares reports whether a parser of arguments is told about a flag --json.
func (p *program) declares() bool {
	for i, t := range p.tokens {
		switch {
		case t.kind == textToken && t.s == "json" || t.is(wordToken, "json"):
			if p.tableFlag(i) {
				return true
			}
		case t.kind == wordToken && p.mark(i+1, "("):
			if p.flagCall(i, p.closing(i+1)) {
				return true
			}
		case t.kind == textToken && t.s == "--json" && p.mark(i+1, ":") && p.word(i+2, "Boolean"):
			return true
		}
	}
	return false
}

// flagCall reports whether a call, which ends at the token end, declares a flag --json.
func (p *program) flagCall(i, end int) bool {
	switch name := p.tokens[i].s; {
	case p.lang == Python && (name == "add_argument" || name == "add_option"):
		return p.argparseFlag(i+2, end)
	case p.lang == Python && (name == "option" || name == "Option"):
		return p.clickFlag(i, end)
	case p.lang == language.Ruby && name == "on":
		return p.names(i+2, end, "--json", "--[no-]json")
	case name == p.row.Options:
		return p.getoptLong(i+2, end, "json")
	case p.lang == JavaScript || p.lang == TypeScript:
		return p.scriptFlag(i, end)
	}
	return false
}

// names reports whether one of the texts from i to end is one of these.
func (p *program) names(i, end int, want ...string) bool {
	for ; i < end; i++ {
		if t := p.tokens[i]; t.kind == textToken && slices.Contains(want, t.s) {
			return true
		}
	}
	return false
}

func (p *program) argparseFlag(i, end int) bool {
	if !p.names(i, end, "--json") {
		return false
	}
	for ; i < end; i++ {
		if p.has(i, "action", "=") {
			value := p.at(i + 2)
			return value.is(textToken, "store_true") || value.is(textToken, "store_const") || value.s == "BooleanOptionalAction" || p.has(i+2, "argparse", ".", "BooleanOptionalAction")
		}
	}
	return false
}

// clickFlag reads the options of click and typer.
func (p *program) clickFlag(i, end int) bool {
	for n := i + 2; n < end; n++ {
		if t := p.tokens[n]; t.kind == textToken && strings.HasPrefix(t.s, "--json/") {
			return true
		}
	}
	if !p.names(i+2, end, "--json") {
		return false
	}
	for n := i + 2; n < end; n++ {
		if p.has(n, "is_flag", "=", "True") {
			return true
		}
	}
	if p.word(i+2, "False") || p.word(i+2, "True") { // typer's default
		return true
	}
	if p.has(i-2, "typer", ".") {
		i -= 2
	}
	return p.has(i-2, "bool", "=") || p.has(i-2, "bool", ",")
}

// getoptLong reads the texts that list options: "json", "json!", "json|j" of Perl's Getopt::Long, "json" of PHP's getopt.
func (p *program) getoptLong(i, end int, flag string) bool {
	for ; i < end; i++ {
		t := p.tokens[i]
		if t.kind != textToken || strings.ContainsAny(t.s, "=:") {
			continue
		}
		if slices.Contains(strings.Split(strings.TrimRight(t.s, "!+"), "|"), flag) {
			return true
		}
	}
	return false
}

// scriptFlag reads the calls of commander and yargs: option("-j, --json", …), option("json", {type: "boolean"}),
// boolean("json").
func (p *program) scriptFlag(i, end int) bool {
	first := p.at(i + 2)
	if !p.mark(i-1, ".") || first.kind != textToken && !p.mark(i+2, "[") {
		return false
	}
	switch p.tokens[i].s {
	case "option":
		words := strings.FieldsFunc(first.s, func(r rune) bool { return strings.ContainsRune(" ,|", r) })
		return slices.Contains(words, "--json") && !strings.ContainsAny(first.s, "<[") ||
			first.s == "json" && p.boolean(i+3, end)
	case "boolean":
		return p.names(i+2, end, "json")
	}
	return false
}

// boolean reports whether the tokens from i to end give the type boolean.
func (p *program) boolean(i, end int) bool {
	for ; i < end; i++ {
		if (p.word(i, "type") || p.at(i).is(textToken, "type")) && p.mark(i+1, ":") && (p.at(i+2).is(textToken, "boolean") || p.word(i+2, "Boolean")) ||
			p.has(i, "boolean", ":", "true") {
			return true
		}
	}
	return false
}

// tables are the modules whose options are a table: json: {type: "boolean"}, or boolean: ["json"].
var tables = []string{"util", "node:util", "yargs", "yargs/yargs", "yargs-parser", "minimist", "meow", "citty", "mri", "getopts"}

// tableFlag reports whether the word json at i is a flag in a table of options.
func (p *program) tableFlag(i int) bool {
	if p.lang != JavaScript && p.lang != TypeScript || !p.table {
		return false
	}
	if p.mark(i+1, ":") && p.mark(i+2, "{") {
		return p.boolean(i+3, p.closing(i+2))
	}
	open := p.opening(i)
	return p.tokens[i].kind == textToken && p.has(open-2, "boolean", ":", "[")
}

// parses reports whether the script uses a parser of arguments that answers --help.
func (p *program) parses() bool {
	for i := range p.tokens {
		if p.row.Options != "" && p.has(i, p.row.Options, "(") && p.getoptLong(i+2, p.closing(i+1), "help") {
			return true
		}
	}
	switch {
	case slices.ContainsFunc(p.row.Helps, func(call []string) bool { return p.contains(call...) }):
		return true
	case p.lang == Python:
		return p.parsesPython()
	case p.lang != JavaScript && p.lang != TypeScript:
		return false
	case p.imports("commander", "yargs", "yargs/yargs", "meow", "cac", "citty"):
		return true
	case p.imports("util", "node:util") && p.contains("parseArgs", "("):
		return p.contains("help", ":", "{")
	}
	return false
}

func (p *program) parsesPython() bool {
	for i := range p.tokens {
		switch {
		case p.mark(i-1, ".") && strings.HasPrefix(p.at(i).s, "parse_") && p.mark(i+1, "("):
			known := p.word(i, "parse_args") || p.word(i, "parse_known_args") || p.word(i, "parse_intermixed_args")
			if known && !p.mark(i+2, "[") { // a list is not the script's own arguments
				return true
			}
		case p.has(i, "@", "click", ".", "command"), p.has(i, "@", "click", ".", "group"), p.has(i, "@", "command", "("),
			p.has(i, "typer", ".", "Typer", "("), p.has(i, "typer", ".", "run", "("), p.has(i, "docopt", "("), p.has(i, "fire", ".", "Fire", "("):
			return true
		}
	}
	return false
}
