package scan

import (
	"cmp"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/markdown"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
	"github.com/agent-base/agent-base/skill/scan/internal/flow"
	texts "github.com/agent-base/agent-base/skill/scan/internal/text"
)

// placeholder is what a person is to fill in or to choose in a command: <name>, [a|b], {a|b}.
var placeholder = lazyregexp.New(`<[A-Za-z][A-Za-z0-9 _.:/|-]{0,60}>|\[[\w<"'-][^\]\s]*(?: ?\| ?[^\]|\s]+)+\]|\[-[^\]\n|]*\|[^\]\n]*\]|=[\w-]+(?:\|[\w-]+)+|\{[\w-]+(?:\|[\w-]+)+\}|\([\w-]+(?:\|[\w-]+)+\)`)

// filled is what stands for it, which flow takes for something unknown.
const filled = flow.Unknown

// fence is a code block that is being read.
type fence struct {
	mark, info string
	line       int
	indent     string
	lines      []string
	role       fact.Role
}

// markdown reads the blocks and commands of a Markdown file.
func (r *reader) markdown(at int, text string) {
	text, line := r.frontMatter(at, text)
	var open *fence
	title := fact.Instruction // the role of all sections
	if texts.AboutAttacks(r.r.Files[at].name(), text) {
		title = fact.Against
	}
	role := title
	before, above := "", ""
	spans := &markdown.Spans{}
	for l := range strings.SplitSeq(text, "\n") {
		line++
		l = strings.TrimSuffix(l, "\r")
		mark, info := markdown.Fence(l)
		switch {
		case open != nil && strings.HasPrefix(mark, open.mark) && info == "":
			r.block(at, open)
			open, before = nil, ""
		case open != nil:
			open.lines = append(open.lines, strings.TrimPrefix(l, open.indent))
			if !ticks().MatchString(open.info) {
				r.commands(at, l, line, open.role, &markdown.Spans{})
			}
		case mark != "":
			open = &fence{mark: mark, info: info, line: line + 1, indent: l[:len(l)-len(strings.TrimLeft(l, " \t>"))], role: role}
			if against(before) {
				open.role = fact.Against
			}
		default:
			if strings.TrimSpace(above) == "" && (strings.HasPrefix(l, "    ") || strings.HasPrefix(l, "\t")) && isCommand(l) {
				r.block(at, &fence{info: "text", line: line, lines: []string{l}, role: role})
			} else if command := piped(l); command != "" {
				r.block(at, &fence{info: "text", line: line, lines: []string{command}, role: role})
			}
			if h := strings.TrimLeft(l, "#"); h != l && strings.HasPrefix(h, " ") {
				role = cmp.Or(roleOfHeading(h), title)
			}
			r.commands(at, l, line, role, spans)
			if strings.TrimSpace(l) != "" {
				before = l
			}
		}
		above = l
	}
	if open != nil {
		r.block(at, open)
	}
}

var (
	warns    = lazyregexp.New(`(?i)\b(don'?t|do not|never|avoid|bad|wrong|incorrect|anti-?patterns?|insecure|vulnerable|unsafe|malicious|attacks?)\b|❌|🚫`)
	warning  = lazyregexp.New(`(?i)^\W*(don'?t|do not|never|avoid|bad|wrong|incorrect|anti-?patterns?|insecure|vulnerable|unsafe|malicious)\b|anti-?patterns?\b|❌|🚫`)
	ticks    = lazyregexp.New(`(?i)^\W*(?:ba|z|k|da)?sh|^\W*(?:shell|console|terminal|js|jsx|mjs|cjs|node|javascript|ts|tsx|typescript|go|sql|perl|ruby|powershell|ps1|pwsh)\b`) // of languages in which code stands between backquotes
	examples = lazyregexp.New(`(?i)\b(examples?|samples?)\b`)
)

// against reports whether a line says that what follows is an example of what not to do.
func against(line string) bool {
	line = line[strings.LastIndex(line, ". ")+1:]
	return (len(line) < 60 && warns().MatchString(line) || len(line) < 200 && warning().MatchString(line)) && strings.HasSuffix(strings.TrimRight(line, " *_"), ":")
}

func roleOfHeading(h string) fact.Role {
	switch {
	case len(h) > 200:
	case warning().MatchString(h):
		return fact.Against
	case examples().MatchString(h):
		return fact.Example
	}
	return fact.Instruction
}

// block reads a code block by its language.
func (r *reader) block(at int, f *fence) {
	lang, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(f.info, "{.")), " ")
	lang = strings.TrimRight(strings.TrimSuffix(lang, "}"), ",{:")
	place := r.r.Files[at].place()
	place.Block = lang
	r.planted(at, f, place)
	s := source{text: strings.Join(f.lines, "\n"), line: f.line, place: place, role: f.role, snippet: true, file: at}
	if isNamed("loose", lang) {
		other := s
		other.language = flow.Loose
		r.sources = append(r.sources, other)
	}
	how, known := named("block", lang)
	if !known && lang != "" && (language.Of("x."+lang) != "" || language.Named(lang) != "") {
		how = "none"
	}
	switch how {
	case "none":
		return
	case kindPython:
		s.language, s.text = flow.Python, statements(s.text)
	case kindJavaScript, kindTypeScript, dialectTSX:
		s.language, s.dialect = flow.JavaScript, how
	default:
		s.language, s.text = flow.Shell, placeholder().ReplaceAllString(s.text, filled)
		if how == kindShell {
			s.text = prompted(s.text)
		} else {
			s.text = commandLines(s.text)
		}
		s.maybe = lang == "output"
	}
	if s.language != flow.Shell && isScript(s.text) { // under a wrong name
		s.language, s.text = flow.Shell, commandLines(s.text)
	}
	if strings.TrimSpace(s.text) != "" {
		if s.place.Block == "" {
			s.place.Block = "text"
		}
		r.sources = append(r.sources, s)
	}
}

// prompted returns the commands of a block that also has output: the lines after a prompt if there is one. The other lines stay empty.
func prompted(text string) string {
	if !strings.HasPrefix(text, "$ ") && !strings.Contains(text, "\n$ ") {
		return text
	}
	return continued(text, func(l string) (string, bool) { return strings.CutPrefix(l, "$ ") })
}

// statements returns the statements of a block of Python that also has output, without their prompts, else all of it without the margin.
// The other lines stay empty.
func statements(text string) string {
	margin := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	margin = margin[strings.LastIndexByte(margin, '\n')+1:]
	console := strings.HasPrefix(text[len(margin):], ">>> ") || strings.Contains(text, "\n"+margin+">>> ")
	return eachLine(text, func(l string) string {
		l = strings.TrimPrefix(l, margin)
		if console {
			if l[:min(len(l), 4)] != ">>> " && l[:min(len(l), 4)] != "... " {
				return ""
			}
			l = l[4:]
		}
		return l
	})
}

// commandLines returns the lines of a text that are certainly commands. The other lines stay empty.
func commandLines(text string) string {
	if strings.HasPrefix(text, "$ ") || strings.Contains(text, "\n$ ") {
		return prompted(text)
	}
	return continued(text, func(l string) (string, bool) { return l, isCommand(l) })
}

var assignment = lazyregexp.New(`^[A-Z_][A-Z0-9_]*=\S*$`)

// isCommand reports whether a line begins with a program that is known, and goes on like a command.
func isCommand(line string) bool {
	words := strings.Fields(line)
	for len(words) > 0 && assignment().MatchString(words[0]) {
		words = words[1:]
	}
	if len(words) > 3 && (words[0] == "echo" || words[0] == "printf") && intoShell().MatchString(line) {
		return true
	}
	if len(words) < 2 || !flow.IsProgram(words[0]) {
		return false
	}
	if isNamed("also", words[0]) && !strings.ContainsAny(words[1], "-./") && !flow.IsProgram(words[0]+" "+words[1]) {
		return false
	}
	return !isProse(words)
}

var intoShell = lazyregexp.New(`\|\s*(?:sudo\s+)?(?:(?:ba|z|da|k)?sh|python3?|node|perl|ruby|php)\b`)

// piped returns the command in a line of prose whose output an interpreter runs, "" for none.
func piped(line string) string {
	pipe := intoShell().FindStringIndex(line)
	if pipe == nil || strings.IndexByte(line, '`') >= 0 || strings.HasPrefix(line, "|") {
		return ""
	}
	for at := 0; at < pipe[0]; {
		word, _, _ := strings.Cut(line[at:], " ")
		if isCommand(line[at:]) {
			return line[at:]
		}
		at += len(word) + 1
	}
	return ""
}

// isProse reports whether a line that begins with the name of a program is a sentence: "make sure that it works".
func isProse(words []string) bool {
	last := words[len(words)-1]
	if strings.HasSuffix(last, ".") && len(words) > 3 || strings.HasSuffix(words[0], ":") {
		return true
	}
	switch words[1] {
	case "a", "an", "the", "is", "are", "and", "or", "sure", "to", "in", "of", "for", "with", "this", "that", "your", "it", "|", "→", "=", "-", "–", "—", "command", "commands", "CLI", "script":
		return true
	}
	return false
}

// commands reads the commands in a line of text.
func (r *reader) commands(at int, l string, line int, role fact.Role, spans *markdown.Spans) {
	if strings.IndexByte(l, '`') < 0 {
		return
	}
	for _, span := range spans.Append(nil, l) {
		text := strings.TrimSpace(l[span[0]:span[1]])
		runs := span[0] > 1 && l[span[0]-2] == '!' // Claude Code runs it
		if !runs && !isCommand(text) {
			continue
		}
		place := r.r.Files[at].place()
		place.Block = "command"
		if against(l + ":") {
			role = fact.Against
		}
		r.sources = append(r.sources, source{language: flow.Shell, text: placeholder().ReplaceAllString(text, filled), line: line, place: place, role: role, snippet: true, file: at})
	}
}
