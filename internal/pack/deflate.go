package pack

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// This file compresses. The output of compress/flate may differ between releases of Go; that of these functions is fixed by the
// golden test, so an archive has the same bytes wherever it is made. The format is RFC 1951, with blocks of fixed codes, or
// without compression where that is shorter.

// Limits of the format, and of the search for repeated text.
const (
	window    = 32 << 10
	block     = 1<<16 - 1 // bytes; the most that a block without compression can have
	minRepeat = 4
	maxRepeat = 258
	hashBits  = 15
	tries     = 32 // earlier places that are compared
)

// gzip returns data as a gzip file without a name and a time.
func gzip(data []byte) []byte {
	out := append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, deflate(data)...)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(data))
	return binary.LittleEndian.AppendUint32(out, uint32(len(data)))
}

// deflate returns data compressed.
func deflate(data []byte) []byte {
	s := &searcher{data: data, before: make([]int32, len(data))}
	var w bitWriter
	for at := 0; at < len(data) || at == 0; at += block {
		end := min(at+block, len(data))
		w.block(s.tokens(at, end), data[at:end], end == len(data))
	}
	return w.flush()
}

// token is a byte, or a repetition of what came before.
type token struct {
	literal byte
	length  int // of a repetition; 0 means a byte
	back    int // how far back it begins
}

// searcher finds repeated text.
type searcher struct {
	data   []byte
	last   [1 << hashBits]int32 // for each hash, one more than the last place that has it
	before []int32              // for each place, one more than the one before it with the same hash
}

// tokens returns data[at:end] as tokens. Parts must be asked for in order.
func (s *searcher) tokens(at, end int) []token {
	var out []token
	for at < end {
		length, back := s.longest(at, end)
		if length < minRepeat {
			out = append(out, token{literal: s.data[at]})
			length = 1
		} else {
			out = append(out, token{length: length, back: back})
		}
		for range length {
			s.remember(at)
			at++
		}
	}
	return out
}

// longest returns the longest repetition that begins at a place and ends before end. Of several it takes the nearest.
func (s *searcher) longest(at, end int) (length, back int) {
	if len(s.data)-at < minRepeat {
		return 0, 0
	}
	most := min(end-at, maxRepeat)
	place := int(s.last[s.hash(at)]) - 1
	for n := 0; n < tries && place >= 0 && at-place <= window && length < most; n++ {
		same := 0
		for same < most && s.data[place+same] == s.data[at+same] {
			same++
		}
		if same > length {
			length, back = same, at-place
		}
		place = int(s.before[place]) - 1
	}
	return length, back
}

func (s *searcher) remember(at int) {
	if len(s.data)-at >= minRepeat {
		h := s.hash(at)
		s.before[at], s.last[h] = s.last[h], int32(at+1)
	}
}

func (s *searcher) hash(at int) uint32 {
	return binary.LittleEndian.Uint32(s.data[at:]) * 2654435761 >> (32 - hashBits)
}

// bitWriter writes bits, the lowest of a byte first.
type bitWriter struct {
	out  []byte
	bits uint64 // that are not yet in out
	n    int    // number of bits
}

func (w *bitWriter) write(value uint32, n int) {
	w.bits |= uint64(value) << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.bits))
		w.bits >>= 8
	}
}

// flush fills the last byte with zeros and returns what was written.
func (w *bitWriter) flush() []byte {
	if w.n > 0 {
		w.out = append(w.out, byte(w.bits))
	}
	w.bits, w.n = 0, 0
	return w.out
}

// block writes one block: with fixed codes, or plain if that is not longer.
func (w *bitWriter) block(tokens []token, plain []byte, last bool) {
	final := uint32(0)
	if last {
		final = 1
	}
	size := 0
	for _, t := range tokens {
		size += t.bits()
	}
	if size >= 8*(len(plain)+4) {
		w.write(final, 3)
		w.flush()
		w.out = binary.LittleEndian.AppendUint16(w.out, uint16(len(plain)))
		w.out = binary.LittleEndian.AppendUint16(w.out, ^uint16(len(plain)))
		w.out = append(w.out, plain...)
		return
	}
	w.write(final|1<<1, 3)
	for _, t := range tokens {
		w.token(t)
	}
	w.symbol(endOfBlock)
}

const (
	endOfBlock  = 256
	firstLength = 257
)

// symbol writes the fixed code of a byte, the end of a block or a length. Codes are written from their highest bit.
func (w *bitWriter) symbol(s uint32) {
	code, n := fixedCode(s)
	w.write(bits.Reverse32(code)>>(32-n), n)
}

func fixedCode(s uint32) (code uint32, n int) {
	switch {
	case s < 144:
		return 0x30 + s, 8
	case s < 256:
		return 0x190 + s - 144, 9
	case s < 280:
		return s - 256, 7
	}
	return 0xc0 + s - 280, 8
}

func (w *bitWriter) token(t token) {
	if t.length == 0 {
		w.symbol(uint32(t.literal))
		return
	}
	s, extra, n := lengthCode(t.length)
	w.symbol(firstLength + s)
	w.write(extra, n)
	s, extra, n = distanceCode(t.back)
	w.write(bits.Reverse32(s)>>27, 5)
	w.write(extra, n)
}

// bits returns how many bits a token takes.
func (t token) bits() int {
	if t.length == 0 {
		_, n := fixedCode(uint32(t.literal))
		return n
	}
	s, _, extra := lengthCode(t.length)
	_, n := fixedCode(firstLength + s)
	_, _, more := distanceCode(t.back)
	return n + extra + 5 + more
}

// lengthCode returns the code of a length after firstLength, and the extra bits that follow it.
func lengthCode(length int) (code, extra uint32, n int) {
	if length == maxRepeat {
		return 28, 0, 0
	}
	return rangeCode(uint32(length-3), 4)
}

// distanceCode returns the code of a distance, and the extra bits that follow it.
func distanceCode(back int) (code, extra uint32, n int) { return rangeCode(uint32(back-1), 2) }

// rangeCode returns the code of a value where each doubling of the value has as many codes as step, a power of two.
func rangeCode(value, step uint32) (code, extra uint32, n int) {
	if value < 2*step {
		return value, 0, 0
	}
	n = bits.Len32(value) - bits.Len32(step)
	return uint32(n)*step + value>>n, value & (1<<n - 1), n
}
