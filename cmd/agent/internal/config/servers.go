package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/want"
)

// Server is an MCP server that a settings file names below `mcpServers:`. Its texts are as they are written: ${NAME} in Args, Env, URL and
// Headers stands for a variable.
type Server struct {
	Label  string `json:"-"`
	Origin Origin `json:"-"` // the server of a project is only proposed

	Command string            `json:"command,omitempty"` // of a server on this machine: a name on PATH or a path
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Cwd     string            `json:"cwd,omitempty"` // absolute; "" means the project

	URL     string            `json:"url,omitempty"` // of a server that is reached over HTTP, in place of Command
	Headers map[string]string `json:"headers,omitempty"`
	OAuth   *ServerOAuth      `json:"oauth,omitempty"`

	Tools   []string      `json:"tools,omitempty"`   // the only tools that are used; nil means all
	Ask     []string      `json:"ask,omitempty"`     // tools that are always asked about, or "all"
	Timeout time.Duration `json:"timeout,omitempty"` // of a call; 0 means the default
	Open    bool          `json:"open,omitempty"`    // sandbox: false
	Skills  bool          `json:"skills,omitempty"`  // its skills are used, too

	Opens want.Set `json:"opens,omitempty"` // what its command gets in the sandbox: hosts, and absolute files and folders
}

// ServerOAuth is a client that the user registered with the authorization server of a Server.
type ServerOAuth struct {
	ClientID     string   `json:"clientId,omitempty"`
	ClientSecret string   `json:"clientSecret,omitempty"` // ${NAME} stands for a variable
	CallbackPort int64    `json:"callbackPort,omitempty"` // of the address on this machine that the login comes back to; 0 means any
	Scopes       []string `json:"scopes,omitempty"`
}

// Digest names all that the entry says, and its label. Another entry has another one.
func (s *Server) Digest() string {
	text, err := json.Marshal(struct {
		Label string
		*Server
	}{s.Label, s})
	if err != nil {
		panic(err) // it has nothing that JSON does not know
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// CheckProposed returns an error for a server that another program names, if no file could name it so.
func CheckProposed(s *Server) error {
	if err := mcphost.CheckLabel(s.Label); err != nil {
		return err
	}
	if (s.Command != "") == (s.URL != "") {
		return errors.New("it needs a command or an address")
	}
	for name, value := range s.Env {
		if !variable.IsName(name) || strings.ContainsRune(value, 0) {
			return fmt.Errorf("%q is not a variable", name)
		}
	}
	for name, value := range s.Headers {
		if !isHeader(name) || strings.ContainsAny(value, "\x00\r\n") {
			return fmt.Errorf("%q is not a header", name)
		}
	}
	for _, text := range append([]string{s.Command}, s.Args...) {
		if strings.ContainsRune(text, 0) {
			return errors.New("its command has a zero byte")
		}
	}
	if s.URL == "" {
		return nil
	}
	return mcphost.CheckURL(s.URL)
}

// maxServers is how many servers one file may name.
const maxServers = 64

// labelCure says what a label is.
const labelCure = "use up to 64 letters, digits, - and _, without __ and without _ at the end"

// servers reads the map of servers of a file. A server with a part that cannot be read is left out.
func (r *reader) servers(n *yamlnode.Node) []Server {
	var out []Server
	seen := map[string]bool{}
	for _, pair := range n.Pairs {
		label := pair.Key.Value
		switch {
		case mcphost.CheckLabel(label) != nil:
			r.wrong(pair.Key, fmt.Sprintf("%q cannot be the label of a server: ignored", label), labelCure)
			continue
		case seen[label]:
			r.wrong(pair.Key, fmt.Sprintf("duplicate server %q: the first counts", label), "keep one of them")
			continue
		case len(out) == maxServers:
			r.wrong(pair.Key, fmt.Sprintf("more than %d servers: the others are ignored", maxServers), "remove some")
			return out
		}
		seen[label] = true
		f := &serverFields{r: r, s: &Server{Label: label, Origin: r.at.in(pair.Key)}}
		if f.read(pair.Value); !f.lost {
			out = append(out, *f.s)
		}
	}
	return out
}

// serverFields reads one server.
type serverFields struct {
	r    *reader
	s    *Server
	lost bool // a part of it cannot be read
}

// serverKeys returns the keys of a server, in the order of the documentation.
func serverKeys() []string {
	out := []string{"type", "command", "args", "env", "cwd", "url", "headers", "oauth", "tools", "ask", "timeout", "sandbox", "skills"}
	for _, k := range want.Kinds() {
		if k.Opens() {
			out = append(out, opensKey(k))
		}
	}
	return out
}

// opensKey is the key of what a server's command gets of a kind, as a manifest has it.
func opensKey(k want.Kind) string { return k.Title(want.Declared) }

func (f *serverFields) wrong(n *yamlnode.Node, cure, format string, args ...any) {
	f.lost = true
	f.r.wrong(n, fmt.Sprintf("server %q: ", f.s.Label)+fmt.Sprintf(format, args...), cure)
}

// fails reports an error of a part, if there is one.
func (f *serverFields) fails(n *yamlnode.Node, err error) {
	if v, ok := err.(*valueError); ok {
		f.wrong(n, v.cure, "%s", v.message)
	}
}

func (f *serverFields) read(n *yamlnode.Node) {
	if n.Kind != yamlnode.Mapping {
		f.wrong(n, "write a map with command or url", "it must be a map, not a %s", n.Kind)
		return
	}
	kindOf := ""
	for _, p := range n.Pairs {
		name := camel(p.Key.Value)
		switch {
		case !slices.Contains(serverKeys(), name):
			f.r.wrong(p.Key, fmt.Sprintf("server %q: unknown key %q", f.s.Label, p.Key.Value), didYouMean(name, serverKeys()))
		case p.Value.Kind == yamlnode.Null:
		case name == "type":
			kindOf = f.text(p.Value)
		default:
			f.field(name, p.Value)
		}
	}
	f.check(n, kindOf)
}

// field reads the value of one key.
func (f *serverFields) field(name string, n *yamlnode.Node) {
	s := f.s
	flag := func() bool {
		v, err := truth(&key{name: name}, f.text(n))
		f.fails(n, err)
		on, _ := v.(bool)
		return on
	}
	switch name {
	case "command":
		s.Command = f.text(n)
	case "args":
		s.Args = f.texts(n)
	case "env":
		s.Env = f.pairs(n, variable.IsName, "the name of a variable")
	case "cwd":
		if s.Cwd = absolute(f.text(n), f.r.base, f.r.home); s.Cwd == "" {
			f.wrong(n, "write an absolute path, or one that begins with ~/", "invalid cwd %q", n.Value)
		}
	case "url":
		s.URL = f.text(n)
	case "headers":
		s.Headers = f.pairs(n, isHeader, "the name of a header")
	case "oauth":
		f.oauth(n)
	case "tools":
		s.Tools = append([]string{}, f.texts(n)...)
	case "ask":
		if s.Ask = []string{"all"}; n.Kind != yamlnode.Scalar || !strings.EqualFold(n.Value, "all") && !strings.EqualFold(n.Value, "true") {
			s.Ask = f.texts(n)
		}
	case "timeout":
		v, err := f.r.duration(&key{name: name, min: 1, max: 86_400_000}, f.text(n))
		f.fails(n, err)
		s.Timeout, _ = v.(time.Duration)
	case "sandbox":
		s.Open = !flag()
	case "skills":
		s.Skills = flag()
	default:
		for _, k := range want.Kinds() {
			if k.Opens() && opensKey(k) == name {
				s.Opens = s.Opens.Add(f.opens(k, n)...)
			}
		}
	}
}

// opens reads what the command of a server gets of a kind.
func (f *serverFields) opens(k want.Kind, n *yamlnode.Node) (out want.Set) {
	form := hosts
	if k.Files() {
		form = places
	}
	v, err := f.r.list(&key{name: opensKey(k), kind: form}, n)
	f.fails(n, err)
	names, _ := v.([]string)
	for _, name := range names {
		if k == want.Host && name == allHosts {
			name = want.Any
		}
		out = append(out, want.Want{Kind: k, Name: name, From: want.User})
	}
	return out
}

// allHosts is how a list of hosts names every host.
const allHosts = "all"

func (f *serverFields) oauth(n *yamlnode.Node) {
	if n.Kind != yamlnode.Mapping {
		f.wrong(n, "write {clientId: …, scopes: […]}", "oauth must be a map, not a %s", n.Kind)
		return
	}
	o := &ServerOAuth{}
	known := []string{"clientId", "clientSecret", "callbackPort", "scopes"}
	for _, p := range n.Pairs {
		switch name := camel(p.Key.Value); name {
		case "clientId":
			o.ClientID = f.text(p.Value)
		case "clientSecret":
			o.ClientSecret = f.text(p.Value)
		case "callbackPort":
			v, err := f.r.scalar(&key{name: name, kind: number, min: 1, max: 65535}, f.text(p.Value))
			f.fails(p.Value, err)
			o.CallbackPort, _ = v.(int64)
		case "scopes":
			o.Scopes = f.texts(p.Value)
		default:
			f.r.wrong(p.Key, fmt.Sprintf("server %q: unknown key %q of oauth", f.s.Label, p.Key.Value), didYouMean(name, known))
		}
	}
	f.s.OAuth = o
}

// check looks at the server as a whole. kindOf is its type.
func (f *serverFields) check(n *yamlnode.Node, kindOf string) {
	s := f.s
	local, remote := kindOf == "" || kindOf == "stdio", kindOf == "" || kindOf == "http" || kindOf == "streamable-http" || kindOf == "streamableHttp"
	switch {
	case f.lost:
	case kindOf == "sse":
		f.wrong(n, `use "http" with the server's address for it, which often ends in /mcp`, "the type \"sse\" is a transport that MCP has replaced by streamable HTTP")
	case !local && !remote:
		f.wrong(n, `use "stdio" or "http"`, "servers of the type %q are not known", kindOf)
	case (s.Command != "") == (s.URL != ""):
		f.wrong(n, "write command for a program, or url for a server on the network", "it needs a command or a url")
	case s.Command != "" && !local, s.URL != "" && !remote:
		f.wrong(n, `leave "type" out`, "its type %q is not that of what it names", kindOf)
	case s.URL != "" && !strings.Contains(s.URL, "${"):
		if err := mcphost.CheckURL(s.URL); err != nil {
			f.wrong(n, "write an address such as https://mcp.example.com/mcp", "%v", err)
		}
	}
	if s.Origin.Rank == Project && s.Open {
		s.Open = false
		f.r.wrong(n, fmt.Sprintf("server %q: a project cannot take it out of the sandbox: ignored", s.Label), "add it to your own settings")
	}
}

// text returns a text that a process and a header can have.
func (f *serverFields) text(n *yamlnode.Node) string {
	if n.Kind != yamlnode.Scalar || strings.ContainsAny(n.Value, "\x00\r\n") {
		f.wrong(n, "write one line of text", "%q is not one line of text", n.Value)
		return ""
	}
	return strings.TrimSpace(n.Value)
}

func (f *serverFields) texts(n *yamlnode.Node) (out []string) {
	if n.Kind != yamlnode.Sequence {
		f.wrong(n, "write a list: [a, b]", "a list of texts was expected, not a %s", n.Kind)
		return nil
	}
	for _, item := range n.Items {
		if item.Kind != yamlnode.Scalar || strings.ContainsRune(item.Value, 0) {
			f.wrong(item, "write one text for each item", "an item of a list is not a text")
			continue
		}
		out = append(out, item.Value)
	}
	return out
}

// pairs reads a map of texts with names of a kind.
func (f *serverFields) pairs(n *yamlnode.Node, is func(string) bool, what string) map[string]string {
	if n.Kind != yamlnode.Mapping {
		f.wrong(n, `write {NAME: "value"}`, "a map of texts was expected, not a %s", n.Kind)
		return nil
	}
	out := map[string]string{}
	for _, p := range n.Pairs {
		if !is(p.Key.Value) {
			f.wrong(p.Key, `write {NAME: "value"}`, "%q is not %s", p.Key.Value, what)
			continue
		}
		out[p.Key.Value] = f.text(p.Value)
	}
	return out
}

var header = lazyregexp.New("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")

func isHeader(text string) bool { return header().MatchString(text) }
