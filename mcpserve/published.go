package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/skilluri"
	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Limits of what the extension for skills publishes.
const (
	mostFiles = 512
	mostBytes = 16 << 20
)

// published is a skill as the extension publishes it.
type published struct {
	URI         string          `json:"uri"`
	FrontMatter json.RawMessage `json:"frontmatter"`
	Resources   []resource      `json:"resources"`
}

// resource is a file of a published skill.
type resource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

// unpublished says why a skill is not published by the extension. Its tools work all the same.
type unpublished struct{ Skill, Why string }

func (e *unpublished) Error() string {
	return fmt.Sprintf("skill '%s' is not published over MCP: %s", e.Skill, e.Why)
}

// Unpublished returns why the extension for skills has no place for a skill as it is on disk now; "" if it publishes it. It reads all files of
// the skill. The error is that of reading it.
func Unpublished(ctx context.Context, s *skill.Skill) (why string, err error) {
	_, err = publish(ctx, s)
	if e, ok := errors.AsType[*unpublished](err); ok {
		return e.Why, nil
	}
	return "", err
}

// publish returns a skill as it is on disk now. The error is an *unpublished if the extension has no place for it.
func publish(ctx context.Context, s *skill.Skill) (*published, error) {
	front, err := frontMatter(s)
	if err != nil {
		return nil, err
	}
	out := &published{URI: skilluri.Of(s.Name(), skilluri.Manifest), FrontMatter: front, Resources: []resource{}}
	sum, err := s.Sum(ctx)
	if err != nil {
		return nil, err
	}
	var total int64
	for _, f := range sum.Files {
		switch {
		case f.Link:
			return nil, &unpublished{s.Name(), "it has a link: " + f.Path}
		case content.Secret(f.Path):
			return nil, &unpublished{s.Name(), "it has a file that can hold secrets: " + f.Path}
		}
		total += f.Size
		out.Resources = append(out.Resources, resource{skilluri.Of(s.Name(), f.Path), "sha256:" + f.SHA256, f.Size})
	}
	if len(out.Resources) > mostFiles || total > mostBytes {
		return nil, &unpublished{s.Name(), fmt.Sprintf("it has %d files with %d bytes, and %d files with %d bytes are possible", len(out.Resources), total, mostFiles, mostBytes)}
	}
	return out, nil
}

// judged are what the problems begin with that every client sees: of the name, the description, and the form of the file. Fields that the
// standard does not know are published with the others.
var judged = []string{"name", "description", "frontmatter", "yaml", "file"}

// frontMatter returns the front matter as JSON, if every program reads it alike: clients compare it with the file.
func frontMatter(s *skill.Skill) (json.RawMessage, error) {
	m, problems := manifest.Parse(s.Text(), &manifest.Options{Dir: s.Name(), Profile: &manifest.Profile{Name: "spec"}})
	for _, p := range problems {
		if about, _, _ := strings.Cut(p.Code, "-"); (p.Fatal || p.Severity == manifest.SeverityError) && (slices.Contains(judged, about) || p.Code == "fields-missing") {
			return nil, &unpublished{s.Name(), strings.TrimSuffix(p.Message, ".")}
		}
	}
	if strings.ContainsFunc(s.Name(), func(r rune) bool { return r > unicode.MaxASCII }) {
		return nil, &unpublished{s.Name(), "its name has other letters than a to z"}
	}
	text, ok := between(s.Text())
	if !ok || m.Name != s.Name() {
		return nil, &unpublished{s.Name(), "its front matter is not where the open standard has it"}
	}
	node, err := yamlnode.Parse(text, &yamlnode.Options{})
	if err != nil || node.Kind != yamlnode.Mapping {
		return nil, &unpublished{s.Name(), fmt.Sprintf("its front matter is not plain YAML: %v", err)}
	}
	return node.JSON(), nil
}

// between returns the lines between the first line and the next one of three dashes.
func between(text []byte) ([]byte, bool) {
	_, rest, ok := bytes.Cut(text, []byte("\n"))
	if !ok {
		return nil, false
	}
	for at := 0; at < len(rest); {
		line, _, _ := bytes.Cut(rest[at:], []byte("\n"))
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			return rest[:at], true
		}
		at += len(line) + 1
	}
	return nil, false
}

// opened is a skill, and the file of it that an address names.
type opened struct {
	*skill.Skill
	file string
}

// load opens a skill that is published under a name; hidden skills are not.
func load(ctx context.Context, c *skill.Catalog, name string) (*skill.Skill, error) {
	e, err := c.Lookup(name)
	if err != nil || e.Name() != name || e.State() != skill.StateEnabled {
		return nil, fs.ErrNotExist
	}
	return e.Load(ctx)
}
