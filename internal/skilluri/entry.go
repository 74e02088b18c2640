package skilluri

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Extension is the name by which a server declares that it publishes skills.
const Extension = "io.modelcontextprotocol/skills"

// Limits of a skill that is published.
const (
	MaxFiles = 512
	MaxBytes = 16 << 20 // of all files
)

// dynamic stands for the files of a skill whose content is made at each read.
const dynamic = "dynamic"

// Entry is a skill as a server publishes it. Only ParseEntry checks it.
type Entry struct {
	URI         string          `json:"uri"`         // of its manifest
	FrontMatter json.RawMessage `json:"frontmatter"` // an object
	Resources   []Resource      `json:"resources"`   // nil if its content is made at each read

	path string
}

// Resource is a file of an Entry.
type Resource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // "sha256:" and 64 hexadecimal digits in lower case
	Size   int64  `json:"size"`   // bytes

	file string
}

// File returns the slash path of the file below the skill's folder, for an Entry of ParseEntry.
func (r *Resource) File() string { return r.file }

// Hash returns the digits of the digest.
func (r *Resource) Hash() string { return strings.TrimPrefix(r.Digest, digestPrefix) }

// Path returns the slash path of the skill on its server, which no other skill there has, for an Entry of ParseEntry: "billing/refunds" for
// skill://billing/refunds/SKILL.md, and "github:/billing/refunds" for another scheme.
func (e *Entry) Path() string { return e.path }

// Dynamic reports whether the content of the skill is made at each read.
func (e *Entry) Dynamic() bool { return e.Resources == nil }

// Find returns a file of the skill.
func (e *Entry) Find(file string) (*Resource, bool) {
	i := slices.IndexFunc(e.Resources, func(r Resource) bool { return r.file == file })
	if i < 0 {
		return nil, false
	}
	return &e.Resources[i], true
}

// Same reports whether two entries have the same files with the same contents, and the same front matter.
func (e *Entry) Same(other *Entry) bool {
	return e.URI == other.URI && bytes.Equal(e.FrontMatter, other.FrontMatter) && (e.Resources == nil) == (other.Resources == nil) && slices.Equal(e.Resources, other.Resources)
}

// ParseEntry reads an entry that a server sent. The error says which rule of the extension it breaks.
func ParseEntry(text []byte) (*Entry, error) {
	var in struct {
		URI         string
		FrontMatter json.RawMessage `json:"frontmatter"`
		Resources   json.RawMessage
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	e := &Entry{URI: in.URI}
	root, err := e.place()
	if err != nil {
		return nil, err
	}
	if err := e.front(in.FrontMatter); err != nil {
		return nil, err
	}
	var word string
	if json.Unmarshal(in.Resources, &word) == nil && word == dynamic {
		return e, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(in.Resources, &list); err != nil || list == nil {
		return nil, fmt.Errorf("its resources are neither a list nor %q", dynamic)
	}
	return e, e.files(root, list)
}

// place sets the path of the skill, and returns the address of its folder.
func (e *Entry) place() (root string, err error) {
	bad := fmt.Errorf("its address %.200q is not SCHEME://PATH/%s", e.URI, Manifest)
	root, isManifest := strings.CutSuffix(e.URI, "/"+Manifest)
	scheme, rest, ok := strings.Cut(root, "://")
	host, _, _ := strings.Cut(rest, "/")
	if !isManifest || !ok || !plainScheme(scheme) || host == "" || strings.ContainsAny(host, ":@%") {
		return "", bad
	}
	at, ok := decoded(rest)
	if !ok {
		return "", bad
	}
	if e.path = at; scheme+"://" != Scheme {
		e.path = scheme + ":/" + at
	}
	return root, nil
}

func plainScheme(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789+.-") == "" && s[0] >= 'a'
}

// front sets the front matter, which has the name that the address has.
func (e *Entry) front(text json.RawMessage) error {
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil || m == nil {
		return errors.New("its front matter is not an object")
	}
	name, _ := m["name"].(string)
	if about, _ := m["description"].(string); name == "" || about == "" {
		return errors.New("its front matter has no name or no description")
	}
	if name != path.Base(e.path) {
		return fmt.Errorf("its name %.100q is not the last part of its address %.200q", name, e.URI)
	}
	var out bytes.Buffer
	err := json.Compact(&out, text)
	e.FrontMatter = out.Bytes()
	return err
}

const digestPrefix = "sha256:"

// files sets the files, sorted.
func (e *Entry) files(root string, list []json.RawMessage) error {
	if len(list) > MaxFiles {
		return fmt.Errorf("it has %d files, and %d are possible", len(list), MaxFiles)
	}
	e.Resources = make([]Resource, len(list))
	total := int64(0)
	for i, text := range list {
		var in struct {
			URI, Digest string
			Size        *int64
		}
		if err := json.Unmarshal(text, &in); err != nil {
			return err
		}
		file, ok := Below(root, in.URI)
		_, err := hex.DecodeString(strings.TrimPrefix(in.Digest, digestPrefix))
		switch {
		case !ok:
			return fmt.Errorf("its file %.200q is not below %.200q", in.URI, root)
		case err != nil || len(in.Digest) != len(digestPrefix)+64 || !strings.HasPrefix(in.Digest, digestPrefix) || in.Digest != strings.ToLower(in.Digest):
			return fmt.Errorf("the digest of its file %q is not %s and 64 hexadecimal digits", file, digestPrefix)
		case in.Size == nil || *in.Size < 0:
			return fmt.Errorf("its file %q has no size", file)
		case *in.Size > MaxBytes-total:
			return fmt.Errorf("its files have over %d bytes", MaxBytes)
		}
		total += *in.Size
		e.Resources[i] = Resource{in.URI, in.Digest, *in.Size, file}
	}
	return e.order()
}

// order sorts the files, and looks that each is there once and no file is a folder of others.
func (e *Entry) order() error {
	slices.SortFunc(e.Resources, func(a, b Resource) int { return strings.Compare(a.file, b.file) })
	names := map[string]bool{}
	for _, r := range e.Resources {
		if names[r.file] {
			return fmt.Errorf("its file %q is there twice", r.file)
		}
		names[r.file] = true
	}
	for name := range names {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if names[dir] {
				return fmt.Errorf("its file %q is a folder, too", dir)
			}
		}
	}
	if m, ok := e.Find(Manifest); !ok || m.URI != e.URI {
		return fmt.Errorf("%s is not among its files", Manifest)
	}
	return nil
}

// Below returns the slash path of the file that an address names below the address of a folder. It reports false for an address that is
// not plainly below it.
func Below(root, uri string) (file string, ok bool) {
	rest, ok := strings.CutPrefix(uri, root+"/")
	if !ok {
		return "", false
	}
	return decoded(rest)
}

// decoded returns the path of an address, if each of its parts is the name of a file.
func decoded(rest string) (string, bool) {
	if strings.ContainsAny(rest, "?#") {
		return "", false
	}
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		name, err := url.PathUnescape(part)
		if err != nil || strings.ContainsAny(name, `/\`) || strings.ContainsFunc(name, unicode.IsControl) {
			return "", false
		}
		parts[i] = name
	}
	file := strings.Join(parts, "/")
	return file, file != "." && fs.ValidPath(file)
}
