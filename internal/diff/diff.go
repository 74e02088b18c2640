// Package diff shows how a text changes, as a unified diff that a person reads before or after the change.
//
// The diff is for people and not for patch: it is bounded, and says what its bounds leave out. The texts can be hostile;
// the caller sanitises the lines before it prints them.
package diff

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// Options bounds a diff. The zero value has no bounds.
type Options struct {
	Lines int // lines that are shown
	Width int // bytes of a line that are shown
}

// MaxText is how many bytes each of the two texts may have. Of a longer one only the size is shown.
const MaxText = 10 << 20

// Diff is the difference between two texts.
type Diff struct {
	// Lines are those of the hunks, without an end of line: "@@ …", and " ", "-" or "+" with a line of the text. If bounds
	// left something out, the last line is "… " and says how much.
	Lines          []string
	Added, Removed int  // lines, including those that are not shown
	Cut            bool // the bounds left something out
}

// Of returns how the text old becomes the text new. Texts that are equal have no lines. For binary and very long texts
// the lines say the sizes.
func Of(old, new []byte, o Options) *Diff {
	d := &Diff{}
	if bytes.Equal(old, new) {
		return d
	}
	if !shown(old) || !shown(new) {
		d.Lines = []string{fmt.Sprintf("(not shown as text: %d bytes become %d bytes)", len(old), len(new))}
		return d
	}
	if windows(new) && (len(old) == 0 || windows(old)) { // every line shows the same mark
		old, new = bytes.ReplaceAll(old, []byte("\r\n"), []byte("\n")), bytes.ReplaceAll(new, []byte("\r\n"), []byte("\n"))
	}
	lines := strings.Split(strings.TrimSuffix(string(diff.Diff("old", old, "new", new)), "\n"), "\n")
	if len(lines) < 3 {
		return d
	}
	for _, line := range lines[3:] { // the first three name the texts
		d.add(line, &o)
	}
	if left := len(d.Lines) - o.Lines; o.Lines > 0 && left > 0 {
		d.Lines = append(d.Lines[:o.Lines:o.Lines], fmt.Sprintf("… %s more", count(left, "line")))
		d.Cut = true
	}
	return d
}

func (d *Diff) add(line string, o *Options) {
	switch {
	case strings.HasPrefix(line, "+"):
		d.Added++
	case strings.HasPrefix(line, "-"):
		d.Removed++
	}
	if o.Width > 0 && len(line) > o.Width {
		at := o.Width
		for at > 0 && !utf8.RuneStart(line[at]) {
			at--
		}
		line = fmt.Sprintf("%s … %s more", line[:at], count(len(line)-at, "byte"))
		d.Cut = true
	}
	d.Lines = append(d.Lines, line)
}

// windows reports whether every line ends in CRLF.
func windows(text []byte) bool {
	n := bytes.Count(text, []byte("\n"))
	return n > 0 && n == bytes.Count(text, []byte("\r\n"))
}

// shown reports whether a text is shown line by line.
func shown(text []byte) bool { return len(text) <= MaxText && bytes.IndexByte(text, 0) < 0 }

// Summary says how many lines were added and removed: "+3 -1".
func (d *Diff) Summary() string { return fmt.Sprintf("+%d -%d", d.Added, d.Removed) }

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
