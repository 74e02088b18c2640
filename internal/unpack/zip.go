package unpack

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/agent-base/agent-base/internal/filename"
)

// Sizes and signatures of a zip archive. It has, in this order: for each file a header and the content, then the directory
// with one entry for each file, then the end.
const (
	headerSize  = 30
	recordSize  = 46
	endSize     = 22
	locatorSize = 20
	maxComment  = 1<<16 - 1

	headerMagic     = "PK\x03\x04"
	recordMagic     = "PK\x01\x02"
	endMagic        = "PK\x05\x06"
	locatorMagic    = "PK\x06\x07"
	descriptorMagic = "PK\x07\x08"
)

// Flags and methods of a file.
const (
	flagEncrypted  = 1 << 0
	flagDescriptor = 1 << 3
	flagPatched    = 1 << 5
	flagStrong     = 1 << 6
	flagMasked     = 1 << 13

	stored   = 0
	deflated = 8
)

var le = binary.LittleEndian

// Zip writes the files of a zip archive, which has size bytes. Every byte must belong to one file, the directory or the end, and
// what is said twice must be equal: so every program sees the same files. Zip refuses links, special files, encrypted files,
// compression other than deflate, and large archives (ZIP64). It leaves out the folder __MACOSX at the root, and
// links if the options say so.
// The number of files is checked before memory is used for them. Zip does not call Close.
func Zip(ctx context.Context, r io.ReaderAt, size int64, w *Writer) error {
	records, end, err := zipDirectory(r, size, w.seen.left, w.o.MaxPath)
	if err != nil {
		return unreadable("zip", err)
	}
	for i := range records {
		next := end
		if i+1 < len(records) {
			next = int64(records[i+1].offset)
		}
		if err := w.zipEntry(ctx, r, &records[i], next); err != nil {
			return unreadable("zip", err)
		}
	}
	return nil
}

// zipEntry writes a file whose header, content and descriptor end at next.
func (w *Writer) zipEntry(ctx context.Context, r io.ReaderAt, e *record, next int64) error {
	from, err := e.locate(r, next)
	if err != nil {
		return err
	}
	if dir, ok := strings.CutSuffix(e.name, "/"); ok {
		if e.size != 0 {
			return refuse(e.name, "is a folder with content")
		}
		return w.Folder(dir)
	}
	if strings.HasPrefix(e.name, "__MACOSX/") {
		return w.seen.Add(e.name, false)
	}
	packed := bufio.NewReader(reader{ctx, io.NewSectionReader(r, from, int64(e.packed))})
	content := io.Reader(packed)
	if e.method == deflated {
		content = flate.NewReader(packed)
	}
	sum := crc32.NewIEEE()
	checked := io.TeeReader(content, sum)
	if e.mode&typeMask == typeLink {
		if err := w.zipLink(e, checked); err != nil {
			return err
		}
	} else if err := w.File(e.name, e.exec(), checked, int64(e.size)); err != nil {
		return err
	}
	if _, err := packed.ReadByte(); !errors.Is(err, io.EOF) {
		return refuse(e.name, "has data after its end")
	}
	if sum.Sum32() != e.sum {
		return refuse(e.name, "has a wrong checksum")
	}
	return nil
}

// zipLink notes a link, whose content is its target.
func (w *Writer) zipLink(e *record, content io.Reader) error {
	if e.size > filename.MaxTarget {
		return refuse(e.name, "is a link with a target of %d bytes: at most %d are read", e.size, filename.MaxTarget)
	}
	target, err := io.ReadAll(io.LimitReader(content, int64(e.size)+1))
	if err != nil {
		return err
	}
	if len(target) != int(e.size) {
		return refuse(e.name, "has %d bytes or more, and not the %d that it declares", len(target), e.size)
	}
	return w.link(e.name, string(target))
}

// locate returns where the content of a file begins. It checks that the header agrees with the directory, and that the file ends
// at next.
func (e *record) locate(r io.ReaderAt, next int64) (int64, error) {
	from := int64(e.offset)
	if next-from < headerSize {
		return 0, refuse(e.name, "overlaps what follows it")
	}
	h := make([]byte, headerSize)
	if _, err := r.ReadAt(h, from); err != nil {
		return 0, err
	}
	names, extra := int(le.Uint16(h[26:])), int(le.Uint16(h[28:]))
	rest := make([]byte, names+extra)
	if _, err := r.ReadAt(rest, from+headerSize); err != nil || string(h[:4]) != headerMagic {
		return 0, refuse(e.name, "has no header where the directory says")
	}
	described := e.flags&flagDescriptor != 0
	same := le.Uint16(h[6:]) == e.flags && le.Uint16(h[8:]) == e.method && string(rest[:names]) == e.raw &&
		(described || le.Uint32(h[14:]) == e.sum && e.sameSizes(h, rest[names:]))
	if !same {
		return 0, refuse(e.name, "has a header that differs from the directory")
	}
	if err := e.checkExtra(rest[names:], true); err != nil {
		return 0, err
	}
	from += int64(headerSize + names + extra)
	left := next - from - int64(e.packed)
	if left < 0 {
		return 0, refuse(e.name, "overlaps what follows it")
	}
	return from, e.checkDescriptor(r, next-left, left, described)
}

// sameSizes reports whether a header has the sizes of the directory. A program that does not know the size of a file in advance may
// write them in the form for large files.
func (e *record) sameSizes(h, extra []byte) bool {
	packed, size := le.Uint32(h[18:]), le.Uint32(h[22:])
	if packed != 1<<32-1 || size != 1<<32-1 {
		return packed == e.packed && size == e.size
	}
	for len(extra) >= 4 {
		id, n := le.Uint16(extra), int(le.Uint16(extra[2:]))
		if id == extraZip64 {
			return n == 16 && len(extra) >= 20 && le.Uint64(extra[4:]) == uint64(e.size) && le.Uint64(extra[12:]) == uint64(e.packed)
		}
		extra = extra[min(4+n, len(extra)):]
	}
	return false
}

// checkDescriptor checks what lies between the content of a file and the next one: nothing, or its sum and sizes again.
func (e *record) checkDescriptor(r io.ReaderAt, at, size int64, described bool) error {
	if size == 0 && !described {
		return nil
	}
	if !described || size > 24 {
		return refuse(e.name, "is followed by data that belongs to no file")
	}
	got := make([]byte, size)
	if _, err := r.ReadAt(got, at); err != nil {
		return err
	}
	small := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, e.sum), e.packed), e.size)
	large := le.AppendUint64(le.AppendUint64(le.AppendUint32(nil, e.sum), uint64(e.packed)), uint64(e.size))
	for _, want := range [][]byte{small, large} {
		if bytes.Equal(got, want) || bytes.Equal(got, append([]byte(descriptorMagic), want...)) {
			return nil
		}
	}
	return refuse(e.name, "is followed by sizes that differ from the directory")
}

// Extra fields that change what another field says.
const (
	extraZip64 = 0x0001
	extraName  = 0x7075 // the name in UTF-8, after a version and a sum of the name that it replaces
)

// checkExtra refuses extra fields that are cut off, or that give the file another name or, unless large, other sizes.
func (e *record) checkExtra(extra []byte, large bool) error {
	for len(extra) > 0 {
		if len(extra) < 4 || len(extra)-4 < int(le.Uint16(extra[2:])) {
			return refuse(e.raw, "has an extra field that is cut off")
		}
		id, field := le.Uint16(extra), extra[4:][:le.Uint16(extra[2:])]
		if id == extraName && (len(field) < 5 || string(field[5:]) != e.raw) {
			return refuse(e.raw, "has a second name, which differs")
		}
		if id == extraZip64 && !large {
			return errZip64
		}
		extra = extra[4+len(field):]
	}
	return nil
}

var errZip64 error = &Error{Reason: fmt.Sprintf("the archive uses ZIP64, which archives of at most %d files and 4 GiB do not need", 1<<16-2)}
