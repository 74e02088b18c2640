package yamlnode

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Reason says why a document is refused.
type Reason uint8

// Syntax is whatever is not YAML. The others are valid YAML that is never accepted.
const (
	Syntax    Reason = iota
	Anchor           // an anchor, an alias or a merge key
	Tag              // a tag, such as "!!binary"
	Depth            // nested too deeply
	Documents        // more than one document
	Size             // too many values
)

// Error says what is wrong with a document and where. Line and Col are 0 when unknown.
type Error struct {
	Line, Col int
	Reason    Reason
	Message   string
}

// Error returns the message with its position.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Message)
}

// ErrEmpty is returned for a document that holds nothing but blanks and comments.
var ErrEmpty = errors.New("no content")

// ErrPlain is returned, if Options.Quick is set, for most documents that are not YAML because of a plain text: one that begins
// on the line of its key contains a colon followed by a space, as in `description: Two steps: read and write`, or one begins
// with a character that no plain text begins with.
var ErrPlain = errors.New("a text needs quotes")

// position turns the library's error into ours.
func position(err error) error {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return &Error{Message: strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	msg := strings.TrimPrefix(le.Message, "yaml: ")
	if strings.Contains(msg, "no documents") {
		return ErrEmpty
	}
	out := &Error{Line: le.Mark.Line, Col: le.Mark.Column, Message: msg}
	switch {
	case strings.Contains(msg, "found multiple"):
		out.Reason, out.Message = Documents, "there is more than one document"
	case strings.Contains(msg, "unknown anchor"):
		out.Reason, out.Message = Anchor, "anchors and aliases are not allowed"
	case strings.Contains(msg, "max depth"):
		out.Reason = Depth
	case le.ContextMark.Line > 0 && le.Mark.Line > le.ContextMark.Line && le.Mark.Column == 1:
		// noticed on a later line only: where it began says more
		out.Line, out.Col = le.ContextMark.Line, le.ContextMark.Column
	}
	if le.ContextMsg != "" && out.Reason == Syntax {
		out.Message += " (" + le.ContextMsg + ")"
	}
	return out
}
