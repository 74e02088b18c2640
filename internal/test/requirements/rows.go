package main

import (
	"fmt"
	"regexp"
	"strings"
)

// section is one heading with its rows.
type section struct {
	title string
	rows  []row
}

// row is one requirement (R…), decision (C…), or attack (#…, UV…, SB…, IX…).
type row struct {
	id     string
	status string // "built", "partly" or "planned" for a requirement; "tiers", "untested" or "" for an attack
	text   string
	note   string
	proof  quote
}

// quote is a line of a test that proves a row.
type quote struct {
	where string // as in proofs
	text  string // a part of the line
}

// quoted is the form of a quote: a file, for Go with the test in it, and the text.
var quoted = regexp.MustCompile(`^(\S+\.txtar|\S+_test\.go: \w+): (\S.*)$`)

// proven reports whether the row claims to work at least partly, so a test must name it.
func (r *row) proven() bool { return r.status == "built" || r.status == "partly" }

// parse reads the source file. It returns an error with the line number for an invalid line or a row that is defined
// twice.
func (p *page) parse(src string) ([]section, error) {
	var sections []section
	var current *row
	seen := map[string]bool{}
	for i, line := range strings.Split(src, "\n") {
		title, isTitle := strings.CutPrefix(line, "== ")
		note, isNote := strings.CutPrefix(line, "note: ")
		proof, isProof := strings.CutPrefix(line, "proof: ")
		m := p.header.FindStringSubmatch(line)
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
			current = nil
		case isTitle:
			sections = append(sections, section{title: title})
		case m != nil && len(sections) > 0:
			r := row{id: m[1], status: m[2]}
			if seen[r.id] {
				return nil, fmt.Errorf("line %d: %s is defined twice", i+1, r.id)
			}
			seen[r.id] = true
			rows := &sections[len(sections)-1].rows
			*rows = append(*rows, r)
			current = &(*rows)[len(*rows)-1]
		case current == nil:
			return nil, fmt.Errorf("line %d: text outside a row: %q", i+1, line)
		case isNote:
			current.note = note
		case isProof:
			q := quoted.FindStringSubmatch(proof)
			if q == nil {
				return nil, fmt.Errorf("line %d: the proof of %s is not FILE.txtar: TEXT or FILE_test.go: TEST: TEXT", i+1, current.id)
			}
			current.proof = quote{q[1], q[2]}
		case current.text != "":
			return nil, fmt.Errorf("line %d: %s has more than one line of text", i+1, current.id)
		default:
			current.text = line
		}
	}
	return sections, nil
}
