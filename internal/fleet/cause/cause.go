// Package cause has the JSON form of an error, by which a failure on one machine is explained on another: what callers ask an error
// with errors.Is and errors.As has the same answer on both. The kinds of errors that keep what they are form a closed list; every
// other error is its text.
package cause

import (
	"encoding/json"
	"errors"
)

// Form is an error as data. The zero value is an error without a text.
type Form struct {
	Kind  string          `json:"kind,omitempty"`  // one of the list; "" for an error that is its text
	Text  string          `json:"text"`            // what the error says
	Of    json.RawMessage `json:"of,omitempty"`    // the fields of an error of the kind, if it has some
	Under []Form          `json:"under,omitempty"` // what it wraps
}

// Bounds of a form. What lies deeper or comes later is left out: the text of the error around it remains.
const (
	maxDepth = 16
	maxForms = 64
)

// Of returns the form of an error, nil for nil.
func Of(err error) *Form {
	if err == nil {
		return nil
	}
	left := maxForms
	f := of(err, maxDepth, &left)
	return &f
}

func of(err error, depth int, left *int) Form {
	*left--
	f := Form{Text: err.Error()}
	for _, k := range kinds() {
		if fields, ok := k.fields(err); ok {
			f.Kind, f.Of = k.name, fields
			break
		}
	}
	under := wrapped(err)
	if f.Kind == "" && len(under) == 0 { // such as an error of the system, which says by a method what it is
		under = meant(err)
	}
	for _, one := range under {
		if depth > 0 && *left > 0 {
			f.Under = append(f.Under, of(one, depth-1, left))
		}
	}
	return f
}

// wrapped returns the errors that an error wraps or joins.
func wrapped(err error) []error {
	switch e := err.(type) { //nolint:errorlint // each error of the tree is looked at
	case interface{ Unwrap() error }:
		if one := e.Unwrap(); one != nil {
			return []error{one}
		}
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	}
	return nil
}

// meant returns the fixed errors that an error stands for.
func meant(err error) (out []error) {
	for _, k := range kinds() {
		if k.is != nil && errors.Is(err, k.is) {
			out = append(out, k.is)
		}
	}
	return out
}

// Err returns the error of a form, nil for nil. A kind that is not of the list, or whose fields cannot be read, as that of another
// version, is its text with what it wraps.
func (f *Form) Err() error {
	if f == nil {
		return nil
	}
	left := maxForms
	return f.err(maxDepth, &left)
}

func (f *Form) err(depth int, left *int) error {
	*left--
	var under []error
	for i := range f.Under {
		if depth > 0 && *left > 0 {
			under = append(under, f.Under[i].err(depth-1, left))
		}
	}
	for _, k := range kinds() {
		if k.name == f.Kind {
			if err := k.err(f.Of, under); err != nil {
				return err
			}
		}
	}
	return &textError{f.Text, under}
}

// textError is an error of another machine that is its text.
type textError struct {
	text  string
	under []error
}

func (e *textError) Error() string   { return e.text }
func (e *textError) Unwrap() []error { return e.under }
