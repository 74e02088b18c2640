package survey

import (
	"path"
	"strings"

	"github.com/agent-base/agent-base/want"
)

// Hosts of the registries of packages.
const (
	npmHosts  = "registry.npmjs.org"
	pypiHosts = "pypi.org files.pythonhosted.org"
)

// fetchers are the programs that contact a registry or a repository with certain first arguments, "*" for any.
var fetchers = map[string]struct{ arguments, hosts string }{
	"npm":  {"install i ci add view info show search outdated update exec", npmHosts},
	"pnpm": {"install i add view info update dlx", npmHosts}, "yarn": {"install add info up dlx", npmHosts}, "bun": {"install i add update x", npmHosts},
	"npx": {"*", npmHosts}, "bunx": {"*", npmHosts}, "pnpx": {"*", npmHosts},
	"pip": {"install download", pypiHosts}, "pip3": {"install download", pypiHosts}, "pipx": {"install run upgrade", pypiHosts},
	"uv": {"add sync lock pip tool", pypiHosts}, "uvx": {"*", pypiHosts},
	"git": {"clone fetch pull push ls-remote", ""},
}

// command takes a program that is started, and its first argument.
func (c *contacts) command(program, argument string) {
	if f, ok := fetchers[path.Base(program)]; ok && argument != "" && (f.arguments == "*" && !listed("-h --help -v --version", argument) || listed(f.arguments, argument)) {
		c.service(f.hosts)
	}
}

// line takes a text that is a command line where a program starts one: execSync("npm view left-pad"). Elsewhere it is advice.
func (c *contacts) line(tokens []token, i int) {
	text := tokens[i].s
	if i == 0 || !tokens[i-1].is(wordToken, "$") &&
		(i == 1 || !tokens[i-1].is(markToken, "(") || !listed("exec execSync system popen run Popen check_call check_output call", tokens[i-2].s)) {
		return
	}
	program, rest, _ := strings.Cut(text, " ")
	argument, _, _ := strings.Cut(rest, " ")
	c.command(program, argument)
}

// list takes a text that may be a program in a list of arguments: ["npm", "view"], or "npm", ["view"].
func (c *contacts) list(tokens []token, i int) {
	for next := i + 1; next < len(tokens) && next <= i+3; next++ {
		switch t := tokens[next]; {
		case t.kind == textToken:
			c.command(tokens[i].s, t.s)
			return
		case !t.is(markToken, ",") && !t.is(markToken, "["):
			return
		}
	}
}

// started takes a word of a shell script that starts a command.
func (c *contacts) started(tokens []token, i int) {
	argument := func(n int) string {
		if i+n < len(tokens) && tokens[i+n].kind == wordToken {
			return tokens[i+n].s
		}
		return ""
	}
	c.command(tokens[i].s, argument(1))
	if argument(1) == "-m" && LanguageNamed(path.Base(tokens[i].s)) == Python {
		c.command(argument(2), argument(3))
	}
	c.code(tokens, i)
}

// code takes the program that a command of a shell is given as an argument: bun -e 'CODE'.
func (c *contacts) code(tokens []token, i int) {
	if i+2 < len(tokens) && (tokens[i+1].s == "-e" || tokens[i+1].s == "-c") {
		if lang := LanguageNamed(path.Base(tokens[i].s)); lang != "" && lang != Shell {
			inner := ContactsOf(lang, []byte(tokens[i+2].s))
			c.network = c.network || inner.Network
			for _, host := range inner.Hosts.Named(want.Host) {
				c.host(host)
			}
		}
	}
}
