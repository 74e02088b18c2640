package audit

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// lineReader reads lines in bounded memory.
type lineReader struct{ r *bufio.Reader }

func newLineReader(r io.Reader) *lineReader { return &lineReader{bufio.NewReaderSize(r, maxLine)} }

// line is one line of a file.
type line struct {
	text  []byte // without the end; valid until the next call of next; nil if the line is too long
	size  int64  // bytes without the end
	whole bool   // the line has its end
	sum   string // SHA-256 of a line that is too long, in hexadecimal
}

// next returns the next line. The error is io.EOF after the last one.
func (l *lineReader) next() (line, error) {
	text, err := l.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return l.long(text)
	case errors.Is(err, io.EOF) && len(text) > 0:
		return line{text: text, size: int64(len(text))}, nil
	case err != nil:
		return line{}, err
	}
	return line{text: text[:len(text)-1], size: int64(len(text) - 1), whole: true}, nil
}

// long reads the rest of a line that is too long to be kept.
func (l *lineReader) long(text []byte) (line, error) {
	out, sum := line{}, sha256.New()
	for {
		if out.whole = len(text) > 0 && text[len(text)-1] == '\n'; out.whole {
			text = text[:len(text)-1]
		}
		sum.Write(text)
		out.size += int64(len(text))
		if out.whole {
			break
		}
		var err error
		if text, err = l.r.ReadSlice('\n'); errors.Is(err, io.EOF) && len(text) == 0 {
			break
		} else if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return line{}, err
		}
	}
	out.sum = hex.EncodeToString(sum.Sum(nil))
	return out, nil
}

// record decodes the line.
func (l *line) record() (Record, error) {
	if l.text == nil {
		return Record{}, fmt.Errorf("%w: it has %d bytes, more than %d", errUnfinished, l.size, maxLine)
	}
	return decode(l.text)
}

// debris is what writers that stopped left between two records, or after the last one: lines that are not records. The zero
// value is none.
type debris struct {
	lines int
	size  int64 // bytes of the lines with their ends; the end of the last one does not count
	hash  hash.Hash
}

// add adds a line that is not a record.
func (d *debris) add(l *line) {
	if d.hash == nil {
		d.hash = sha256.New()
	}
	if d.lines > 0 {
		d.hash.Write([]byte("\n"))
		d.size++
	}
	if l.text == nil {
		d.hash.Write([]byte(l.sum))
	}
	d.hash.Write(l.text)
	d.lines++
	d.size += l.size
}

// sum returns the SHA-256 of the lines in hexadecimal. A line that is too long is counted by its own SHA-256.
func (d *debris) sum() string {
	if d.hash == nil {
		return ""
	}
	return hex.EncodeToString(d.hash.Sum(nil))
}
