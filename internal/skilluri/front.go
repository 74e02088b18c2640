package skilluri

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"reflect"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// FrontMatter returns the front matter of a manifest as JSON, with every field as it is written. The error says why programs would not
// read it alike.
func FrontMatter(manifest []byte) (json.RawMessage, error) {
	node, err := read(manifest)
	if err != nil {
		return nil, err
	}
	return node.JSON(), nil
}

// read returns the front matter of a manifest.
func read(manifest []byte) (*yamlnode.Node, error) {
	text, ok := between(manifest)
	if !ok {
		return nil, errors.New("its front matter is not where the open standard has it")
	}
	node, err := yamlnode.Parse(text, &yamlnode.Options{})
	if err != nil || node.Kind != yamlnode.Mapping {
		return nil, fmt.Errorf("its front matter is not plain YAML: %v", err)
	}
	return node, nil
}

// between returns the lines between the first line, which is three dashes, and the next one of three dashes.
func between(text []byte) ([]byte, bool) {
	dashes := func(line []byte) bool { return string(bytes.TrimRight(line, " \t\r")) == "---" }
	first, rest, ok := bytes.Cut(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), []byte("\n"))
	if !ok || !dashes(first) {
		return nil, false
	}
	for at := 0; at < len(rest); {
		line, _, _ := bytes.Cut(rest[at:], []byte("\n"))
		if dashes(line) {
			return rest[:at], true
		}
		at += len(line) + 1
	}
	return nil, false
}

// Differs returns the first field in which two front matters differ, in the order of their names, "" if they have the same content. It
// compares values, not how they are written.
func Differs(a, b json.RawMessage) (field string, err error) {
	x, err := fields(a)
	if err != nil {
		return "", err
	}
	y, err := fields(b)
	if err != nil {
		return "", err
	}
	for name := range x {
		if other, ok := y[name]; (!ok || !equal(x[name], other)) && (field == "" || name < field) {
			field = name
		}
	}
	for name := range y {
		if _, ok := x[name]; !ok && (field == "" || name < field) {
			field = name
		}
	}
	return field, nil
}

func fields(text json.RawMessage) (out map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&out); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something after the object")
	}
	return out, nil
}

// equal compares two values of JSON. Numbers are equal however they are written.
func equal(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		y, ok := b.(json.Number)
		return ok && (x == y || sameNumber(string(x), string(y)))
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k := range x {
			if other, ok := y[k]; !ok || !equal(x[k], other) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func sameNumber(a, b string) bool {
	const most = 64 // digits: more say nothing else to any program
	if len(a) > most || len(b) > most {
		return false
	}
	x, _, err1 := big.ParseFloat(a, 10, 53, big.ToNearestEven)
	y, _, err2 := big.ParseFloat(b, 10, 53, big.ToNearestEven)
	return err1 == nil && err2 == nil && x.Cmp(y) == 0
}
