package toolset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/placeholder"
	"github.com/agent-base/agent-base/want"
)

// serverFiles are the files of a skill that declare servers, in the order in which they are looked for.
var serverFiles = []string{"mcp.json", ".mcp.json"}

const maxServerFile = 64 << 10 // bytes

var serverName = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// server is one value of mcpServers.
type server struct {
	Name    string            `json:"-"`
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	Cwd     string            `json:"cwd"`
	URL     string            `json:"url"`
	err     error

	line, col int // of its name in the file
}

// readServers returns the servers that a file of the skill declares, by name, and the file.
func readServers(fsys fs.FS) ([]server, string, error) {
	for _, name := range serverFiles {
		b, err := readFile(fsys, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, name, wrong("check its type, size and permissions", "%s cannot be read: %v", name, err)
		}
		servers, err := parseServers(b)
		return servers, name, err
	}
	return nil, "", nil
}

func readFile(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxServerFile+1))
	if err == nil && len(b) > maxServerFile {
		err = fmt.Errorf("it has more than %d bytes", maxServerFile)
	}
	return b, err
}

// parseServers reads {"mcpServers": {NAME: {command, args, env, cwd}}}, also without the outer key.
func parseServers(b []byte) ([]server, error) {
	var outer map[string]json.RawMessage
	if err := json.Unmarshal(b, &outer); err != nil {
		return nil, wrong(mcpForm, "it is not a JSON object: %v%s", err, inLine(b, err))
	}
	raw, ok := outer["mcpServers"]
	if !ok {
		return nil, wrong(mcpForm, `it has no "mcpServers"`)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, wrong(mcpForm, `"mcpServers" is not an object: %v`, err)
	}
	var out []server
	places := namePlaces(b)
	for name, text := range all {
		s := server{Name: name}
		if err := json.Unmarshal(text, &s); err != nil {
			s.err = wrong(mcpForm, "server %.64q: %v", name, err)
		}
		s.line, s.col = lineOf(b, places[name])
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b server) int { return strings.Compare(a.Name, b.Name) })
	if len(out) > maxEntries {
		return out[:maxEntries], wrong("leave some out", "it has %d servers, and the first %d count", len(out), maxEntries)
	}
	return out, nil
}

const mcpForm = `write {"mcpServers": {"NAME": {"command": "PROGRAM", "args": ["ARGUMENT"]}}}`

// inLine says where a text is no JSON, if that is known.
func inLine(b []byte, err error) string {
	bad, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return ""
	}
	line, col := lineOf(b, int(bad.Offset)-1)
	return fmt.Sprintf(" (line %d, column %d)", line, col)
}

// lineOf returns the line and the column of a byte of a text, from 1.
func lineOf(b []byte, offset int) (line, col int) {
	before := b[:min(max(offset, 0), len(b))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// namePlaces returns where the names of the servers begin in a JSON text, by name.
func namePlaces(b []byte) map[string]int {
	out := map[string]int{}
	dec := json.NewDecoder(bytes.NewReader(b))
	_ = members(dec, func(name string, _ int) error {
		if name != "mcpServers" {
			return dec.Decode(new(json.RawMessage))
		}
		return members(dec, func(name string, at int) error {
			out[name] = at
			return dec.Decode(new(json.RawMessage))
		})
	})
	return out
}

// members calls each for the name of each member of an object, and where it begins. each reads the value.
func members(dec *json.Decoder, each func(name string, at int) error) error {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return cmp.Or(err, errors.New("it is not an object"))
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if err := each(name, int(dec.InputOffset())-len(name)-2); err != nil { // of a name without escapes
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// entry checks a server.
func (s *server) entry(file string) (Entry, error) {
	switch {
	case s.err != nil:
		return Entry{}, s.err
	case !serverName().MatchString(s.Name):
		return Entry{}, wrong("rename it", "server %.64q: a name begins with a letter, and has letters, digits, - and _, at most 64", s.Name)
	case s.URL != "" || s.Type != "" && s.Type != "stdio":
		return Entry{}, wrong("leave it out, or name a command that starts a server", "server %q is reached over the network: only servers that are started by a command are used", s.Name)
	case strings.TrimSpace(s.Command) == "":
		return Entry{}, wrong(`name the program that is the server, as in "command": "npx"`, "server %q has no command", s.Name)
	}
	if err := s.check(); err != nil {
		return Entry{}, err
	}
	c := &Command{From: file, Path: inSkill(s.Command), Args: s.Args, Env: s.Env, Dir: strings.TrimPrefix(inSkill(s.Cwd), "./")}
	if c.Dir != "" && !fs.ValidPath(c.Dir) {
		return Entry{}, wrong(`write "cwd" as a folder in the skill, such as "server", or leave it out`, "server %q starts in %.100q, which is not a folder in the skill", s.Name, s.Cwd)
	}
	c.pythonOfUV()
	return Entry{Toolset: s.Name, Class: s.Name, Language: Server, Command: c}, nil
}

// check returns an error for a server with a text that no process can have.
func (s *server) check() error {
	texts := append([]string{s.Command, s.Cwd}, s.Args...)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if err := want.VariableOf(name).Check(); err != nil {
			return wrong(`write "env" as {"NAME": "value"}`, "server %q: %v", s.Name, err)
		}
		texts = append(texts, s.Env[name])
	}
	for _, text := range texts {
		if strings.ContainsRune(text, 0) {
			return wrong(`leave "\u0000" out`, "server %q: %.64q has a NUL, which no command, argument or variable can have", s.Name, text)
		}
	}
	return nil
}

// pythonOfUV makes python3 FILE of uv run FILE: the engine prepares what the file needs.
func (c *Command) pythonOfUV() {
	if c.Path != "uv" || len(c.Args) < 2 || c.Args[0] != "run" {
		return
	}
	rest := c.Args[1:]
	for len(rest) > 1 && (rest[0] == "--script" || rest[0] == "--quiet" || rest[0] == "-q" || rest[0] == "-s") {
		rest = rest[1:]
	}
	if path.Ext(rest[0]) == ".py" {
		c.Path, c.Args = "python3", rest
	}
}

// programs are the interpreters whose file may need packages that the engine prepares.
var programs = map[string]Language{"python": Python, "python3": Python, "node": Node, "bun": Node, "deno": Node}

// file returns the file of the skill that an interpreter is started with, as a slash path, "" if the command is no interpreter
// or has none.
func (c *Command) file(fsys fs.FS) string {
	lang, ok := programs[c.Path]
	if !ok {
		return ""
	}
	for _, a := range c.Args {
		name := c.below(a)
		if languageOf(name) != lang || !fs.ValidPath(name) {
			continue
		}
		if info, err := fs.Stat(fsys, name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// below returns the path in the skill that an argument is, if it is one.
func (c *Command) below(arg string) string {
	name := inSkill(arg)
	if below, ok := strings.CutPrefix(name, "./"); ok && name != arg {
		return path.Clean(below)
	}
	return path.Join(c.Dir, name)
}

// missing returns the file of the skill that the command is, or that its interpreter is started with, if the skill does not have
// it; "" if it has, or if the command does not name one.
func (c *Command) missing(fsys fs.FS) string {
	name, ok := strings.CutPrefix(c.Path, "./")
	args := slices.DeleteFunc(slices.Clone(c.Args), pythonFlag().MatchString)
	if lang, interpreter := programs[c.Path]; interpreter && len(args) > 0 {
		name = c.below(args[0])
		ok = languageOf(name) == lang && !path.IsAbs(args[0])
	}
	if !ok || !fs.ValidPath(name) || strings.Contains(name, "$") {
		return ""
	}
	if _, err := fs.Stat(fsys, name); errors.Is(err, fs.ErrNotExist) {
		return name
	}
	return ""
}

// pythonFlag matches options of Python that stand alone before the file.
var pythonFlag = lazyregexp.New(`^-[BEIOSqsu]+$`)

// inSkill returns a path below the skill's folder as one that begins with "./", and another one unchanged.
func inSkill(text string) string {
	rest, ok := strings.CutPrefix(text, "${CLAUDE_PLUGIN_ROOT}")
	if n := placeholder.Folder(text, ""); n > 0 {
		rest, ok = text[n:], true
	}
	if ok && (rest == "" || rest[0] == '/') {
		return "./" + strings.TrimPrefix(rest, "/")
	}
	return text
}
