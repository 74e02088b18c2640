package check

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/markdown"
	"github.com/agent-base/agent-base/internal/placeholder"
	"github.com/agent-base/agent-base/skill/manifest"
)

const maxReferences = 200 // paths of a body that are looked up

// checkReferences reports the files that the body names and the skill does not have. The body names a file in the target
// of a link, and in code with a path that looks like a file of the skill.
func (v *validation) checkReferences(memory *Memory) {
	r := referenceReader{top: v.top, spans: memory.spans, marks: memory.marks}
	defer func() { memory.spans, memory.marks = r.spans, r.marks }()
	var seen map[string]bool
	body, n := v.m.Body, v.m.BodyLine
	for from := 0; ; n++ {
		begin := r.next(body, from)
		if begin == len(body) {
			return
		}
		n += strings.Count(body[from:begin], "\n")
		line, _, _ := strings.Cut(body[begin:], "\n")
		from = min(begin+len(line)+1, len(body))
		for _, ref := range r.read(line) {
			clean := path.Clean(ref.target)
			if seen[clean] {
				continue
			}
			if len(seen) == maxReferences {
				return
			}
			if seen == nil {
				seen = map[string]bool{}
			}
			seen[clean] = true
			if v.exists(clean) || v.isOther(line, ref) || !ref.link && v.elsewhere(clean, body[lineBefore(body, begin):begin+ref.at]) {
				continue
			}
			v.checkReference(ref.target, n, utf8.RuneCountInString(line[:ref.at])+1)
		}
	}
}

// checkReference reports a path that the skill does not have.
func (v *validation) checkReference(target string, line, col int) {
	clean := path.Clean(target)
	code, fault := "reference-missing", "does not exist"
	if !fs.ValidPath(clean) {
		code, fault = v.checkOutside(clean)
	}
	if code != "" {
		v.Add(manifest.Problem{Code: code, Line: line, Col: col, Message: fmt.Sprintf("%.100q %s", target, fault)})
	}
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// exists reports whether the skill has a file or a folder of that path. The list of the folder is enough to know of most
// that are missing.
func (v *validation) exists(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	if top != "." && isASCII(top) && !slices.ContainsFunc(v.top, func(d fs.DirEntry) bool { return strings.EqualFold(d.Name(), top) }) {
		return false
	}
	return isThere(v.fsys, name)
}

// reference is a file that a line names.
type reference struct {
	target string
	at     int // the byte of the line where it begins
	link   bool
}

// referenceReader reads a body line by line.
type referenceReader struct {
	top []fs.DirEntry   // of the skill's folder
	own map[string]bool // the folders among them, nil until they are asked for

	spans [][2]int // memory of Spans.Append
	marks markdown.Spans
	found [len(signs)]int // for each sign, where next found it, or the length of the body

	fence string // the mark that opened the present code block
	depth int    // of code blocks: authors nest them in templates, though Markdown does not
	shell bool   // the commands of the present code block may run in the skill's folder
}

// signs are the texts without which a line does not matter to read. Where a fence may begin or end a code block, both kinds
// of fences do; in prose code and links do too, and in a block of commands paths and cd.
var (
	signs   = [...]string{"```", "~~~", "`", "](", "/", "cd "}
	inCode  = []int{0, 1}
	inProse = []int{2, 1, 3} // a fence of ` is found as code
	inShell = []int{0, 1, 4, 5}
)

// next returns where the next line begins, from the beginning of a line on, that has a sign, the length of the body if
// there is none.
func (r *referenceReader) next(body string, from int) int {
	which := inCode
	switch {
	case r.depth == 0:
		which = inProse
	case r.depth == 1 && r.shell:
		which = inShell
	}
	at := len(body)
	for _, i := range which {
		if r.found[i] <= from { // the sign was looked for before this line
			r.found[i] = len(body)
			if n := strings.Index(body[from:], signs[i]); n >= 0 {
				r.found[i] = from + n
			}
		}
		at = min(at, r.found[i])
	}
	if at == len(body) {
		return at
	}
	return from + strings.LastIndexByte(body[from:at], '\n') + 1
}

// read returns the references in the next line, from left to right.
func (r *referenceReader) read(line string) []reference {
	ticks := strings.IndexByte(line, '`') >= 0
	var mark, info string
	if ticks || strings.IndexByte(line, '~') >= 0 { // in most lines there is neither
		mark, info = markdown.Fence(line)
	}
	inside := r.depth > 0 && (mark == "" || !strings.HasPrefix(mark, r.fence))
	switch {
	case inside && r.depth == 1 && r.shell:
		return r.command(line)
	case inside:
	case mark != "":
		r.block(mark, info)
	case ticks || strings.Contains(line, "]("):
		return r.prose(line)
	}
	return nil
}

// block reads the mark of a code fence.
func (r *referenceReader) block(mark, info string) {
	switch {
	case r.depth == 0: // a skill of one file has no scripts: what its commands run is the project's
		r.fence, r.depth, r.shell = mark, 1, len(r.top) != 1 && isShell(info)
	case info != "":
		r.depth++
	default:
		r.depth--
	}
}

// prose returns the references in a line outside code blocks. A link inside a code span is an example, not a reference.
func (r *referenceReader) prose(line string) []reference {
	if showsFault(line) {
		return nil
	}
	r.spans = r.marks.Append(r.spans[:0], line)
	out := r.ofSpans(line, r.spans)
	if strings.Contains(line, "](") {
		text := withSpaces(line, r.spans)
		for at, end, next := linkTarget(text, 0); at < end; at, end, next = linkTarget(text, next) {
			if target := localTarget(text[at:end]); target != "" && !meansName(target) {
				out = append(out, reference{target, at, true})
			}
		}
		slices.SortStableFunc(out, func(a, b reference) int { return cmp.Compare(a.at, b.at) })
	}
	return out
}

// showsFault reports whether a line begins as one that shows what is wrong, such as "- **Bad:**".
func showsFault(line string) bool {
	text := strings.TrimLeft(line, " \t>-*+_|\"")
	if strings.HasPrefix(text, "❌") {
		return true
	}
	n := wordLen(text)
	switch word := text[:n]; {
	case strings.EqualFold(word, "don") && goesOn(text[n:], "'t"):
		n += len("'t")
	case !strings.EqualFold(word, "bad") && !strings.EqualFold(word, "wrong") && !strings.EqualFold(word, "incorrect"):
		return false
	}
	return strings.HasPrefix(strings.TrimLeft(text[n:], "*_"), ":")
}

// ofSpans returns the references in a line's code spans, as far as the words of the line do not make them unsure.
func (r *referenceReader) ofSpans(line string, spans [][2]int) []reference {
	var out []reference
	for _, span := range spans {
		out = r.words(out, line, span)
	}
	if len(out) == 0 {
		return nil
	}
	begin := unsure(line)
	end := begin
	for _, span := range spans {
		if span[0] < begin { // the whole span counts
			end = max(begin, span[1])
		}
	}
	return slices.DeleteFunc(out, func(ref reference) bool { return ref.at >= end })
}

// unsure returns where a line begins to name files that may be examples, or are still to be written. It returns the length
// of the line where all files should be in the skill, and 0 where none need be.
func unsure(line string) int {
	begin := len(line)
	for _, word := range [...]string{"例如", "比如", "（如", "(如", "例えば"} {
		if n := strings.Index(line[:begin], word); n >= 0 {
			begin = n
		}
	}
	for at := 0; at < len(line); {
		n := wordLen(line[at:])
		if n == 0 {
			at++
			continue
		}
		word, rest := strings.ToLower(line[at:at+n]), line[at+n:]
		switch {
		case isNever(word) || word == "added" && (strings.HasSuffix(line[:at], " is ") || strings.HasSuffix(line[:at], " be ")):
			return 0
		case begin == len(line) && (isUnsure(word, rest) || word == "like" && at > 0 && line[at-1] == '('):
			begin = at
		}
		at += n
	}
	return begin
}

// isNever reports whether a word in lower case makes all paths of its line unsure: the files may be there or not, are made
// by something, or belong to a plugin.
func isNever(word string) bool {
	switch word {
	case "would", "exist", "exists", "etc", "created", "deployed", "generated", "written":
		return true
	}
	return strings.HasSuffix(word, "plugin_root")
}

// isUnsure reports whether a word in lower case, with what follows it, makes the paths after it unsure.
func isUnsure(word, rest string) bool {
	switch word {
	case "add", "create", "put", "save", "write":
		return true
	case "example", "examples":
		return goesOn(strings.TrimLeft(rest, "*"), ":")
	case "e":
		return goesOn(rest, ".g.")
	case "for":
		return goesOn(rest, " example") || goesOn(rest, " instance")
	case "such":
		return goesOn(rest, " as")
	}
	return false
}

// goesOn reports whether a line goes on with a text, in any case, that does not end within a word.
func goesOn(rest, text string) bool {
	return len(rest) >= len(text) && strings.EqualFold(rest[:len(text)], text) && wordLen(rest[len(text):]) == 0
}

// wordLen returns the length of the word that s begins with.
func wordLen(s string) int {
	n := 0
	for n < len(s) && isWord(s[n]) {
		n++
	}
	return n
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// starter is the beginning of a command, with the program in its group, or the folder of one.
var starter = lazyregexp.New(`^\s*(?:[$>] +)?(?:\w+=\S* +)*(?:([\w.-]+) |[\w-]+/)`)

// starts reports whether a command runs or reads its first file.
func starts(command string) bool {
	m := starter().FindStringSubmatch(command)
	return m != nil && (m[1] == "" || language.Starts(m[1]) || slices.Contains([]string{"source", "cat", "cp"}, m[1]))
}

// command returns the file of the skill that a line of a code block runs or reads. It returns no path that begins with "./",
// which is one of the working directory, unless the skill has such a folder, and none after a line that tells of a project.
func (r *referenceReader) command(line string) []reference {
	if strings.HasPrefix(strings.TrimLeft(line, "$> \t"), "cd ") || r.inProject(line) {
		r.shell = false
		return nil
	}
	text := strings.TrimLeft(line, " \t$")
	if rest, ok := strings.CutPrefix(text, "./"); ok {
		if top, _, _ := strings.Cut(rest, "/"); !r.has(top) {
			return nil
		}
		text = rest
	}
	if !strings.Contains(text, "/") {
		return nil
	}
	out := r.words(nil, line, [2]int{0, len(line)})
	if len(out) == 0 || !starts(text) {
		return nil
	}
	return out[:1]
}

// inProject reports whether a command works on folders that projects have and this skill has not.
func (r *referenceReader) inProject(line string) bool {
	for _, name := range [...]string{"src", "tests"} {
		_, rest, _ := strings.Cut(line, " "+name)
		if strings.HasPrefix(rest, "/") && !r.has(name) {
			return true
		}
	}
	return false
}

// has reports whether the skill has a folder of that name.
func (r *referenceReader) has(name string) bool {
	if r.own == nil {
		r.own = map[string]bool{}
		for _, d := range r.top {
			if d.IsDir() {
				r.own[d.Name()] = true
			}
		}
	}
	return r.own[name]
}

// usual holds the folders that a path in code begins with even if the skill does not have them.
var usual = [...]string{"scripts", "references", "assets", "toolsets"}

// meansAny reports whether a path in ASCII stands for any file, such as scripts/script_name.py.
func meansAny(path string) bool {
	if strings.Contains(path, "...") {
		return true
	}
	before := "" // the part before this one
	for from := 0; from <= len(path); {
		n := strings.IndexAny(path[from:], "/_.-")
		if n < 0 {
			n = len(path) - from
		}
		part, end := path[from:from+n], from+n
		switch strings.ToLower(part) {
		case "scriptname", "filename", "your", "my", "foo":
			return true
		case "name":
			if from > 0 && strings.IndexByte("_-", path[from-1]) >= 0 && end < len(path) && path[end] == '.' {
				return true
			}
			if from > 0 && path[from-1] == '_' && (strings.EqualFold(before, "script") || strings.EqualFold(before, "file")) {
				return true
			}
		case "example", "guide", "tool":
			if from > 0 && path[from-1] == '/' && end < len(path) && path[end] == '.' {
				return true
			}
		default:
			if n >= 3 && strings.Trim(part, "xX") == "" {
				return true
			}
		}
		before, from = part, end+1
	}
	return false
}

// meansName reports whether the file of a link stands for one of each name, such as component-name.md.
func meansName(target string) bool {
	stem, _, _ := strings.Cut(path.Base(target), ".")
	return strings.HasSuffix(stem, "-name") || strings.HasSuffix(stem, "_name")
}

// words appends the references among the words of code, which is line[span[0]:span[1]].
func (r *referenceReader) words(out []reference, line string, span [2]int) []reference {
	if strings.IndexByte(line[span[0]:span[1]], '/') < 0 {
		return out
	}
	for from := span[0]; from < span[1]; {
		n := 0
		for from+n < span[1] && !endsWord(line[from+n]) {
			n++
		}
		word := line[from : from+n]
		if strings.ContainsAny(word, "}>$") {
			word = placeholder.Strip(word)
		}
		if r.isFile(word) {
			out = append(out, reference{target: word, at: from})
		}
		from += n + 1
	}
	return out
}

// endsWord reports whether a byte stands between the words of code.
func endsWord(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '"', '\'', '`', ';', '|', '&', '(', ')', ',', '=':
		return true
	}
	return false
}

// isFile reports whether a word of code looks like a file of the skill.
func (r *referenceReader) isFile(word string) bool {
	top, _, ok := strings.Cut(strings.TrimPrefix(word, "./"), "/")
	return ok && (slices.Contains(usual[:], top) || r.has(top)) && isPath(word) && !meansAny(word)
}

// isPath reports whether a word has the characters of a plain path, and ends with an extension.
func isPath(word string) bool {
	dot := strings.LastIndexByte(word, '.')
	ext := word[dot+1:]
	if dot < 1 || ext == "" || len(ext) > 10 || wordLen(ext) < len(ext) || ext[0] <= '9' || ext[0] == '_' {
		return false
	}
	return isPlainPath(word[:dot])
}
