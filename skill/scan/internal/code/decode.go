package code

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

const (
	maxJSON   = 64 << 20      // bytes of a program as JSON
	maxCommas = 8 * MaxNodes  // outside of texts: each value has fewer
	maxPartly = 200           // bytes
	maxLine   = MaxSource + 1 // no file has more
)

// Decode returns a program that a grammar wrote as JSON, with each line moved down by a number of lines, and a value without a line on
// that of its statement. It trusts none of it: an error says what is wrong with its form or its size.
func Decode(text []byte, down int) (Program, error) {
	var p Program
	if len(text) > maxJSON || commas(text) > maxCommas {
		return p, errors.New("it is too large")
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return Program{}, fmt.Errorf("it is no JSON of a program: %w", err)
	}
	if len(p.Partly) > maxPartly || strings.ContainsFunc(p.Partly, unicode.IsControl) {
		return Program{}, errors.New("its reason is no clause")
	}
	if err := (&check{down: down}).program(&p); err != nil {
		return Program{}, err
	}
	return p, nil
}

// Check returns an error if a program is not within the limits, or not of the form, that Program describes.
func Check(p *Program) error { return new(check).program(p) }

// commas counts the commas outside of texts, which bound how many values the JSON has.
func commas(text []byte) int {
	n, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			quoted = !quoted
		case ',':
			if !quoted {
				n++
			}
		}
	}
	return n
}

// check looks at every part of a program, and moves its lines.
type check struct {
	down, nodes, line int
	wrong             string
}

func (c *check) program(p *Program) error {
	c.statements(p.Body, 1)
	if c.wrong != "" {
		return errors.New(c.wrong)
	}
	return nil
}

func (c *check) count(depth, line int) bool {
	c.nodes++
	switch {
	case c.nodes > MaxNodes:
		c.wrong = fmt.Sprintf("it has more than %d statements and values", MaxNodes)
	case depth > MaxDepth:
		c.wrong = fmt.Sprintf("it has more than %d statements and values inside each other", MaxDepth)
	case line < 0 || line > maxLine:
		c.wrong = "a line is no line of a file"
	}
	return c.wrong == ""
}

func (c *check) statements(body []Statement, depth int) {
	for i := range body {
		s := &body[i]
		if !c.count(depth, s.Line) {
			return
		}
		switch s.Op {
		case Do, Set, Import, Define, Return:
		default:
			c.wrong = fmt.Sprintf("there is no statement %.20q", s.Op)
			return
		}
		line := c.line
		if s.Line > 0 {
			c.line = s.Line + c.down
		}
		s.Line = c.line
		if s.Value != nil {
			c.value(s.Value, depth+1)
		}
		c.statements(s.Body, depth+1)
		c.line = line
	}
}

func (c *check) value(v *Value, depth int) {
	if !c.count(depth, v.Line) {
		return
	}
	switch v.Form {
	case Text, Number, Name, Member, Index, Join, Call, List, Map, Func, Other:
	default:
		c.wrong = fmt.Sprintf("there is no value %.20q", v.Form)
	}
	parts := map[Form]int{Member: 1, Index: 2}[v.Form]
	if v.Keys != nil && len(v.Keys) != len(v.Args) || v.Form == Call && v.Func == nil || len(v.Args) < parts {
		c.wrong = fmt.Sprintf("the parts of a value of the form %q are not all there", v.Form)
	}
	if v.Line > 0 {
		v.Line += c.down
	} else {
		v.Line = c.line
	}
	for _, inner := range []*Value{v.Func, v.Input} {
		if inner != nil {
			c.value(inner, depth+1)
		}
	}
	for i := range v.Args {
		c.value(&v.Args[i], depth+1)
	}
	c.statements(v.Body, depth+1)
}
