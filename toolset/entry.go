package toolset

import (
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
func Entries(s *skill.Skill) ([]Entry, []manifest.Problem) {
	var out []Entry
	var problems []manifest.Problem
	add := func(e Entry, err error, file, field string) {
		if err == nil && slices.ContainsFunc(out, func(o Entry) bool { return o.Class == e.Class }) {
			err = fmt.Errorf("%q is declared twice: the first counts", e.Class)
		}
		if err != nil {
			problems = append(problems, manifest.Problem{Code: "toolset-entry", Severity: manifest.SeverityWarning, File: file, Field: field, Message: err.Error()})
			return
		}
		out = append(out, e)
	}
	for _, text := range s.Manifest().Toolsets {
		e, err := parseEntry(s.FS(), text)
		add(withFile(s.FS(), e), err, "SKILL.md", "toolsets")
	}
	servers, file, err := readServers(s.FS())
	if err != nil {
		add(Entry{}, err, file, "mcpServers")
	}
	for _, server := range servers {
		e, err := server.entry(file)
		add(withFile(s.FS(), e), err, file, "mcpServers")
	}
	return out, problems
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
		return Entry{}, fmt.Errorf("%.100q is neither module:Class nor path:Class", text)
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
		return Entry{}, fmt.Errorf("%.100q leads out of the skill's folder", text)
	}
	return Entry{}, fmt.Errorf("toolset %s: the skill has no file %s", text, tried[0].file)
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
		return Entry{}, fmt.Errorf("%.100q does not name a server and its command: write NAME=COMMAND ARGUMENTS", text)
	}
	s := server{Name: name, Command: words[0], Args: words[1:]}
	e, err := s.entry("SKILL.md")
	e.Toolset = text
	return e, err
}
