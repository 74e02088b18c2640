package pack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// Schema is the $schema of the index that Index writes, of version 0.2.0.
const Schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

// Folder is the place of the index in the folder of a site.
const Folder = ".well-known/agent-skills"

// maxDescription is the length of the longest description that an index may have, in code points.
const maxDescription = 1024

var indexName = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Skill is a skill that an index offers.
type Skill struct {
	Name        string // 1 to 64 of the characters a-z, 0-9 and "-"
	Description string // 1 to 1024 characters
	FS          fs.FS
}

// Entry is a skill as the index has it.
type Entry struct {
	Name        string `json:"name"`
	Type        string `json:"type"` // "skill-md" for a single SKILL.md, or "archive"
	Description string `json:"description"`
	URL         string `json:"url"` // name of a file next to the index
	Digest      string `json:"digest"`

	Excluded []string `json:"-"` // files of the skill that are not published
}

// Published says what Index did.
type Published struct {
	Entries []Entry  // of the skills that were given, sorted by name
	Kept    []Entry  // of skills that were on the site before, sorted by name
	Written []string // files that are new or have changed, as slash paths below the folder of the site
	Removed []string // files of the index that was there before and that no skill has any more
}

type document struct {
	Schema string  `json:"$schema"`
	Skills []Entry `json:"skills"`
}

// Index writes a discovery index of version 0.2.0 and the archives of skills to the folder of a site, which any web server can
// serve: .well-known/agent-skills/index.json, and next to it one file for each skill, whose name has a part of its digest. The
// index is replaced last, so a reader sees the old state or the new one. Skills that the index had before stay, but for those whose names
// are in remove; files that are not needed any more are then removed. A page for people, index.html, lists the skills, unless there is one that Index has not written. The same
// skills give the same bytes. A file .nojekyll keeps hosts of that kind from hiding the folder.
//
// Index refuses a name or a description that the format does not have, a name that is there twice, an index that is not of its own form,
// and a name to remove that the index does not have: the error for this one wraps fs.ErrNotExist. It writes nothing then.
func Index(ctx context.Context, site *os.Root, skills []Skill, remove []string) (*Published, error) {
	packed, entries := map[string][]byte{}, make([]Entry, 0, len(skills))
	for _, s := range skills {
		e, data, err := s.entry(ctx)
		if err != nil {
			return nil, fmt.Errorf("skill %.64q: %w", s.Name, err)
		}
		entries = append(entries, e)
		packed[e.URL] = data
	}
	slices.SortFunc(entries, byName)
	for i := 1; i < len(entries); i++ {
		if entries[i].Name == entries[i-1].Name {
			return nil, fmt.Errorf("there are two skills called %q", entries[i].Name)
		}
	}
	before, err := earlier(site)
	if err != nil {
		return nil, err
	}
	p := &Published{Entries: entries}
	if p.Kept, err = kept(before, entries, remove); err != nil {
		return nil, err
	}
	if err := site.MkdirAll(Folder, 0o755); err != nil {
		return nil, err
	}
	return p, p.publish(site, packed, before)
}

// kept returns the entries of an index that stay.
func kept(before, entries []Entry, remove []string) ([]Entry, error) {
	has := func(list []Entry, name string) bool {
		return slices.ContainsFunc(list, func(e Entry) bool { return e.Name == name })
	}
	for _, name := range remove {
		if has(entries, name) {
			return nil, fmt.Errorf("skill %.64q is to be published and to be removed", name)
		}
		if !has(before, name) {
			return nil, fmt.Errorf("the site has no skill %.64q: %w", name, fs.ErrNotExist)
		}
	}
	return slices.DeleteFunc(append([]Entry{}, before...), func(e Entry) bool { return has(entries, e.Name) || slices.Contains(remove, e.Name) }), nil
}

// publish writes the files and the index, and removes the files of the index before that it does not need.
func (p *Published) publish(site *os.Root, packed map[string][]byte, before []Entry) error {
	for _, e := range p.Entries {
		if err := p.write(site, path.Join(Folder, e.URL), packed[e.URL]); err != nil {
			return err
		}
	}
	all := append(p.Entries[:len(p.Entries):len(p.Entries)], p.Kept...)
	slices.SortFunc(all, byName)
	text, err := encode(all)
	if err != nil {
		return err
	}
	if err := errors.Join(p.write(site, ".nojekyll", nil), p.write(site, path.Join(Folder, "index.json"), text)); err != nil {
		return err
	}
	if old, err := site.ReadFile(pageName); errors.Is(err, fs.ErrNotExist) || bytes.HasPrefix(old, []byte(pageMark)) {
		if err := p.write(site, pageName, page(all)); err != nil {
			return err
		}
	}
	for _, e := range before {
		needed := slices.ContainsFunc(all, func(now Entry) bool { return now.URL == e.URL })
		if !needed && site.Remove(path.Join(Folder, e.URL)) == nil {
			p.Removed = append(p.Removed, path.Join(Folder, e.URL))
		}
	}
	return nil
}

func byName(a, b Entry) int { return cmp.Compare(a.Name, b.Name) }

// entry packs a skill. One with nothing but a SKILL.md is published as that file.
func (s *Skill) entry(ctx context.Context) (Entry, []byte, error) {
	switch {
	case len(s.Name) > 64 || !indexName().MatchString(s.Name):
		return Entry{}, nil, errors.New("an index has only names of 1 to 64 of the characters a-z, 0-9 and single hyphens between them")
	case s.Description == "" || utf8.RuneCountInString(s.Description) > maxDescription:
		return Entry{}, nil, fmt.Errorf("an index has only descriptions of 1 to %d characters", maxDescription)
	}
	p, err := Pack(ctx, s.FS, nil)
	if err != nil {
		return Entry{}, nil, err
	}
	e := Entry{Name: s.Name, Description: s.Description, Type: "archive", Digest: p.Digest, Excluded: p.Excluded}
	ending := ".tar.gz"
	if len(p.Files) == 1 {
		if p.Data, err = fs.ReadFile(s.FS, "SKILL.md"); err != nil {
			return Entry{}, nil, err
		}
		e.Type, e.Digest, ending = "skill-md", digest(p.Data), ".md"
	}
	e.URL = s.Name + "." + strings.TrimPrefix(e.Digest, "sha256:")[:16] + ending
	return e, p.Data, nil
}

// encode returns an index as a file.
func encode(entries []Entry) ([]byte, error) {
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	w.SetIndent("", "  ")
	err := w.Encode(document{Schema, entries})
	return b.Bytes(), err
}

var published = lazyregexp.New(`^[a-z0-9-]{1,64}\.[0-9a-f]{16}\.(md|tar\.gz)$`)

// maxIndex is how many bytes of an index are read.
const maxIndex = 32 << 20

// earlier returns the entries of the index that is there, none if there is no index. What Index would not write again as it is, it refuses.
func earlier(site *os.Root) ([]Entry, error) {
	name := path.Join(Folder, "index.json")
	f, err := site.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIndex+1))
	if err != nil {
		return nil, err
	}
	var d document
	r := json.NewDecoder(bytes.NewReader(text))
	r.DisallowUnknownFields()
	err = r.Decode(&d)
	switch {
	case len(text) > maxIndex:
		err = fmt.Errorf("it has more than %d bytes", maxIndex)
	case err == nil && d.Schema != Schema:
		err = fmt.Errorf("its schema is %.100q", d.Schema)
	case err == nil:
		for _, e := range d.Skills {
			if !published().MatchString(e.URL) || !strings.HasPrefix(e.URL, e.Name+".") {
				err = fmt.Errorf("the file of the skill %.64q is %.100q", e.Name, e.URL)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s is an index of another program, which nothing can be added to; use another folder, or remove the file: %w", name, err)
	}
	slices.SortFunc(d.Skills, byName)
	return d.Skills, nil
}

// write replaces a file atomically, unless it has the content already.
func (p *Published) write(site *os.Root, name string, data []byte) error {
	if old, err := site.ReadFile(name); err == nil && bytes.Equal(old, data) {
		return nil
	}
	temp := name + ".new"
	if err := site.WriteFile(temp, data, 0o644); err != nil {
		return err
	}
	if err := site.Rename(temp, name); err != nil {
		return errors.Join(err, site.Remove(temp))
	}
	p.Written = append(p.Written, name)
	return nil
}

// pageName is the name of the page for people in the folder of a site.
const pageName = "index.html"

// pageMark begins the pages that Index wrote. Another page is somebody's own and stays.
const pageMark = "<!doctype html><!-- made from the discovery index -->\n"

// page returns a page for people that lists the skills of a site. It has no script and loads nothing. All texts are foreign.
func page(entries []Entry) []byte {
	var b bytes.Buffer
	b.WriteString(pageMark + `<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Agent Skills</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}code{overflow-wrap:anywhere}</style>
<h1>Agent Skills</h1>
<p>Programs find these skills by the <a href="` + Folder + `/index.json">discovery index</a> of this site. Look at what a skill does before you install it.</p>
<dl>
`)
	for _, e := range entries {
		fmt.Fprintf(&b, "<dt id=\"%s\"><a href=\"%s\"><b>%s</b></a></dt>\n<dd>%s<br><code>%s</code></dd>\n",
			html.EscapeString(e.Name), Folder+"/"+html.EscapeString(e.URL), html.EscapeString(e.Name), html.EscapeString(e.Description), html.EscapeString(e.Digest))
	}
	b.WriteString("</dl>\n</html>\n")
	return b.Bytes()
}
