package skilluri

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
// compares values, not how they are written. The error says that one is no object that programs can hold.
func Differs(a, b json.RawMessage) (field string, err error) {
	var x, y map[string]any
	if err := cmp.Or(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		return "", err
	}
	for name := range x {
		if other, ok := y[name]; ok && reflect.DeepEqual(x[name], other) {
			delete(x, name)
			delete(y, name)
		}
	}
	maps.Copy(x, y)
	for name := range x {
		if field == "" || name < field {
			field = name
		}
	}
	return field, nil
}
