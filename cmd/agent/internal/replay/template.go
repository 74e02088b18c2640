package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxValue = 4000 // characters of one quotation
	maxPath  = 16   // steps of a path
	maxText  = 64 << 10
)

// template is text with quotations.
type template []piece

// piece is a text, a quotation, or a JSON string with a template of its own.
type piece struct {
	text   string
	ref    *ref
	quoted bool
	inner  template
}

// ref is the text between {{ and }}.
type ref struct {
	root  string // prompt, match or result
	call  int    // of a result: its number in the scene from 1
	path  []string
	other string // of a match: the value if the group is empty
	text  string // as written
}

// compile parses the quotations of a text. calls is the number of results at this point.
func compile(text string, calls int) (template, error) {
	var t template
	for {
		before, rest, found := strings.Cut(text, "{{")
		if before != "" {
			t = append(t, piece{text: before})
		}
		if !found {
			return t, nil
		}
		inner, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return nil, errors.New("{{ without }}")
		}
		r, err := compileRef(strings.TrimSpace(inner), calls)
		if err != nil {
			return nil, fmt.Errorf("{{%s}}: %w", inner, err)
		}
		t = append(t, piece{ref: r})
		text = after
	}
}

func compileRef(text string, calls int) (*ref, error) {
	where, other, hasOther := strings.Cut(text, "|")
	path := strings.Split(where, ".")
	r := &ref{root: path[0], path: path[1:], other: other, text: where}
	if len(r.path) > maxPath {
		return nil, fmt.Errorf("a path has at most %d steps", maxPath)
	}
	if number, ok := strings.CutPrefix(r.root, "result"); ok {
		r.root, r.call = "result", calls
		if number != "" {
			n, err := strconv.Atoi(number)
			if err != nil {
				n = 0
			}
			r.call = n
		}
		if r.call < 1 || r.call > calls {
			return nil, fmt.Errorf("no such result yet: the scene has %d calls so far", calls)
		}
	}
	switch {
	case hasOther && r.root != "match":
		return nil, errors.New("only a match can have a default")
	case r.root == "prompt" && len(r.path) == 0, r.root == "result":
		return r, nil
	case r.root == "match" && len(r.path) == 1:
		if n, err := strconv.Atoi(r.path[0]); err == nil && n >= 0 {
			return r, nil
		}
		return nil, errors.New("a match needs a number")
	}
	return nil, errors.New("it must be prompt, match.N, result.PATH or resultN.PATH")
}

// values are what templates quote from.
type values struct {
	prompt  string
	match   []string
	results []outcome
}

// outcome is the result of a call.
type outcome struct {
	tool  string
	value any
}

func (t template) fill(v *values) (string, error) {
	var b strings.Builder
	for _, p := range t {
		text := p.text
		var err error
		switch {
		case p.ref != nil:
			text, err = p.ref.value(v)
		case p.quoted:
			if text, err = p.inner.fill(v); err == nil {
				text, err = write(text)
			}
		}
		if err != nil {
			return "", err
		}
		if b.Len()+len(text) > maxText {
			return "", fmt.Errorf("the answer exceeds %d bytes", maxText)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func (r *ref) value(v *values) (string, error) {
	switch r.root {
	case "prompt":
		return clip(v.prompt), nil
	case "match":
		n, _ := strconv.Atoi(r.path[0]) // compileRef has checked it
		if n < len(v.match) && v.match[n] != "" {
			return clip(v.match[n]), nil
		}
		if r.other == "" {
			return "", fmt.Errorf("the prompt has nothing for {{%s}}", r.text)
		}
		return r.other, nil
	}
	if r.call > len(v.results) {
		return "", fmt.Errorf("the conversation has no result for {{%s}}", r.text)
	}
	o := v.results[r.call-1]
	text, ok := walk(o.value, r.path)
	if !ok {
		return "", fmt.Errorf("the result of %s has nothing at {{%s}}", o.tool, r.text)
	}
	return clip(text), nil
}

// walk follows a path and writes the value there.
func walk(value any, path []string) (string, bool) {
	for i, step := range path {
		last := i == len(path)-1
		switch at := value.(type) {
		case map[string]any:
			switch inner, ok := at[step]; {
			case ok:
				value = inner
			case step == "#":
				return strconv.Itoa(len(at)), last
			case step == "*":
				return strings.Join(slices.Sorted(maps.Keys(at)), ", "), last
			default:
				return "", false
			}
		case []any:
			switch n, err := strconv.Atoi(step); {
			case step == "#":
				return strconv.Itoa(len(at)), last
			case step == "*":
				return join(at, path[i+1:])
			case err != nil || n < 0 || n >= len(at):
				return "", false
			default:
				value = at[n]
			}
		default:
			return "", false
		}
	}
	if s, ok := value.(string); ok {
		return s, true
	}
	text, err := write(value)
	return text, err == nil
}

func join(list []any, path []string) (string, bool) {
	var b strings.Builder
	for i, item := range list {
		text, ok := walk(item, path)
		if !ok {
			return "", false
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if b.WriteString(text); b.Len() > maxText {
			break
		}
	}
	return b.String(), true
}

// write writes a value as JSON.
func write(value any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func clip(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if utf8.RuneCountInString(text) <= maxValue {
		return text
	}
	n := 0
	for i := range text {
		if n++; n > maxValue {
			return text[:i] + " …"
		}
	}
	return text
}
