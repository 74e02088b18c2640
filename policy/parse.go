package policy

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/internal/yamlnode"
)

// Bounds of a document.
const (
	MaxFile  = 256 << 10 // bytes
	maxItems = 1000      // of a list
	maxText  = 1024      // bytes of a text
	maxDepth = 8         // of lists and maps
)

// invalid is what is wrong with a document, and where.
type invalid struct {
	At      Place
	Message string
}

// Error returns the place and the message.
func (e *invalid) Error() string {
	if e.At.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", e.At.Line, e.At.Col, e.Message)
}

// Parse reads a document. file is its name for people. Of a document with any error nothing is used: Parse returns one that allows
// nothing, and an error that says the first fault and its place.
func Parse(src []byte, file string) (*Document, error) {
	p := &parser{Document: &Document{file: file, sum: sha256.Sum256(src), values: map[string][]Item{}, at: map[string]Place{}}}
	if err := p.parse(src); err != nil {
		return &Document{file: file, sum: p.sum, closed: err}, err
	}
	p.contact = text(p.values[KeyContact])
	return p.Document, nil
}

func text(items []Item) string {
	if len(items) == 0 {
		return ""
	}
	return items[0].Text
}

type parser struct{ *Document }

// field is the value of a field of a map: a text, or a list of words. That with the name "" has the place of the map.
type field struct {
	text  string
	words []string
	at    Place
}

func (p *parser) wrong(n *yamlnode.Node, format string, args ...any) error {
	return &invalid{p.place(n), fmt.Sprintf(format, args...)}
}

func (p *parser) place(n *yamlnode.Node) Place { return Place{p.file, n.Line, n.Col} }

func (p *parser) parse(src []byte) error {
	whole := &yamlnode.Node{}
	switch {
	case len(src) > MaxFile:
		return p.wrong(whole, "the file has more than %d bytes", MaxFile)
	case !utf8.Valid(src):
		return p.wrong(whole, "the file is not UTF-8")
	}
	root, err := yamlnode.Parse(src, &yamlnode.Options{MaxDepth: maxDepth, MaxSigns: MaxFile / 4})
	var syntax *yamlnode.Error
	switch {
	case errors.Is(err, yamlnode.ErrEmpty):
		return p.wrong(whole, "the file says nothing: remove it, or write what holds")
	case errors.As(err, &syntax):
		return &invalid{Place{p.file, syntax.Line, syntax.Col}, syntax.Message}
	case err != nil:
		return p.wrong(whole, "%v", err)
	}
	return p.section("", root)
}

// section reads a map of keys: the document, or one that is named by what stands before the dot of its keys.
func (p *parser) section(name string, n *yamlnode.Node) error {
	if n.Kind != yamlnode.Mapping {
		return p.wrong(n, "%s must be a map of keys, not a %s", title(name), n.Kind)
	}
	seen := map[string]bool{}
	for _, pair := range n.Pairs {
		full := strings.TrimPrefix(name+"."+pair.Key.Value, ".")
		if seen[full] {
			return p.wrong(pair.Key, "%s is there twice", full)
		}
		seen[full] = true
		k, known := find(full)
		var err error
		switch {
		case name == "" && isSection(full):
			err = p.section(full, pair.Value)
		case !known || name == "" && strings.Contains(full, "."):
			err = p.unknown(pair.Key, name, full)
		default:
			p.at[full] = p.place(pair.Key)
			err = p.value(k, pair)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func title(section string) string {
	if section == "" {
		return "the file"
	}
	return section
}

// sections are the maps of a document.
func sections() (out []string) {
	for i := range keys {
		if section, _, ok := strings.Cut(keys[i].name, "."); ok && !slices.Contains(out, section) {
			out = append(out, section)
		}
	}
	return out
}

func isSection(name string) bool { return slices.Contains(sections(), name) }

// unknown returns the error for a key that there is not, with the key that may be meant.
func (p *parser) unknown(n *yamlnode.Node, section, full string) error {
	var here []string
	for _, name := range append(Keys(), sections()...) {
		if rest, ok := strings.CutPrefix("."+name, "."+section); ok && section != "" {
			here = append(here, strings.TrimPrefix(rest, "."))
		} else if section == "" && !strings.Contains(name, ".") {
			here = append(here, name)
		}
	}
	if meant := near.Name(n.Value, here); meant != "" {
		return p.wrong(n, "unknown key %q: did you mean %q?", full, meant)
	}
	for _, name := range Keys() {
		if in, rest, _ := strings.Cut(name, "."); rest == n.Value && rest != "" {
			return p.wrong(n, "unknown key %q: did you mean %s below %s?", full, rest, in)
		}
	}
	return p.wrong(n, "unknown key %q: the keys here are %s", full, strings.Join(here, ", "))
}

func (p *parser) value(k key, pair yamlnode.Pair) error {
	n := pair.Value
	switch {
	case n.Kind == yamlnode.Null:
		return p.wrong(pair.Key, "%s has no value", k.name)
	case k.form == one:
		return p.item(k, n)
	case n.Kind != yamlnode.Sequence:
		return p.wrong(n, "%s must be a list, not a %s: write %s: [%s]", k.name, n.Kind, pair.Key.Value, "…")
	case len(n.Items) > maxItems:
		return p.wrong(n, "%s has more than %d items", k.name, maxItems)
	}
	for _, item := range n.Items {
		read := p.item
		if k.form == maps {
			read = p.fields
		}
		if err := read(k, item); err != nil {
			return err
		}
	}
	return nil
}

// item reads one text.
func (p *parser) item(k key, n *yamlnode.Node) error {
	value, err := p.text(k.name, n)
	if err != nil {
		return err
	}
	if err := k.check(value); err != nil {
		return p.wrong(n, "invalid %s %q: %v", k.name, value, err)
	}
	p.values[k.name] = append(p.values[k.name], Item{value, p.place(n)})
	return nil
}

func (p *parser) text(name string, n *yamlnode.Node) (string, error) {
	value := strings.TrimSpace(n.Value)
	switch {
	case n.Kind != yamlnode.Scalar:
		return "", p.wrong(n, "%s must be a text here, not a %s", name, n.Kind)
	case value == "":
		return "", p.wrong(n, "%s has an empty text", name)
	case len(value) > maxText:
		return "", p.wrong(n, "%s has a text of more than %d bytes", name, maxText)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", p.wrong(n, "%s has a text with a control character or a line break", name)
	}
	return value, nil
}

// fields reads one map.
func (p *parser) fields(k key, n *yamlnode.Node) error {
	if n.Kind != yamlnode.Mapping {
		return p.wrong(n, "each item of %s must be a map with %s, not a %s", k.name, strings.Join(k.fields, ", "), n.Kind)
	}
	fields := map[string]field{"": {at: p.place(n)}}
	for _, pair := range n.Pairs {
		name := pair.Key.Value
		if _, twice := fields[name]; twice {
			return p.wrong(pair.Key, "%s has %q twice", k.name, name)
		}
		if !slices.Contains(k.fields, name) {
			return p.wrong(pair.Key, "unknown key %q of %s: use %s", name, k.name, strings.Join(k.fields, ", "))
		}
		f, err := p.words(k.name+" "+name, pair.Value)
		if err != nil {
			return err
		}
		fields[name] = f
	}
	if err := k.read(p.Document, fields); err != nil {
		return p.wrong(n, "invalid item of %s: %v", k.name, err)
	}
	return nil
}

// words reads a text, whose words are separated by spaces, or for a command a list of words.
func (p *parser) words(name string, n *yamlnode.Node) (field, error) {
	f := field{at: p.place(n)}
	if n.Kind != yamlnode.Sequence || !strings.HasSuffix(name, " command") {
		value, err := p.text(name, n)
		f.text, f.words = value, strings.Fields(value)
		return f, err
	}
	for _, item := range n.Items {
		word, err := p.text(name, item)
		if err != nil {
			return f, err
		}
		f.words = append(f.words, word)
	}
	return f, nil
}
