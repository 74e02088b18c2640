package check

import (
	"cmp"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/manifest"
)

const maxReferences = 200 // paths of a body that are looked up

// checkReferences reports the files that the body names and the skill does not have. The body names a file in the target
// of a link, and in code with a path that looks like a file of the skill.
func (v *validation) checkReferences() {
	r := referenceReader{top: v.top}
	seen := map[string]bool{}
	i := -1
	for line := range strings.SplitSeq(v.m.Body, "\n") {
		i++
		for _, ref := range r.read(line) {
			clean := path.Clean(ref.target)
			if seen[clean] {
				continue
			}
			if len(seen) == maxReferences {
				return
			}
			seen[clean] = true
			v.checkReference(ref.target, v.m.BodyLine+i, utf8.RuneCountInString(line[:ref.at])+1)
		}
	}
}

func (v *validation) checkReference(target string, line, col int) {
	clean := path.Clean(target)
	code, fault := "reference-missing", "does not exist"
	if !fs.ValidPath(clean) {
		code, fault = v.checkOutside(clean)
	} else if v.exists(clean) {
		return
	}
	if code != "" {
		v.Add(manifest.Problem{Code: code, Line: line, Col: col, Message: fmt.Sprintf("%.100q %s", target, fault)})
	}
}

// checkOutside returns what is wrong with a path out of the skill. A file of another skill is not a problem.
func (v *validation) checkOutside(clean string) (code, fault string) {
	at := path.Join(v.rel, clean)
	switch {
	case v.root == nil && isSibling(clean):
		return "", ""
	case v.root == nil || !fs.ValidPath(at):
		return "reference-outside", "lies outside the skill"
	case !isThere(v.root, at):
		return "reference-missing", "does not exist"
	case v.inSkill(at):
		return "", ""
	}
	return "reference-outside", "lies outside the skill: it is missing where the skill is installed alone"
}

// isSibling reports whether a path leads to the folder next to the skill that another skill may have, or to a SKILL.md.
func isSibling(clean string) bool {
	return path.Base(clean) == "SKILL.md" || path.Dir(clean) == ".." && manifest.CheckName(path.Base(clean)) == nil
}

// inSkill reports whether a path of the root lies in the folder of a skill.
func (v *validation) inSkill(at string) bool {
	for ; at != "."; at = path.Dir(at) {
		if isThere(v.root, at+"/SKILL.md") || isThere(v.root, at+"/skill.md") {
			return true
		}
	}
	return false
}

func isThere(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
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
}

// referenceReader reads a body line by line.
type referenceReader struct {
	top []fs.DirEntry   // of the skill's folder
	own map[string]bool // the folders among them, nil until they are asked for

	fence string // the mark that opened the present code block
	depth int    // of code blocks: authors nest them in templates, though Markdown does not
	shell bool   // the commands of the present code block may run in the skill's folder
}

// read returns the references in the next line, from left to right.
func (r *referenceReader) read(line string) []reference {
	mark, info := fenceMark(line)
	inside := r.depth > 0 && (mark == "" || !strings.HasPrefix(mark, r.fence))
	switch {
	case inside && r.depth == 1 && r.shell:
		return r.command(line)
	case inside:
	case mark == "":
		return r.prose(line)
	case r.depth == 0:
		r.fence, r.depth, r.shell = mark, 1, isShell(info)
	case info != "":
		r.depth++
	default:
		r.depth--
	}
	return nil
}

var linkTarget = lazyregexp.New(`\]\(<?([^)<>\s]+)>?[^)]*\)`)

// prose returns the references in a line outside code blocks. A link inside a code span is an example, not a reference.
func (r *referenceReader) prose(line string) []reference {
	spans := codeSpans(line)
	out := r.ofSpans(line, spans)
	if strings.Contains(line, "](") {
		text := withSpaces(line, spans)
		for _, m := range linkTarget().FindAllStringSubmatchIndex(text, -1) {
			if target := localTarget(text[m[2]:m[3]]); target != "" {
				out = append(out, reference{target, m[2]})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b reference) int { return cmp.Compare(a.at, b.at) })
	return out
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
	for at := 0; at < len(line); {
		n := wordLen(line[at:])
		if n == 0 {
			at++
			continue
		}
		word, rest := strings.ToLower(line[at:at+n]), line[at+n:]
		switch {
		case word == "would" || word == "exist" || word == "exists" || strings.HasSuffix(word, "plugin_root"):
			return 0
		case begin == len(line) && isUnsure(word, rest):
			begin = at
		}
		at += n
	}
	return begin
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

// withSpaces returns the line with spaces in place of its code spans.
func withSpaces(line string, spans [][2]int) string {
	out := []byte(line)
	for _, span := range spans {
		for i := span[0]; i < span[1]; i++ {
			out[i] = ' '
		}
	}
	return string(out)
}

// starter is the beginning of a command that runs or reads its first file.
var starter = lazyregexp.New(`^\s*(?:[$>] +)?(?:\w+=\S* +)*(?:(?:python|py|node|bun|deno|npx|tsx|uv|bash|sh|zsh|source|ruby|perl|php|pwsh|bb|cat|cp)[0-9.]* |[\w-]+/)`)

// command returns the file of the skill that a line of a code block runs or reads. After a cd it returns none, and no path
// that begins with "./", which is one of the working directory, unless the skill has such a folder.
func (r *referenceReader) command(line string) []reference {
	if strings.HasPrefix(strings.TrimLeft(line, "$> \t"), "cd ") {
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
	if len(out) == 0 || !starter().MatchString(text) {
		return nil
	}
	return out[:1]
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

// anyName is in a path that stands for any file, such as scripts/script_name.py.
var anyName = lazyregexp.New(`(?i)(?:^|[/_.-])(?:script_?name|file_?name|your|my|foo|xxx+)(?:$|[/_.-])|/example\.|\.\.\.`)

// ownFolder removes the placeholders for the skill's folder.
var ownFolder = strings.NewReplacer("{baseDir}/", "", "${CLAUDE_SKILL_DIR}/", "")

// words appends the references among the words of code, which is line[span[0]:span[1]].
func (r *referenceReader) words(out []reference, line string, span [2]int) []reference {
	for from := span[0]; from < span[1]; {
		n := strings.IndexAny(line[from:span[1]], " \t\r\"'`;|&(),=")
		if n < 0 {
			n = span[1] - from
		}
		word := line[from : from+n]
		if strings.IndexByte(word, '{') >= 0 {
			word = ownFolder.Replace(word)
		}
		if r.isFile(word) {
			out = append(out, reference{word, from})
		}
		from += n + 1
	}
	return out
}

// isFile reports whether a word of code looks like a file of the skill.
func (r *referenceReader) isFile(word string) bool {
	top, _, ok := strings.Cut(strings.TrimPrefix(word, "./"), "/")
	return ok && (slices.Contains(usual[:], top) || r.has(top)) && isPath(word) && !anyName().MatchString(word)
}

// isPath reports whether a word has the characters of a plain path, and ends with an extension.
func isPath(word string) bool {
	dot := strings.LastIndexByte(word, '.')
	ext := word[dot+1:]
	if dot < 1 || ext == "" || len(ext) > 10 || wordLen(ext) < len(ext) || ext[0] <= '9' || ext[0] == '_' {
		return false
	}
	for i := range dot {
		if c := word[i]; !isWord(c) && c != '.' && c != '/' && c != '-' {
			return false
		}
	}
	return true
}

// codeSpans returns where the contents of a line's code spans begin and end. A span ends with as many ` as it begins with.
func codeSpans(line string) [][2]int {
	var runs [][2]int // of `
	for i := strings.IndexByte(line, '`'); i >= 0 && i < len(line); i++ {
		if begin := i; line[i] == '`' {
			for i < len(line) && line[i] == '`' {
				i++
			}
			runs = append(runs, [2]int{begin, i})
		}
	}
	if len(runs) < 2 {
		return nil
	}
	next := make([]int, len(runs)) // the following run of the same length, 0 without one
	last := map[int]int{}
	for i, run := range slices.Backward(runs) {
		next[i], last[run[1]-run[0]] = last[run[1]-run[0]], i
	}
	var out [][2]int
	for i := 0; i < len(runs); i++ {
		if next[i] > 0 {
			out = append(out, [2]int{runs[i][1], runs[next[i]][0]})
			i = next[i]
		}
	}
	return out
}

// localTarget is the path that a link means, "" when it is not a file of the skill or only a pattern.
func localTarget(s string) string {
	s, _, _ = strings.Cut(s, "#")
	s, _, _ = strings.Cut(s, "?")
	if s == "" || s[0] == '/' || s[0] == '~' || strings.ContainsAny(s, "<>{}$*|\\") || strings.Contains(s, "...") {
		return ""
	}
	if u, err := url.Parse(s); err != nil || u.Scheme != "" || u.Host != "" {
		return ""
	}
	if plain, err := url.PathUnescape(s); err == nil && utf8.ValidString(plain) && !strings.ContainsRune(plain, 0) {
		return plain
	}
	return ""
}

// margin returns the length of what may stand before a fence: the marks of quotes and of a list.
func margin(line string) int {
	skip := func(from int, chars string) int {
		for from < len(line) && strings.IndexByte(chars, line[from]) >= 0 {
			from++
		}
		return from
	}
	begin := skip(0, " \t>")
	mark := skip(begin, "0123456789")
	end := skip(mark, ".)")
	if mark == begin {
		end = skip(mark, "-*+")
	}
	if text := skip(end, " \t"); end == mark+1 && text > end {
		return text
	}
	return begin
}

// fenceMark returns the run of ` or ~ that a line of a code fence begins with, "" for other lines, and the text after it.
func fenceMark(line string) (mark, info string) {
	if !strings.Contains(line, "```") && !strings.Contains(line, "~~~") { // so are nearly all
		return "", ""
	}
	s := line[margin(line):]
	if len(s) < 3 || s[0] != '`' && s[0] != '~' || s[1] != s[0] || s[2] != s[0] {
		return "", ""
	}
	info = strings.TrimLeft(s, s[:1])
	mark, info = s[:len(s)-len(info)], strings.TrimSpace(info)
	if s[0] == '`' && strings.IndexByte(info, '`') >= 0 { // it is a code span
		return "", ""
	}
	return mark, info
}

// isShell reports whether the info string of a code block says that it holds commands, or says nothing.
func isShell(info string) bool {
	lang, _, _ := strings.Cut(strings.ToLower(info), " ")
	return slices.Contains([]string{"", "bash", "sh", "shell", "zsh", "console", "shell-session", "powershell"}, lang)
}
