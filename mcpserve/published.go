package mcpserve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/skilluri"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

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
func publish(ctx context.Context, s *skill.Skill) (*skilluri.Entry, error) {
	if from := s.Entry().Origin(); from != "" {
		return nil, &unpublished{s.Name(), "it is of the " + from + ", which publishes it itself"}
	}
	front, err := frontMatter(s)
	if err != nil {
		return nil, err
	}
	out := &skilluri.Entry{URI: skilluri.Of(s.Name(), skilluri.Manifest), FrontMatter: front, Resources: []skilluri.Resource{}}
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
		case slices.ContainsFunc(strings.Split(f.Path, "/"), func(part string) bool { return filename.Unsafe(part) != "" }):
			return nil, &unpublished{s.Name(), "it has a file whose name is not possible on every system: " + f.Path}
		}
		total += f.Size
		out.Resources = append(out.Resources, skilluri.Resource{URI: skilluri.Of(s.Name(), f.Path), Digest: "sha256:" + f.SHA256, Size: f.Size})
	}
	if len(out.Resources) > skilluri.MaxFiles || total > skilluri.MaxBytes {
		return nil, &unpublished{s.Name(), fmt.Sprintf("it has %d files with %d bytes, and %d files with %d bytes are possible", len(out.Resources), total, skilluri.MaxFiles, skilluri.MaxBytes)}
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
	if m.Name != s.Name() {
		return nil, &unpublished{s.Name(), "its front matter is not where the open standard has it"}
	}
	front, err := skilluri.Standard(s.Text())
	if err != nil {
		return nil, &unpublished{s.Name(), err.Error()}
	}
	return front, nil
}

// opened is a skill, what is published of it, and the file of it that an address names.
type opened struct {
	*skill.Skill
	file string
	as   *skilluri.Entry
}

// errChanged is the error for a file that has changed while its skill was read.
var errChanged = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the skill is being changed: get it again"}

// read returns the file at an address as it is published.
func (o *opened) read(uri string) ([]byte, error) {
	i := slices.IndexFunc(o.as.Resources, func(r skilluri.Resource) bool { return r.URI == uri })
	if i < 0 {
		return nil, fs.ErrNotExist
	}
	f, err := o.FS().Open(o.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, skilluri.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != o.as.Resources[i].Hash() {
		return nil, errChanged
	}
	return data, nil
}

// load opens a skill that is published under a name; hidden skills are not.
func load(ctx context.Context, c *skill.Catalog, name string) (*skill.Skill, error) {
	e, err := c.Lookup(name)
	if err != nil || e.Name() != name || e.State() != skill.StateEnabled || e.Server() != "" {
		return nil, fs.ErrNotExist
	}
	return e.Load(ctx)
}
