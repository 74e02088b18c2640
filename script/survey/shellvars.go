package survey

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// shellOwn are the variables that a shell sets itself, or that every script has.
var shellOwn = strings.Fields(`BASH BASHOPTS BASHPID BASH_ARGC BASH_ARGV BASH_COMMAND BASH_LINENO BASH_REMATCH BASH_SOURCE BASH_SUBSHELL
	BASH_VERSINFO BASH_VERSION COLUMNS COMP_CWORD COMP_LINE COMP_POINT COMP_WORDS COMPREPLY DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME
	GROUPS HOME HOSTNAME HOSTTYPE IFS LANG LC_ALL LINENO LINES LOGNAME MACHTYPE MAPFILE OLDPWD OPTARG OPTERR OPTIND OSTYPE PATH PIPESTATUS PPID
	PROMPT_COMMAND PS0 PS1 PS2 PS3 PS4 PWD RANDOM READLINE_LINE REPLY SECONDS SHELL SHELLOPTS SHLVL SRANDOM TERM TMPDIR UID USER ZSH_VERSION`)

var (
	shellRead = lazyregexp.New(`\$(?:([A-Z_][A-Z0-9_]*)|\{[#!]?([A-Z_][A-Z0-9_]*))`)
	// An index in brackets has no character that a match can begin with, so each place is searched once.
	shellSet  = lazyregexp.New(`(?:^|[\s;&|(` + "`" + `])([A-Z_][A-Z0-9_]*)(?:\[[^\]\s;&|(` + "`" + `]*\])?\+?=`)
	shellLoop = lazyregexp.New(`\b(?:for|select)\s+([A-Z_][A-Z0-9_]*)\b`)
	shellFill = lazyregexp.New(`^[\s({]*(?:(?:while|until|if|then|do|else|!)\s+)*(?:IFS=\S*\s+)?(?:read|mapfile|readarray|getopts|printf\s+-v|unset|declare|local|typeset)\b(.*)`)
	upperWord = lazyregexp.New(`\b[A-Z_][A-Z0-9_]*\b`)
)

// shellReads finds the variables that a shell script reads before it sets them. Only upper case names count: the others are
// the script's own by habit.
func shellReads(text string, found map[string]bool) {
	set := map[string]bool{}
	for command := range strings.FieldsFuncSeq(shellText(text), func(r rune) bool { return strings.ContainsRune("\n;&|", r) }) {
		shellFills(command, set)
		for _, m := range shellRead().FindAllStringSubmatch(command, -1) {
			if name := m[1] + m[2]; !set[name] && !slices.Contains(shellOwn, name) && len(strings.Trim(name, "_")) > 1 {
				found[name] = true
			}
		}
		for _, m := range shellSet().FindAllStringSubmatch(command, -1) { // after the reads: A=${A:-x} reads A
			set[m[1]] = true
		}
	}
}

// shellFills notes the variables that a command sets before it reads them: those of a loop, of read, and local ones without a
// value.
func shellFills(command string, set map[string]bool) {
	for _, m := range shellLoop().FindAllStringSubmatch(command, -1) {
		set[m[1]] = true
	}
	m := shellFill().FindStringSubmatch(command)
	if m == nil {
		return
	}
	for _, at := range upperWord().FindAllStringIndex(m[1], -1) {
		if rest := m[1][at[1]:]; (at[0] == 0 || !strings.ContainsRune("${=", rune(m[1][at[0]-1]))) && !strings.HasPrefix(rest, "=") {
			set[m[1][at[0]:at[1]]] = true
		}
	}
}

// shellText returns a shell script without comments, and without what stands in single quotes or in a here-document with a
// quoted end: nothing is replaced there. Lines stay lines.
func shellText(text string) string {
	var out strings.Builder
	var ends []hereEnd // of the here-documents that begin after this line
	quote := byte(0)
	var outer []byte // the quotes around each open parenthesis
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n':
			out.WriteByte(c)
			for _, end := range ends {
				var body string
				body, i = end.skip(text, i)
				out.WriteString(body)
			}
			ends = nil
		case quote == '\'':
			if c == '\'' {
				quote = 0
			}
		case c == '(' && (quote == 0 || i > 0 && text[i-1] == '$'):
			outer, quote = append(outer, quote), 0
			out.WriteByte(c)
		case c == ')' && quote == 0 && len(outer) > 0:
			quote, outer = outer[len(outer)-1], outer[:len(outer)-1]
			out.WriteByte(c)
		case c == '\\' && i+1 < len(text) && text[i+1] != '\n':
			i++
		case c == quote:
			quote = 0
			out.WriteByte(c)
		case quote == 0 && c == '\'':
			quote = c
			out.WriteByte(' ')
		case quote == 0 && c == '"':
			quote = c
			out.WriteByte(c)
		case quote == 0 && c == '#' && (i == 0 || strings.IndexByte(" \t\n;(", text[i-1]) >= 0):
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		default:
			if end, ok := hereDocument(text[i:]); ok && quote == 0 && (i == 0 || text[i-1] != '<') {
				ends = append(ends, end)
			}
			out.WriteByte(c)
		}
	}
	return out.String()
}

// hereEnd is the end of a here-document.
type hereEnd struct {
	word   string
	quoted bool // nothing is replaced in it
}

var hereStart = lazyregexp.New(`^<<-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z_][A-Za-z0-9_]*))`)

// hereDocument returns the end of a here-document that begins with a text.
func hereDocument(text string) (hereEnd, bool) {
	if !strings.HasPrefix(text, "<<") {
		return hereEnd{}, false
	}
	m := hereStart().FindStringSubmatch(text[:min(len(text), 100)])
	if m == nil {
		return hereEnd{}, false
	}
	word := m[1] + m[2] + m[3]
	return hereEnd{word, m[3] == "" || strings.Contains(m[0], `\`)}, true
}

// skip goes over a here-document that begins after the line end at i. It returns its text, without what is not replaced, and
// the place of its last line end.
func (h hereEnd) skip(text string, i int) (string, int) {
	var body strings.Builder
	for i+1 < len(text) {
		line, _, ended := strings.Cut(text[i+1:], "\n")
		if i += 1 + len(line); !ended {
			i = len(text) - 1
		}
		if strings.TrimSpace(line) == h.word {
			break
		}
		if !h.quoted {
			body.WriteString(strings.ReplaceAll(line, `\$`, ""))
		}
		body.WriteByte('\n')
	}
	return body.String(), i
}
