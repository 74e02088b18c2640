package scan

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skill/scan/internal/code"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
	"github.com/agent-base/agent-base/skill/scan/internal/flow"
	"github.com/agent-base/agent-base/skill/scan/internal/js"
)

const frontMatterName = "front matter"

// frontMatter reads the front matter of a Markdown file and returns the text after it, and how many lines are before that.
func (r *reader) frontMatter(at int, text string) (rest string, lines int) {
	if !strings.HasPrefix(text, "---") {
		return text, 0
	}
	head, rest, ok := strings.Cut(text[3:], "\n---")
	if !ok || len(head) > manifest.MaxFrontMatter {
		return text, 0
	}
	_, rest, _ = strings.Cut(rest, "\n")
	r.tree(at, head, frontMatterName)
	return rest, strings.Count(text[:len(text)-len(rest)], "\n")
}

// data reads a file of JSON or YAML.
func (r *reader) data(at int, text string) {
	name := path.Base(r.r.Files[at].name())
	switch {
	case strings.HasSuffix(name, ".ipynb"):
		r.notebook(at, text)
	case len(text) > maxPerhaps:
		if isNamed("manifest", name) {
			r.partly(at, "it is too large for what it is")
		}
	case strings.HasSuffix(name, ".toml"):
		r.toml(at, text)
	case !strings.ContainsAny(text, "{:"):
	default:
		r.tree(at, text, name)
	}
}

// notebook reads the code of a notebook.
func (r *reader) notebook(at int, text string) {
	var book struct {
		Cells []struct {
			Kind   string          `json:"cell_type"`
			Source json.RawMessage `json:"source"`
		} `json:"cells"`
	}
	if err := json.Unmarshal([]byte(text), &book); err != nil {
		r.partly(at, "it is no notebook")
		return
	}
	for _, c := range book.Cells {
		var lines []string
		if json.Unmarshal(c.Source, &lines) != nil {
			lines = make([]string, 1)
			if json.Unmarshal(c.Source, &lines[0]) != nil {
				continue
			}
		}
		place := r.r.Files[at].place()
		place.Block = c.Kind
		switch source := (source{language: flow.Python, text: strings.Join(lines, ""), line: 1, place: place, file: at}); c.Kind {
		case "code":
			r.sources = append(r.sources, source)
		case "markdown":
			r.markdown(at, source.text)
		}
	}
}

// tree reads what a manifest says, line by line for places.
func (r *reader) tree(at int, text, name string) {
	keys := commandKeys(r.r.Files[at].name())
	if keys == nil && !interesting(text) {
		return
	}
	n := r.json(text, name)
	if n == nil {
		var err error
		if n, err = yamlnode.Parse([]byte(text), &yamlnode.Options{MaxDepth: 60}); err != nil {
			if isNamed("manifest", name) {
				r.partly(at, "it is no JSON, and programs may obey it")
			}
			return
		}
	}
	m := &declared{r: r, at: at, npm: name == "package.json", front: name == frontMatterName, commands: keys}
	m.node(n, nil)
}

// interesting reports whether a text has a key that matters here.
func interesting(text string) bool {
	for _, word := range []string{"command", "hooks", "mcpServers", "mcp", "scripts", "ependencies", "url", "install", "allowed-tools", "run"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// json reads JSON, also with comments, nil for another text.
func (r *reader) json(text, name string) *yamlnode.Node {
	if !strings.Contains(path.Ext(name), ".json") {
		return nil
	}
	p := js.Read(r.ctx, js.JavaScript, []byte(strings.TrimSpace(text)), 1+strings.Count(text[:len(text)-len(strings.TrimLeft(text, " \t\r\n"))], "\n"))
	if p.Partly != "" || len(p.Body) != 1 || p.Body[0].Value == nil {
		return nil
	}
	return fromJSON(p.Body[0].Value)
}

// fromJSON returns JSON as YAML. Its depth has the bound of package code.
func fromJSON(v *code.Value) *yamlnode.Node {
	n := &yamlnode.Node{Value: v.Text, Quoted: v.Form == code.Text, Line: v.Line}
	for i := range v.Args {
		switch item := fromJSON(&v.Args[i]); v.Form {
		case code.Map:
			if i >= len(v.Keys) {
				continue
			}
			n.Kind = yamlnode.Mapping
			n.Pairs = append(n.Pairs, yamlnode.Pair{Key: &yamlnode.Node{Value: v.Keys[i], Line: item.Line}, Value: item})
		case code.List:
			n.Kind = yamlnode.Sequence
			n.Items = append(n.Items, item)
		}
	}
	return n
}

// declared reads what a manifest declares.
type declared struct {
	r     *reader
	at    int
	npm   bool
	front bool // it is front matter

	commands []string // keys whose values are commands
}

func (m *declared) place(n *yamlnode.Node, block string) fact.Place {
	p := m.r.r.Files[m.at].place()
	p.Line, p.Block = n.Line, block
	return p
}

func (m *declared) add(f fact.Fact) { m.r.found = append(m.r.found, f) }

// node reads a value below some keys.
func (m *declared) node(n *yamlnode.Node, keys []string) {
	if n == nil || len(keys) > 60 {
		return
	}
	for _, item := range n.Items {
		m.node(item, keys)
	}
	if n.Kind != yamlnode.Mapping {
		return
	}
	m.server(n, keys)
	for _, p := range n.Pairs {
		m.pair(p.Key.Value, p.Value, keys)
		m.node(p.Value, append(slices.Clip(keys), p.Key.Value))
	}
}

func (m *declared) pair(key string, v *yamlnode.Node, keys []string) {
	top := len(keys) == 0
	switch {
	case slices.Contains(m.commands, strings.ToLower(key)):
		m.words(strings.ToLower(key), v)
	case top && (key == "allowed-tools" || key == "allowed_tools"):
		m.allowed(v)
	case m.npm && top && key == "scripts":
		for _, p := range v.Pairs {
			m.command(p.Value, !slices.Contains([]string{"preinstall", "install", "postinstall", "prepare", "prepublish"}, p.Key.Value))
		}
	case m.npm && top && strings.HasSuffix(strings.ToLower(key), "dependencies"):
		for _, p := range v.Pairs {
			f := flow.Package("npm", p.Key.Value+"@"+p.Value.Value)
			f.Place = m.place(p.Key, "")
			m.add(f)
		}
	case key == "install" && slices.Contains(keys, "metadata"):
		m.installs(v)
	case key == "command" && slices.Contains(keys, "hooks"), m.front && !v.Nested() && isCommand(v.Value) && key != "description":
		m.command(v, false)
	}
}

// server reads a server of MCP: a command with arguments, or an address.
func (m *declared) server(n *yamlnode.Node, keys []string) {
	in := slices.ContainsFunc(keys, func(k string) bool {
		k = strings.ToLower(k)
		return k == "mcpservers" || k == "servers" || k == "mcp" || k == "mcp_servers"
	})
	if !in {
		return
	}
	get := func(key string) *yamlnode.Node {
		for _, p := range n.Pairs {
			if p.Key.Value == key {
				return p.Value
			}
		}
		return nil
	}
	if u := get("url"); u != nil {
		if host := flow.Host(u.Value); host != "" {
			m.add(fact.Fact{Kind: fact.Sends, Object: fact.Host, Name: host, Detail: u.Value, Place: m.place(u, "mcp")})
		}
	}
	c := get("command")
	if c == nil || c.Nested() {
		return
	}
	words := []string{c.Value}
	if args := get("args"); args != nil {
		for _, item := range args.Items {
			words = append(words, quoted(item.Value))
		}
	}
	s := source{language: flow.Shell, text: strings.Join(words, " "), line: c.Line, place: m.place(c, "mcp"), file: m.at, maybe: language.Named(path.Base(c.Value)) != language.Shell}
	s.place.Line = 0
	m.r.sources = append(m.r.sources, s)
}

func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

func (m *declared) command(n *yamlnode.Node, maybe bool) {
	if n == nil || n.Nested() || n.Value == "" {
		return
	}
	place := m.place(n, "hook")
	place.Line = 0
	m.r.sources = append(m.r.sources, source{language: flow.Shell, text: n.Value, line: n.Line, place: place, file: m.at, maybe: maybe})
}

// allowed reads the commands of allowed-tools.
func (m *declared) allowed(n *yamlnode.Node) {
	texts := []string{n.Value}
	for _, item := range n.Items {
		texts = append(texts, item.Value)
	}
	for _, t := range texts {
		for rest := t; ; {
			_, after, ok := strings.Cut(rest, "Bash(")
			if !ok {
				break
			}
			rule, tail, _ := strings.Cut(after, ")")
			rest = tail
			name, _, _ := strings.Cut(strings.TrimSpace(rule), " ")
			name, _, _ = strings.Cut(name, ":")
			if name = strings.Trim(name, "*"); flow.IsProgram(name) {
				m.add(fact.Fact{Kind: fact.Runs, Object: fact.Program, Name: path.Base(name), Detail: rule, Place: m.place(n, "allowed-tools"), Maybe: true})
			}
		}
	}
}

// installs reads the packages below metadata: {kind: brew, formula: x}.
func (m *declared) installs(n *yamlnode.Node) {
	for _, item := range n.Items {
		kind, name := "", ""
		for _, p := range item.Pairs {
			switch p.Key.Value {
			case "kind":
				kind = p.Value.Value
			case "formula", "package", "module", "name":
				name = p.Value.Value
			case "url":
				if host := flow.Host(p.Value.Value); host != "" {
					m.add(fact.Fact{Kind: fact.Sends, Object: fact.Host, Name: host, Detail: p.Value.Value, Place: m.place(p.Value, "install")})
					m.add(fact.Fact{Kind: fact.Needs, Object: fact.Package, Name: p.Value.Value, Detail: "url " + p.Value.Value, Place: m.place(p.Value, "install"), From: []int{len(m.r.found) - 1}})
				}
			}
		}
		if name != "" {
			f := flow.Package(registryOf(kind), name)
			f.Place = m.place(item, "install")
			m.add(f)
		}
	}
}

// registryOf returns the registry of a kind of installation.
func registryOf(kind string) string {
	if kind == "" {
		return "system"
	}
	if r := flow.Registry(kind); r != "" {
		return r
	}
	return kind
}

// maxProject bounds a pyproject.toml, and so how deep its parser goes.
const maxProject = 64 << 10

// toml reads the dependencies of a pyproject.toml.
func (r *reader) toml(at int, text string) {
	if path.Base(r.r.Files[at].name()) != "pyproject.toml" {
		return
	}
	var p struct {
		Project struct {
			Dependencies []string            `toml:"dependencies"`
			Optional     map[string][]string `toml:"optional-dependencies"`
		} `toml:"project"`
		Build struct {
			Requires []string `toml:"requires"`
		} `toml:"build-system"`
		Groups map[string][]any `toml:"dependency-groups"`
	}
	if len(text) > maxProject {
		r.partly(at, "it has more than 64 KiB")
		return
	}
	if err := toml.Unmarshal([]byte(text), &p); err != nil {
		r.partly(at, "it is no TOML, and programs may obey it")
		return
	}
	all := slices.Concat(p.Project.Dependencies, p.Build.Requires)
	for _, key := range slices.Sorted(maps.Keys(p.Project.Optional)) {
		all = append(all, p.Project.Optional[key]...)
	}
	for _, key := range slices.Sorted(maps.Keys(p.Groups)) {
		for _, item := range p.Groups[key] {
			if name, ok := item.(string); ok {
				all = append(all, name)
			}
		}
	}
	for _, name := range all {
		before, _, _ := strings.Cut(text, name)
		r.need(at, "pypi", name, strings.Count(before, "\n")+1)
	}
}

func (r *reader) need(at int, registry, name string, line int) {
	f := flow.Package(registry, name)
	f.Place = r.r.Files[at].place()
	f.Place.Line = line
	r.found = append(r.found, f)
}

func isRequirements(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "requirements") && strings.HasSuffix(base, ".txt")
}

// requirements reads the packages of a requirements.txt.
func (r *reader) requirements(at int, text string) {
	line := 0
	for l := range strings.SplitSeq(text, "\n") {
		line++
		l, _, _ = strings.Cut(l, " #")
		l = strings.TrimSpace(l)
		if l != "" && l[0] != '#' && l[0] != '-' {
			r.need(at, "pypi", l, line)
		}
	}
}
