package skill

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// Limits on what is read of a SKILL.md (security 2.1).
const (
	MaxFrontMatter = 64 << 10
	MaxManifest    = 1 << 20
)

// ParseOptions tells Parse about the file. The zero value is useful.
type ParseOptions struct {
	File    string   // what problems call the file; default "SKILL.md"
	Dir     string   // name of the skill's directory; "" when unknown
	Profile *Profile // nil means DefaultProfile
}

// Parse reads the text of a SKILL.md. It never fails and never returns nil: it gives the best
// manifest that the text allows and every problem it has, in file order.
func Parse(src []byte, o *ParseOptions) (*Manifest, []Problem) {
	if o == nil {
		o = &ParseOptions{}
	}
	p := &parser{file: o.File, dir: o.Dir, profile: o.Profile}
	if p.file == "" {
		p.file = "SKILL.md"
	}
	if p.profile == nil {
		p.profile = DefaultProfile()
	}
	p.m = &Manifest{DefaultEnabled: true, UserInvocable: true, Name: o.Dir}
	p.parse(src)
	return p.m, p.problems
}

type parser struct {
	file, dir string
	profile   *Profile
	m         *Manifest
	problems  []Problem
}

func (p *parser) fatal(code string, line int, msg string) {
	p.problems = append(p.problems, Problem{Code: code, Severity: Error, File: p.file, Line: line, Col: 1, Message: msg, Fatal: true})
}

func (p *parser) parse(src []byte) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	if !bytes.HasPrefix(src, []byte("---\n")) {
		p.fatal("frontmatter-missing", 1, "SKILL.md must start with YAML front matter")
		return
	}
	front, body, ok := bytes.Cut(src[4:], []byte("\n---"))
	if !ok {
		p.fatal("frontmatter-unclosed", 1, "SKILL.md frontmatter not terminated")
		return
	}
	p.m.Body = strings.TrimSpace(string(body))
	root, err := yamlnode.Parse(front, nil)
	if err != nil {
		p.fatal("yaml-syntax", 1, err.Error())
		return
	}
	for _, kv := range root.Pairs {
		p.field(kv.Key.Value, kv.Value)
	}
	if p.m.Description == "" {
		p.fatal("fields-missing", 1, fmt.Sprintf("missing '%s'", "description"))
	}
	p.m.Brief = brief(p.m.Description)
}

func (p *parser) field(key string, v *yamlnode.Node) {
	p.m.Fields = append(p.m.Fields, Field{Key: key, Line: v.Line + 1, Col: v.Col, Value: v.Value})
	switch key {
	case "name":
		p.m.Name = v.Value
	case "description":
		p.m.Description = strings.TrimSpace(v.Value)
	case "license":
		p.m.License = v.Value
	case "version":
		p.m.Version = v.Value
	}
}

func brief(s string) string {
	s, _, _ = strings.Cut(s, ". ")
	return s
}
