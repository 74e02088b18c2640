// Package scan says what a skill could do, before anyone trusts it: which files, variables and hosts its scripts and its instructions
// reach, which programs they start, and what of it is a danger. It starts nothing and contacts nothing.
package scan

import (
	"context"
	"io/fs"

	"github.com/agent-base/agent-base/skill/scan/internal/fact"
	"github.com/agent-base/agent-base/skill/scan/internal/python"
)

// Fact is one thing that a skill does, or that is in it.
type Fact = fact.Fact

// Place is where a fact stands.
type Place = fact.Place

// Role is what the text around a fact is for: "" for an instruction and a script.
type Role = fact.Role

// The kinds of facts and the objects that others than rules look for.
const (
	Reads    = fact.Reads
	Sends    = fact.Sends
	Variable = fact.Variable
)

// Severity says how bad a finding is.
type Severity string

// The severities, from the mildest.
const (
	Low      Severity = "low"
	Medium   Severity = "medium"
	High     Severity = "high"
	Critical Severity = "critical"
)

// Finding is what a rule says about facts.
type Finding struct {
	Rule     string   `json:"rule"`            // such as "fetch-run"
	Class    string   `json:"class,omitempty"` // of threats, such as "exfiltration"
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Place    Place    `json:"place"`
	Role     Role     `json:"role,omitempty"`  // why Severity is a step lower
	Facts    []int    `json:"facts,omitempty"` // positions in Report.Facts
	Digest   string   `json:"digest"`          // of the file's content, as sha256:HEX

	Fingerprint string `json:"fingerprint"`        // of the rule, the file and the facts, without lines: 16 hexadecimal digits
	Accepted    string `json:"accepted,omitempty"` // why a person accepts it; "" if nobody does
}

// File says how much of a file was read.
type File struct {
	Path   string   `json:"path"`             // slash path below the skill
	Inside []string `json:"inside,omitempty"` // the members of archives on the way to it
	Kind   string   `json:"kind"`             // "python", "markdown", "zip", "byte code"
	Size   int64    `json:"size"`             // bytes
	Digest string   `json:"digest,omitempty"` // sha256:HEX
	Unread string   `json:"unread,omitempty"` // what of it was not read and why, a clause; "" if all was
}

// Report is what is known of a skill.
type Report struct {
	Files    []File    `json:"files"`
	Facts    []Fact    `json:"facts"`
	Findings []Finding `json:"findings"`
}

// Options configures Scan. The zero value reads everything but Python.
type Options struct {
	// Python starts Python 3.8 or newer with a program, as python3 -I -c PROGRAM does, gives it an input, and returns what it printed,
	// also if it failed. The application does so in a sandbox: the program parses what strangers wrote, and runs nothing of it. Without
	// it of Python only the texts are read.
	//
	// When the program has read an input, it prints the line PythonEnd. The same process can then get another input, of this scan or of
	// another one: that saves the time in which Python starts.
	Python func(ctx context.Context, program string, input []byte) (output []byte, err error)
}

// PythonEnd is the line that ends what Options.Python prints about one input.
const PythonEnd = python.End

// Scan reads all files of a skill, which are those of fsys, and returns what they do. It starts nothing but Options.Python. The error is
// that of ctx, or of a folder that cannot be listed; what cannot be read of a file is said in its Unread. Scan is safe for concurrent
// use.
func Scan(ctx context.Context, fsys fs.FS, o *Options) (*Report, error) {
	if o == nil {
		o = &Options{}
	}
	r := &reader{ctx: ctx, o: o, r: &Report{}}
	if err := r.walk(fsys); err != nil {
		return nil, err
	}
	if err := r.follow(); err != nil {
		return nil, err
	}
	return r.r, nil
}
