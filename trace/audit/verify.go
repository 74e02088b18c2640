package audit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// maxBreaks is how many faults Verify returns.
const maxBreaks = 20

// VerifyOptions configures Verify. The zero value checks the chain alone.
type VerifyOptions struct {
	// Head is the hash of a record that the log had when it was last looked at. That the log still has it shows that the chain
	// was not written anew or cut off before it. A record that was removed with the oldest file counts as missing.
	Head string

	// maxFiles is that of the log; 0 means 6. A log that has fewer files and not its first record was cut off at its
	// beginning.
	maxFiles int
}

// Report is what Verify found.
type Report struct {
	Records uint64 // in the files
	Files   int
	First   uint64  // number of the first record; more than 1 if older files were removed
	Last    uint64  // number of the last record
	Hash    string  // of the last record
	Torn    int     // lines that a killed writer left unfinished, and that are no fault
	Breaks  []Break // at most 20
}

// Break is one fault of the chain.
type Break struct {
	File string // absolute path
	Line int    // from 1; 0 if it is about the whole log
	What string
}

// Error returns the place and the fault: "/home/me/.agent/audit/audit.jsonl:12: record 11 is missing".
func (b Break) Error() string {
	if b.Line == 0 {
		return b.What
	}
	return fmt.Sprintf("%s:%d: %s", b.File, b.Line, b.What)
}

// Verify checks every line of the log in dir and the chain between them. The error says that the log cannot be read; faults
// of the chain are in the report.
func Verify(ctx context.Context, dir string, o *VerifyOptions) (*Report, error) {
	v := &verifier{}
	if o == nil {
		o = &VerifyOptions{}
	}
	head, older := o.Head, cmp.Or(max(o.maxFiles, 0), defaultMaxFiles)-1
	file, seen := "", head == ""
	for e, err := range Read(ctx, dir) {
		if err != nil {
			return nil, err
		}
		if e.File != file {
			file = e.File
			v.Files++
			if _, old := isOld(filepath.Base(file)); old {
				older--
			}
		}
		v.check(e)
		seen = seen || e.Err == nil && e.Hash == head
	}
	v.between(!v.alien)
	if v.First > 1 && older > 0 {
		what := "record 1 is missing"
		if v.First > 2 {
			what = fmt.Sprintf("records 1 to %d are missing", v.First-1)
		}
		v.fault("", 0, what+", and not by rotation: the log has fewer files than it keeps")
	}
	if !seen {
		v.fault("", 0, fmt.Sprintf("no record has the hash %s: the log was cut off or written anew, or the file with it was removed", head))
	}
	return &v.Report, nil
}

// verifier follows the chain.
type verifier struct {
	Report
	torn  debris // after the last record
	where Break  // the first line of torn that was changed, or else the first one; What is empty without torn lines
	bad   bool   // a line of torn was changed
	alien bool   // a line of torn does not begin like a record, so no writer of this log began it
}

func (v *verifier) fault(file string, line int, what string) {
	if len(v.Breaks) < maxBreaks {
		v.Breaks = append(v.Breaks, Break{file, line, what})
	}
}

// check takes the next line.
func (v *verifier) check(e *Entry) {
	if e.Err != nil {
		changed := !errors.Is(e.Err, errUnfinished)
		if v.torn.lines == 0 || changed && !v.bad {
			v.where, v.bad = Break{e.File, e.Line, e.Err.Error()}, changed
		}
		v.alien = v.alien || !begun(e.Raw)
		v.torn.add(&e.line)
		return
	}
	described := e.Event == Repaired && e.Count == v.torn.size && e.SHA256 == v.torn.sum()
	v.between(described && (v.Records > 0 || !v.alien))
	if what := v.link(e); what != "" {
		v.fault(e.File, e.Line, what)
	}
	if v.First == 0 {
		v.First = e.Seq
	}
	v.Records++
	v.Last, v.Hash = e.Seq, e.Hash
}

// begun reports whether a line can be the beginning of a record. A line that is too long has no text.
func begun(text []byte) bool {
	const first = `{"timestamp":"`
	return text != nil && (bytes.HasPrefix(text, []byte(first)) || bytes.HasPrefix([]byte(first), text))
}

// between judges the lines since the last record. They are no fault if the next record describes them, which a writer that goes on
// does, or if there is no next record yet and a writer may have begun them. Before the first record they are always such lines:
// else the log was there, and something took its place.
func (v *verifier) between(unfinished bool) {
	switch {
	case v.torn.lines == 0:
		return
	case v.bad || !unfinished:
		v.fault(v.where.File, v.where.Line, v.where.What)
	default:
		v.Torn += v.torn.lines
	}
	v.torn, v.where, v.bad, v.alien = debris{}, Break{}, false, false
}

// link says what is wrong with the link from a record to the one before, or "".
func (v *verifier) link(e *Entry) string {
	switch {
	case v.Last == 0 && e.Seq > 0 && (e.Seq > 1) == (e.Prev != ""):
		return ""
	case v.Last == 0:
		return fmt.Sprintf("record %d cannot be the first", e.Seq)
	case e.Seq == v.Last+2:
		return fmt.Sprintf("record %d is missing", v.Last+1)
	case e.Seq > v.Last+1:
		return fmt.Sprintf("records %d to %d are missing", v.Last+1, e.Seq-1)
	case e.Seq <= v.Last:
		return fmt.Sprintf("record %d comes after record %d", e.Seq, v.Last)
	case e.Prev != v.Hash:
		return fmt.Sprintf("record %d does not continue record %d: one of them was changed", e.Seq, v.Last)
	}
	return ""
}
