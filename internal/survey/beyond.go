package survey

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

var (
	ownPlace = lazyregexp.New(`__file__|__dirname|__filename|import\.meta|BASH_SOURCE|\$0\b|\$\{0`)
	named    = lazyregexp.New(`^\s*(?:(?:const|let|var|export|local|readonly)\s+)*(\w+)\s*=[^=]`)
	word     = lazyregexp.New(`\w+`)
	climbs   = lazyregexp.New(`\.parents\[(\d{1,2})\]|\.parent\b|\bdirname\b`)
	literal  = lazyregexp.New(`"[^"]*"|'[^']*'|` + "`[^`]*`")
	pathForm = lazyregexp.New(`^/?[\w.@+-]+(?:/[\w.@+-]+)*/?$`)
	below    = lazyregexp.New(`(?:/[\w.@+-]+)+`)
	filledIn = lazyregexp.New(`\$?\{[^{}]*\}`)
	computed = lazyregexp.New(`[/,]\s*[A-Za-z_]`) // a part of a path that is not written out
	filledAt = lazyregexp.New(`/["'{(]*\$`)       // the same in a shell script
	joined   = lazyregexp.New(`\b(?:join|resolve|joinpath|URL)\(`)
	ownFile  = lazyregexp.New(`(?:\bfrom|\bimport|\brequire)\s*\(?\s*["'](\.\.?/[\w./@+-]+)["']`)
)

// moduleEnds are what the file of a module has after the name that JavaScript imports.
var moduleEnds = []string{"", ".js", ".ts", ".mjs", ".cjs", ".json", "/index.js", "/index.ts"}

// Limits of what is read of one script.
const (
	mostUsed   = 20 // paths that UsesAbove returns
	mostPlaces = 20 // names of folders
)

// LooksAbove returns how many folders above the skill a script goes, as UsesAbove finds its ways; 0 if it stays in the skill.
func LooksAbove(file string, text []byte) int {
	a := &above{file: file, lang: LanguageIn(file, text), has: func(string) bool { return false }, places: map[string]string{}}
	a.read(text)
	return a.levels
}

// UsesAbove returns the files and folders above the skill that a script names: in one line that goes from its own place, or from
// a folder to which it gave a name, or by an import. They are slash paths from the skill's folder, such as "../lib/a.py", sorted,
// and only those that has says are there. files are those of the skill, file is the script.
func UsesAbove(files fs.FS, file string, text []byte, has func(name string) bool) []string {
	a := &above{file: file, lang: LanguageIn(file, text), has: has, places: map[string]string{}}
	a.read(text)
	if len(a.roots) > 0 {
		modules, _ := Outside(files, file, text)
		for _, module := range modules {
			a.module(module)
		}
	}
	slices.Sort(a.found)
	return slices.DeleteFunc(slices.Compact(a.found), func(name string) bool {
		return slices.ContainsFunc(a.found, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	})
}

// above reads one script.
type above struct {
	file   string
	lang   Language
	has    func(string) bool
	places map[string]string // what has a name, as paths from the skill's folder
	roots  []string          // folders above the skill in which Python looks for modules
	found  []string
	levels int // the most folders above the skill
}

func (a *above) read(text []byte) {
	for line := range bytes.Lines(text) {
		if len(line) <= maxUsageLine && !isRemark(line) && len(a.found) < mostUsed {
			a.line(string(line))
		}
	}
}

// goes notes how far up a path is.
func (a *above) goes(name string) { a.levels = max(a.levels, strings.Count(name+"/", "../")) }

func isRemark(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.HasPrefix(line, []byte("#")) || bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("*"))
}

func (a *above) line(line string) {
	if a.lang == JavaScript || a.lang == TypeScript {
		for _, m := range ownFile().FindAllStringSubmatch(line, -1) {
			a.goes(path.Join(path.Dir(a.file), m[1]))
			a.add(path.Join(path.Dir(a.file), m[1]), moduleEnds)
		}
	}
	at, rest, ok := a.start(line)
	if !ok {
		return
	}
	for _, m := range climbs().FindAllStringSubmatch(rest, -1) {
		n, _ := strconv.Atoi(m[1])
		at = path.Join(at, strings.Repeat("../", n+1))
	}
	a.goes(at)
	whole, known := at, at
	parts, all := a.parts(rest, joined().MatchString(line))
	for i, part := range parts {
		whole = path.Join(whole, part)
		a.goes(whole)
		if (a.lang == Shell || i == len(parts)-1) && isAbove(whole) && path.Base(whole) != ".." && a.has(whole) {
			known = whole // of a shell's line the words that follow may be no part of it
		}
	}
	switch {
	case all && strings.Contains(line, "sys.path") && isAbove(whole):
		a.roots = append(a.roots, whole)
	case known != at:
		a.add(known, moduleEnds[:1])
	}
	switch m := named().FindStringSubmatch(line); {
	case m == nil:
	case !all:
		delete(a.places, m[1])
	case len(a.places) < mostPlaces:
		a.places[m[1]] = whole
	}
}

// start returns the place from which a line goes, and the line without what is before that, but for the calls around it.
func (a *above) start(line string) (at, rest string, ok bool) {
	if span := ownPlace().FindStringIndex(line); span != nil {
		calls := strings.Repeat(" dirname ", strings.Count(line[:span[0]], "dirname"))
		rest = calls + line[span[1]:]
		switch word := line[span[0]:span[1]]; {
		case word == "__dirname", word == "import.meta" && (strings.HasPrefix(line[span[1]:], ".dir")):
			return path.Dir(a.file), strings.Replace(rest, ".dirname", "", 1), true
		case strings.Contains(line[:span[0]], "new URL("):
			_, rest, _ = strings.Cut(line, "new URL(")
			return path.Dir(a.file), rest, true
		}
		return a.file, rest, true
	}
	for _, span := range word().FindAllStringIndex(line, -1) {
		if place, known := a.places[line[span[0]:span[1]]]; known {
			return place, strings.Repeat(" dirname ", strings.Count(line[:span[0]], "dirname")) + line[span[1]:], true
		}
	}
	return "", "", false
}

// parts returns the parts of a path that a line has, in their order, and false if one that is not written out follows them. joins
// says that the arguments of a call are parts of one path.
func (a *above) parts(line string, joins bool) (out []string, all bool) {
	if a.lang == Shell {
		all = true
		if at := filledAt().FindStringIndex(line); at != nil {
			line, all = line[:at[0]], false
		}
		return below().FindAllString(line, -1), all
	}
	if quote := strings.IndexAny(line, "\"'`"); quote >= 0 {
		if _, inside, is := strings.Cut(line[:quote], "}"); is { // the place was filled in a text
			text, _, more := strings.Cut(inside, "{")
			return below().FindAllString(text, -1), !more
		}
	}
	end := 0
	for i, at := range literal().FindAllStringIndex(line, -1) {
		between := line[end:at[0]]
		switch {
		case i > 0 && strings.Contains(between, ",") && (!joins || strings.Contains(between, ")")):
			return out, true // another argument of a call
		case computed().MatchString(between):
			return out, false
		}
		end = at[1]
		if text := filledIn().ReplaceAllString(line[at[0]+1:end-1], ""); pathForm().MatchString(text) {
			out = append(out, text)
		}
	}
	return out, !computed().MatchString(line[end:])
}

// isAbove reports whether a path is of the folder above the skill, or of something else in or above that.
func isAbove(name string) bool { return name == ".." || strings.HasPrefix(name, "../") }

// add takes a path above the skill that is there with one of the ends.
func (a *above) add(name string, ends []string) {
	if !isAbove(name) {
		return
	}
	for _, end := range ends {
		if a.has(name + end) {
			a.found = append(a.found, name+end)
			return
		}
	}
}

// module takes a module of Python that lies in a folder above the skill.
func (a *above) module(name string) {
	first, _, _ := strings.Cut(name, ".")
	if KnownPackage(first) {
		return
	}
	for _, root := range a.roots {
		a.add(path.Join(root, first), []string{".py", "/__init__.py", ""})
	}
}
