package toolset

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Language says what runs a toolset.
type Language string

// The languages.
const (
	Python Language = "python"
	Node   Language = "node"   // TypeScript or JavaScript, run by node, bun or deno
	Server Language = "server" // a program that speaks MCP itself
)

// Entry is one toolset that a skill declares.
type Entry struct {
	Toolset  string   // as it is written: "toolsets.hello:Hello", "toolsets/index:Hello", or the name of a server
	Class    string   // the class, the export, or the name of the server
	Language Language // what runs it
	File     string   // the file that has the class, or that the interpreter of a server is started with, as a slash path; "" for none
	Command  *Command // of a server; else nil
}

// Command is how a skill starts a server.
type Command struct {
	From string // the file that says it, "mcp.json" or "SKILL.md"
	Path string // a name on PATH, a path in the skill that begins with "./", or an absolute path
	Args []string
	Env  map[string]string // ${NAME} stands for a variable that the scripts of the skill get
	Dir  string            // slash path in the skill where it starts; "" for the skill's folder
}

// Entries returns the toolsets that a skill declares, those of the manifest before those of mcp.json, and the problems of what
// cannot be followed. It runs nothing.
func Entries(s *skill.Skill) ([]Entry, []manifest.Problem) { return entriesIn(s.FS(), s.Manifest()) }

// Check returns the problems that Entries has for a skill, with their places, by its folder and its manifest.
func Check(fsys fs.FS, m *manifest.Manifest) []manifest.Problem {
	_, problems := entriesIn(fsys, m)
	return problems
}

func entriesIn(fsys fs.FS, m *manifest.Manifest) ([]Entry, []manifest.Problem) {
	var out []Entry
	var problems []manifest.Problem
	add := func(e Entry, err error, at manifest.Problem) {
		if err == nil && slices.ContainsFunc(out, func(o Entry) bool { return o.Class == e.Class }) {
			err = wrong("give it another name", "%q is declared twice: the first counts", e.Class)
		}
		if err == nil && e.Command != nil {
			if file := e.Command.missing(fsys); file != "" {
				err = wrong("add the file, or correct the command", "server %q is started with %s, which the skill does not have", e.Class, file)
			}
		}
		if err != nil {
			problems = append(problems, manifest.Problem{Code: "toolset-entry", Severity: manifest.SeverityWarning, File: at.File, Line: at.Line, Col: at.Col,
				Field: at.Field, Message: err.Error(), Cure: cureOf(err)})
			return
		}
		out = append(out, e)
	}
	at := manifest.Problem{File: "SKILL.md", Field: "toolsets"}
	if i := slices.IndexFunc(m.Fields, func(f manifest.Field) bool { return f.Key == "toolsets" }); i >= 0 {
		at.Line, at.Col = m.Fields[i].Line, m.Fields[i].Col
	}
	for _, text := range m.Toolsets {
		e, err := parseEntry(fsys, text)
		add(withFile(fsys, e), err, at)
	}
	servers, file, err := readServers(fsys)
	at = manifest.Problem{File: file, Field: "mcpServers"}
	if err != nil {
		add(Entry{}, err, at)
	}
	for _, server := range servers {
		e, err := server.entry(file)
		at.Line, at.Col = server.line, server.col
		add(withFile(fsys, e), err, at)
	}
	return out, problems
}

// wrongEntry is why an entry cannot be followed, and what its author does about it.
type wrongEntry struct{ message, cure string }

func (w *wrongEntry) Error() string { return w.message }

func wrong(cure, format string, args ...any) error {
	return &wrongEntry{fmt.Sprintf(format, args...), cure}
}

// cureOf returns what the author of an entry does about an error.
func cureOf(err error) string {
	if w, ok := errors.AsType[*wrongEntry](err); ok {
		return w.cure
	}
	return ""
}

// withFile returns the entry of a server with the file that its interpreter is started with.
func withFile(fsys fs.FS, e Entry) Entry {
	if e.Command != nil {
		e.File = e.Command.file(fsys)
	}
	return e
}

// maxEntries is how many toolsets a skill can have.
const maxEntries = 32

// extensions of the files of a language, in the order in which they are tried.
var (
	pythonFiles = []string{".py", "/__init__.py"}
	nodeFiles   = []string{".ts", ".mts", ".js", ".mjs", ".cts", ".cjs", "/index.ts", "/index.js", "/index.mjs"}
)

var className = lazyregexp.New(`^[A-Za-z_$][A-Za-z0-9_$]{0,63}$`)

// parseEntry reads an entry of the manifest: module:Class, path:Class or NAME=COMMAND ARGS.
func parseEntry(fsys fs.FS, text string) (Entry, error) {
	if name, line, ok := strings.Cut(text, "="); ok {
		return serverEntry(text, name, line)
	}
	module, class, ok := strings.Cut(text, ":")
	if !ok || !className().MatchString(class) || module == "" {
		return Entry{}, wrong("write it as toolsets.hello:Hello or toolsets/index:Hello", "%.100q is neither module:Class nor path:Class", text)
	}
	e := Entry{Toolset: text, Class: class}
	tried := candidates(module)
	for _, c := range tried {
		if info, err := fs.Stat(fsys, c.file); err == nil && info.Mode().IsRegular() {
			e.File, e.Language = c.file, c.lang
			return e, nil
		}
	}
	if len(tried) == 0 {
		return Entry{}, wrong("put the file into the skill", "%.100q leads out of the skill's folder", text)
	}
	return Entry{}, wrong("add the file, or correct the entry", "toolset %s: the skill has no file %s", text, tried[0].file)
}

type candidate struct {
	file string
	lang Language
}

// candidates returns the files that a module may be, in the order in which they are looked for: a dotted name is Python's
// first, a path TypeScript's.
func candidates(module string) []candidate {
	if lang := languageOf(module); lang != "" && fs.ValidPath(module) {
		return []candidate{{module, lang}}
	}
	dotted := !strings.Contains(module, "/")
	base := path.Clean(strings.TrimPrefix(module, "./"))
	if dotted {
		base = strings.ReplaceAll(module, ".", "/")
	}
	if !fs.ValidPath(base) || base == "." {
		return nil
	}
	var python, node []candidate
	for _, ext := range pythonFiles {
		python = append(python, candidate{base + ext, Python})
	}
	for _, ext := range nodeFiles {
		node = append(node, candidate{base + ext, Node})
	}
	if dotted {
		return append(python, node...)
	}
	return append(node, python...)
}

// languageOf returns the language of a file by its extension, "" for another one.
func languageOf(file string) Language {
	switch ext := path.Ext(file); {
	case ext == ".py":
		return Python
	case slices.Contains(nodeFiles, ext):
		return Node
	}
	return ""
}

// serverEntry reads the form NAME=COMMAND ARGS.
func serverEntry(text, name, line string) (Entry, error) {
	words := strings.Fields(line)
	name = strings.TrimSpace(name)
	if !serverName().MatchString(name) || len(words) == 0 {
		return Entry{}, wrong("write NAME=COMMAND ARGUMENTS", "%.100q does not name a server and its command", text)
	}
	s := server{Name: name, Command: words[0], Args: words[1:]}
	e, err := s.entry("SKILL.md")
	e.Toolset = text
	return e, err
}
