package manifest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// errRename is returned by Rename if the name cannot be replaced without a change of something else.
var errRename = errors.New("the name in the front matter cannot be replaced safely: write it as one word after \"name:\"")

// Rename returns the text of a SKILL.md with another name: the value of the key `name` is replaced, or the key is added as the
// first line of the front matter if there is none. No other byte changes. dir is the name of the skill's folder, which the
// skill has for its name if it declares none that can be used.
//
// It returns an error for a name that CheckName refuses, for a text that Parse cannot use, for a key that is there twice,
// and if the result would differ in more than the name.
func Rename(src []byte, dir, name string) ([]byte, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	o := &Options{Dir: dir}
	before, problems := Parse(src, o)
	for i := range problems {
		if problems[i].Fatal {
			return nil, fmt.Errorf("%w: %s", errRename, problems[i].Message)
		}
	}
	f := newFixer(src, o)
	if f == nil {
		return nil, errRename
	}
	if err := f.rename(name); err != nil {
		return nil, err
	}
	out := f.apply()
	after, _ := Parse(out, &Options{Dir: name})
	if after.Name != name || !reflect.DeepEqual(apartFromName(before), apartFromName(after)) {
		return nil, errRename
	}
	if f := newFixer(out, &Options{Dir: name}); f == nil || f.rename(name) != nil {
		return nil, errRename // the text is so broken that the name could not be replaced again
	}
	return out, nil
}

// rename collects the replacement of the name.
func (f *fixer) rename(name string) error {
	if len(f.text.lines) == 0 {
		return errRename
	}
	var found []entry
	for _, e := range f.entries {
		if fieldName(e.key.Value) == "name" {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		at := f.text.lines[0].start
		eol := "\n"
		if strings.HasSuffix(string(f.src[:at]), "\r\n") {
			eol = "\r\n"
		}
		f.cuts = append(f.cuts, cut{at, at, "name: " + nameText(name) + eol})
		return nil
	case 1:
		return f.renameValue(found[0], name)
	}
	return fmt.Errorf("%w: the key is there %d times", errRename, len(found))
}

// renameValue replaces the value of the key. It knows a value on one line, plain or quoted, with or without a comment.
func (f *fixer) renameValue(e entry, name string) error {
	at := f.offset(e.value.Line, e.value.Col)
	if at < 0 || e.value.Value == "" {
		return errRename
	}
	end, _ := lineEnd(f.src, at)
	line := string(f.src[at:end])
	for _, written := range []string{e.value.Value, `"` + e.value.Value + `"`, "'" + e.value.Value + "'"} {
		rest, ok := strings.CutPrefix(line, written)
		if text := strings.TrimLeft(rest, " \t"); ok && (text == "" || text[0] == '#' && text != rest) {
			f.cuts = append(f.cuts, cut{at, at + len(written), nameText(name)})
			return nil
		}
	}
	return errRename
}

// nameText returns a name as YAML. Every other reader must take it for a text too.
func nameText(name string) string {
	switch strings.ToLower(name) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return `"` + name + `"`
	}
	if strings.ContainsAny(name[:1], "-_.0123456789") {
		return `"` + name + `"`
	}
	return name
}

// apartFromName returns a manifest without its name and without places, which follow from the text.
func apartFromName(m *Manifest) Manifest {
	out := *m
	out.Name, out.BodyLine, out.Fields = "", 0, nil
	for _, f := range m.Fields {
		if fieldName(f.Key) != "name" {
			f.Line, f.Col = 0, 0
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}
