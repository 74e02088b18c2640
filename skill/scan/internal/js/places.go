package js

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/tdewolff/parse/v2/js"
)

// places knows the line of what is read. The syntax tree has no positions, but its texts are parts of the source.
type places struct {
	source []byte
	ends   []int // offsets of the line ends
	first  int   // the line of the first byte
	at     int   // the offset of what was seen last
}

func newPlaces(source []byte, first int) *places {
	p := &places{source: source, first: first}
	for i, c := range source {
		if c == '\n' {
			p.ends = append(p.ends, i)
		}
	}
	return p
}

// line returns the line of what was seen last.
func (p *places) line() int {
	n, _ := slices.BinarySearch(p.ends, p.at)
	return n + p.first
}

// saw goes to a part of the source that stands in one place of the syntax tree.
func (p *places) saw(part []byte) {
	if len(part) == 0 || len(p.source) == 0 {
		return
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(part))) - uintptr(unsafe.Pointer(unsafe.SliceData(p.source))) // of other memory: any number
	if at < uintptr(len(p.source)) {
		p.at = int(at)
	}
}

// maxSearch is how far behind what was seen last a name is looked for, in bytes.
const maxSearch = 4 << 10

// sawName goes to the next place that has a name. All uses of a variable share one part of the source.
func (p *places) sawName(name []byte) {
	for at := p.at; len(name) > 0; at++ {
		i := bytes.Index(p.source[at:min(at+maxSearch, len(p.source))], name)
		if i < 0 {
			return
		}
		at += i
		end := at + len(name)
		if (at == 0 || !js.IsIdentifierContinue(p.source[at-1:])) && (end == len(p.source) || !js.IsIdentifierContinue(p.source[end:])) {
			if !p.comment(at) {
				p.at = end
				return
			}
		}
	}
}

// maxComment is how far before a name a comment that it is in begins, in bytes.
const maxComment = 300

// comment reports whether an offset seems to be in a comment.
func (p *places) comment(at int) bool {
	line := p.source[max(0, at-maxComment):at]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	line = bytes.TrimLeft(line, " \t")
	i := bytes.Index(line, []byte("//"))
	return i == 0 || i > 0 && line[i-1] != ':' || bytes.HasPrefix(line, []byte("*")) || bytes.HasPrefix(line, []byte("/*"))
}
