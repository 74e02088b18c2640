package policy

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
)

// Layer is what people call the layer of an organisation's document.
const Layer = "the policy of your organisation"

// Place is where something stands in a document.
type Place struct {
	File      string `json:"file"`
	Line, Col int    `json:"-"` // counted from 1; 0 means the whole file
}

// String returns "/etc/agent/policy.yaml:12".
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}

// Item is a value of a key, or one item of its list.
type Item struct {
	Text string
	At   Place
}

// Document is what an organisation decides: the values of a file. It does not change and is safe for concurrent use. Nil says nothing.
type Document struct {
	file     string
	sum      [sha256.Size]byte // of the file
	contact  string
	closed   error // why nothing is allowed
	values   map[string][]Item
	at       map[string]Place // of the keys that are set
	servers  []Server
	includes []Include
	whole    bool // With read the includes
}

// Closed returns a document that allows nothing, because of an error with the file.
func Closed(file string, why error) *Document { return &Document{file: file, closed: why} }

// File returns the name of the file, "" for nil.
func (d *Document) File() string {
	if d == nil {
		return ""
	}
	return d.file
}

// Err returns why the document allows nothing, or nil.
func (d *Document) Err() error {
	switch {
	case d == nil:
		return nil
	case d.closed != nil:
		return &ClosedError{File: d.file, Err: d.closed}
	case len(d.includes) > 0 && !d.whole:
		return &ClosedError{File: d.file, Err: errors.New("the policies that it includes have not been read")}
	}
	return nil
}

// Contact returns whom to ask about the document; "" if it does not say.
func (d *Document) Contact() string {
	if d == nil {
		return ""
	}
	return d.contact
}

// Items returns the values of a key such as "permissions.deny", and whether it is set: a list that is set may be empty.
func (d *Document) Items(key string) ([]Item, bool) {
	if d == nil {
		return nil, false
	}
	_, set := d.at[key]
	return d.values[key], set
}

// At returns where a key is set, or the file.
func (d *Document) At(key string) Place {
	if at, ok := d.at[key]; ok {
		return at
	}
	return Place{File: d.file}
}

// Includes returns the documents that this one names.
func (d *Document) Includes() []Include {
	if d == nil {
		return nil
	}
	return d.includes
}

// ClosedError says that a document cannot be used, so that nothing is allowed.
type ClosedError struct {
	File string
	Err  error
}

// Error returns the file and what is wrong with it.
func (e *ClosedError) Error() string {
	return fmt.Sprintf("%s (%s) cannot be used, so nothing is allowed: %v", Layer, e.File, e.Err)
}

// Unwrap returns what is wrong with the file.
func (e *ClosedError) Unwrap() error { return e.Err }
