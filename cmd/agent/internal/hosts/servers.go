package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// MCPServer is an MCP server that an agent starts.
type MCPServer struct {
	Name    string // in the agent's configuration: letters, digits, - and _
	Command string
	Args    []string
}

// mcpFile is where an agent has its MCP servers.
type mcpFile struct {
	id, title string // "" for title: as in All
	file      string // slash path below the home folder
	mac       string // the same on macOS, if it differs
	table     string // the key of the servers
	shape     func(s *MCPServer) any
}

// mcpFiles are the agents whose configuration is known, with the form of an entry.
var mcpFiles = []mcpFile{
	{id: "claude", file: ".claude.json", table: "mcpServers", shape: usualShape},
	{id: "codex", file: ".codex/config.toml", table: "mcp_servers", shape: nil},
	{id: "gemini", file: ".gemini/settings.json", table: "mcpServers", shape: usualShape},
	{id: "opencode", file: ".config/opencode/opencode.json", table: "mcp", shape: func(s *MCPServer) any {
		return struct {
			Type    string   `json:"type"`
			Command []string `json:"command"`
			Enabled bool     `json:"enabled"`
		}{"local", append([]string{s.Command}, s.Args...), true}
	}},
	{id: "copilot", file: ".copilot/mcp-config.json", table: "mcpServers", shape: func(s *MCPServer) any {
		return struct {
			Type    string   `json:"type"`
			Command string   `json:"command"`
			Args    []string `json:"args"`
			Tools   []string `json:"tools"`
		}{"local", s.Command, s.Args, []string{"*"}}
	}},
	{id: "qwen", file: ".qwen/settings.json", table: "mcpServers", shape: usualShape},
	{id: "cursor", file: ".cursor/mcp.json", table: "mcpServers", shape: usualShape},
	{id: "vscode", title: "VS Code", file: ".config/Code/User/mcp.json", mac: "Library/Application Support/Code/User/mcp.json", table: "servers", shape: func(s *MCPServer) any {
		return struct {
			Type    string   `json:"type"`
			Command string   `json:"command"`
			Args    []string `json:"args"`
		}{"stdio", s.Command, s.Args}
	}},
}

func usualShape(s *MCPServer) any {
	return struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{s.Command, s.Args}
}

// MCPClients returns the IDs of the agents whose MCP servers can be changed.
func MCPClients() []string {
	var out []string
	for _, f := range mcpFiles {
		out = append(out, f.id)
	}
	return out
}

// MCPConfig is the configuration of an agent that names MCP servers.
type MCPConfig struct {
	Title string // of the agent
	File  string // absolute
	f     mcpFile
}

// FindMCP returns the configuration of the agent with an ID, or another name of it, below a home folder. goos is the system, as
// runtime.GOOS names it. It returns false if there is none.
func FindMCP(name, home, goos string) (*MCPConfig, bool) {
	name = strings.ToLower(name)
	h, known := Find(name)
	i := slices.IndexFunc(mcpFiles, func(f mcpFile) bool { return f.id == name })
	if i < 0 && known {
		i = slices.IndexFunc(mcpFiles, func(f mcpFile) bool { return f.id == h.ID })
	}
	if i < 0 {
		return nil, false
	}
	c := &MCPConfig{Title: h.Title, f: mcpFiles[i]}
	if c.f.title != "" {
		c.Title = c.f.title
	}
	file := c.f.file
	if goos == "darwin" && c.f.mac != "" {
		file = c.f.mac
	}
	c.File = filepath.Join(home, filepath.FromSlash(file))
	return c, true
}

// Entry returns what a configuration that has nothing else would be: for people who write it themselves.
func (c *MCPConfig) Entry(s *MCPServer) string {
	b, err := c.With(nil, s)
	if err != nil { // an empty file takes every entry
		panic(err)
	}
	return string(b)
}

// errForm says that a file is not what its agent would read.
var errForm = errors.New("it is not what the agent reads")

// With returns the text of the configuration with a server. Everything else in it stays as it is, comments too. It returns ErrExists if there is another
// server of that name, and the text unchanged if this one is there.
func (c *MCPConfig) With(text []byte, s *MCPServer) ([]byte, error) {
	if c.f.shape == nil {
		return keepEnds(text, s, c.withTOML)
	}
	return keepEnds(text, s, c.withJSON)
}

// Without returns the text of the configuration without a server that With added. It returns ErrExists if another server has its name.
func (c *MCPConfig) Without(text []byte, s *MCPServer) ([]byte, error) {
	if c.f.shape == nil {
		return keepEnds(text, s, c.withoutTOML)
	}
	return keepEnds(text, s, c.withoutJSON)
}

// keepEnds changes a text. If all its lines end with CR LF, so do those of the result.
func keepEnds(text []byte, s *MCPServer, change func([]byte, *MCPServer) ([]byte, error)) ([]byte, error) {
	lf, crlf := []byte("\n"), []byte("\r\n")
	if n := bytes.Count(text, lf); n == 0 || bytes.Count(text, crlf) != n {
		return change(text, s)
	}
	out, err := change(bytes.ReplaceAll(text, crlf, lf), s)
	return bytes.ReplaceAll(out, lf, crlf), err
}

func (c *MCPConfig) withJSON(text []byte, s *MCPServer) ([]byte, error) {
	v, has, err := c.readJSON(text, s)
	if err != nil || has {
		return text, err
	}
	indent := indentOf(text)
	if v.Find("/"+c.f.table) == nil {
		if err := add(v, "/"+c.f.table, struct{}{}, indent, 1); err != nil {
			return nil, err
		}
	}
	if err := add(v, "/"+c.f.table+"/"+s.Name, c.f.shape(s), indent, 2); err != nil {
		return nil, err
	}
	return v.Pack(), nil
}

// indentOf returns how far a text indents its first level.
func indentOf(text []byte) string {
	if found := firstIndent().FindSubmatch(text); found != nil {
		return string(found[1])
	}
	return "  "
}

var firstIndent = lazyregexp.New(`(?m)^([ \t]+)"`)

// add adds a member at a path, at the end of its object, laid out as the members before it. depth is how many objects it is in.
func add(v *hujson.Value, path string, value any, indent string, depth int) error {
	at := v.Find(path[:strings.LastIndexByte(path, '/')])
	parent, ok := at.Value.(*hujson.Object)
	if !ok {
		return errForm
	}
	lines := len(parent.Members) == 0 || bytes.Contains(parent.Members[0].Name.BeforeExtra, []byte("\n"))
	prefix := strings.Repeat(indent, depth)
	b, err := json.Marshal(value)
	if lines && err == nil {
		b, err = json.MarshalIndent(value, prefix, indent)
	}
	if err != nil {
		return err
	}
	if err := apply(v, []map[string]any{{"op": "add", "path": path, "value": nil}}); err != nil {
		return err
	}
	pretty, err := hujson.Parse(b)
	if err != nil {
		return err
	}
	m := &parent.Members[len(parent.Members)-1]
	m.Value.Value, m.Value.BeforeExtra = pretty.Value, hujson.Extra(" ")
	if !lines {
		m.Name.BeforeExtra = append(m.Name.BeforeExtra, ' ')
		return nil
	}
	m.Name.BeforeExtra = append(bytes.TrimRight(m.Name.BeforeExtra, " \t\n"), "\n"+prefix...)
	if !bytes.Contains(parent.AfterExtra, []byte("\n")) {
		parent.AfterExtra = append(parent.AfterExtra, "\n"+strings.Repeat(indent, depth-1)...)
	}
	return nil
}

func (c *MCPConfig) withoutJSON(text []byte, s *MCPServer) ([]byte, error) {
	v, has, err := c.readJSON(text, s)
	if err != nil || !has {
		return text, err
	}
	path, depth := "/"+c.f.table+"/"+s.Name, 1
	if servers, ok := v.Find("/" + c.f.table).Value.(*hujson.Object); ok && len(servers.Members) == 1 && !bytes.Contains(servers.AfterExtra, []byte("/")) { // no comment
		path, depth = "/"+c.f.table, 0
	}
	if err := apply(v, []map[string]any{{"op": "remove", "path": path}}); err != nil {
		return nil, err
	}
	if left, ok := v.Find(path[:strings.LastIndexByte(path, '/')]).Value.(*hujson.Object); ok && bytes.Contains(left.AfterExtra, []byte("\n")) {
		left.AfterExtra = append(bytes.TrimRight(left.AfterExtra, " \t"), strings.Repeat(indentOf(text), depth)...)
	}
	return v.Pack(), nil
}

func apply(v *hujson.Value, patch []map[string]any) error {
	b, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	return v.Patch(b)
}

// readJSON reads a configuration, and says whether it has the server.
func (c *MCPConfig) readJSON(text []byte, s *MCPServer) (*hujson.Value, bool, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", errForm, err)
	}
	var all map[string]json.RawMessage
	plain := v.Clone()
	plain.Standardize()
	if err := json.Unmarshal(plain.Pack(), &all); err != nil {
		return nil, false, fmt.Errorf("%w: %w", errForm, err)
	}
	var servers map[string]json.RawMessage
	if raw, ok := all[c.f.table]; ok {
		if err := json.Unmarshal(raw, &servers); err != nil || servers == nil {
			return nil, false, fmt.Errorf("%w: %q is no map", errForm, c.f.table)
		}
	}
	was, ok := servers[s.Name]
	if !ok {
		return &v, false, nil
	}
	want, err := json.Marshal(c.f.shape(s))
	if err != nil {
		return nil, false, err
	}
	if !sameJSON(was, want) {
		return nil, false, fmt.Errorf("server %q: %w", s.Name, ErrExists)
	}
	return &v, true, nil
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

var inline = lazyregexp.New(`(?m)^\s*["']?mcp_servers["']?\s*=`)

// block returns a server as a table of TOML.
func (c *MCPConfig) block(s *MCPServer) string {
	var args []string
	for _, a := range s.Args {
		args = append(args, strconv.Quote(a))
	}
	return fmt.Sprintf("[%s.%s]\ncommand = %s\nargs = [%s]\n", c.f.table, s.Name, strconv.Quote(s.Command), strings.Join(args, ", "))
}

// hasTOML says whether a configuration has the server.
func (c *MCPConfig) hasTOML(text []byte, s *MCPServer) (bool, error) {
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		return false, fmt.Errorf("%w: %w", errForm, err)
	}
	servers, ok := all[c.f.table].(map[string]any)
	if _, there := all[c.f.table]; there && !ok {
		return false, fmt.Errorf("%w: %q is no table", errForm, c.f.table)
	}
	was, ok := servers[s.Name]
	if !ok {
		return false, nil
	}
	var want map[string]any
	if err := toml.Unmarshal([]byte(c.block(s)), &want); err != nil {
		return false, err
	}
	if fmt.Sprint(was) != fmt.Sprint(want[c.f.table].(map[string]any)[s.Name]) || !bytes.Contains(text, []byte(c.block(s))) {
		return false, fmt.Errorf("server %q: %w", s.Name, ErrExists)
	}
	return true, nil
}

func (c *MCPConfig) withTOML(text []byte, s *MCPServer) ([]byte, error) {
	if has, err := c.hasTOML(text, s); err != nil || has {
		return text, err
	}
	if inline().Match(text) { // TOML lets nobody add to a table that is written as a value
		return nil, fmt.Errorf("%w: %q is written on one line, and must be a table of its own", errForm, c.f.table)
	}
	out := slices.Clone(text)
	if len(out) > 0 {
		out = append(bytes.TrimRight(out, "\n"), "\n\n"...)
	}
	out = append(out, c.block(s)...)
	if has, err := c.hasTOML(out, s); err != nil || !has {
		return nil, fmt.Errorf("%w: a table cannot be added at its end", errForm)
	}
	return out, nil
}

func (c *MCPConfig) withoutTOML(text []byte, s *MCPServer) ([]byte, error) {
	if has, err := c.hasTOML(text, s); err != nil || !has {
		return text, err
	}
	before, after, _ := bytes.Cut(text, []byte(c.block(s)))
	before = bytes.TrimRight(before, "\n")
	if len(before) > 0 {
		before = append(before, '\n')
	}
	return append(before, after...), nil
}
