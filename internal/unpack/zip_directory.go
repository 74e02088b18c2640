package unpack

import (
	"cmp"
	"io"
	"slices"
	"strings"
)

// record is what the directory of a zip archive says of a file.
type record struct {
	name         string // with "/" between its parts
	raw          string // as it stands in the archive
	flags        uint16
	method       uint16
	sum          uint32
	packed, size uint32 // bytes
	offset       uint32 // of the header
	unix         bool   // mode is one of Unix
	mode         uint32
}

// exec reports whether a file is executable.
func (e *record) exec() bool { return e.unix && e.mode&0o111 != 0 }

// zipDirectory reads the directory of a zip archive, of at most this many files with names of at most longest bytes. It returns the
// files by their place in the archive, and the place where the last one ends.
func zipDirectory(r io.ReaderAt, size int64, most, longest int) (records []record, end int64, err error) {
	tail, err := zipEnd(r, size)
	if err != nil {
		return nil, 0, err
	}
	count, length, offset := int(le.Uint16(tail[10:])), int64(le.Uint32(tail[12:])), int64(le.Uint32(tail[16:]))
	switch {
	case le.Uint16(tail[4:]) != 0 || le.Uint16(tail[6:]) != 0 || int(le.Uint16(tail[8:])) != count:
		return nil, 0, refuse("", "the archive has several parts")
	case offset+length != size-int64(len(tail)):
		return nil, 0, refuse("", "the directory of the archive is not where the end of the archive says")
	case count > most:
		return nil, 0, refuse("", "the archive has %d files and folders, more than the %d that are allowed", count, most)
	}
	records, err = zipRecords(io.NewSectionReader(r, offset, length), count, longest)
	if err != nil {
		return nil, 0, err
	}
	slices.SortStableFunc(records, func(a, b record) int { return cmp.Compare(a.offset, b.offset) })
	switch {
	case len(records) > 0 && records[0].offset != 0, len(records) == 0 && offset != 0:
		return nil, 0, refuse("", "the archive begins with data that belongs to no file")
	case len(records) > 0 && int64(records[len(records)-1].offset) >= offset:
		return nil, 0, refuse(records[len(records)-1].name, "is not before the directory of the archive")
	}
	return records, offset, nil
}

// zipEnd returns the last part of a zip archive, with its comment.
func zipEnd(r io.ReaderAt, size int64) ([]byte, error) {
	if size < endSize {
		return nil, io.ErrUnexpectedEOF
	}
	tail := make([]byte, min(size, locatorSize+endSize+maxComment))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return nil, err
	}
	for at := len(tail) - endSize; at >= 0; at-- {
		if string(tail[at:at+4]) != endMagic {
			continue
		}
		end := tail[at:]
		switch {
		case int(le.Uint16(end[20:])) != len(end)-endSize:
			return nil, refuse("", "the archive has data after its end")
		case at >= locatorSize && string(tail[at-locatorSize:][:4]) == locatorMagic:
			return nil, errZip64
		case strings.Contains(string(end[4:]), "PK"):
			return nil, refuse("", "the comment of the archive looks like a part of an archive")
		}
		return end, nil
	}
	return nil, refuse("", "the archive has no end: it is cut off, or not a zip archive")
}

// zipRecords reads the entries of the directory, which is nothing but count of them.
func zipRecords(r *io.SectionReader, count, longest int) ([]record, error) {
	records := make([]record, 0, count)
	fixed := make([]byte, recordSize)
	for range count {
		if _, err := io.ReadFull(r, fixed); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		names, extra, comment := int(le.Uint16(fixed[28:])), int(le.Uint16(fixed[30:])), int(le.Uint16(fixed[32:]))
		rest := make([]byte, names+extra+comment)
		if _, err := io.ReadFull(r, rest); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		switch {
		case string(fixed[:4]) != recordMagic:
			return nil, refuse("", "the directory of the archive is damaged")
		case names > longest:
			return nil, refuse(string(rest[:names]), "is a path of more than %d bytes", longest)
		case le.Uint16(fixed[34:]) != 0:
			return nil, refuse(string(rest[:names]), "is in another part of the archive")
		}
		made, mode := fixed[5], le.Uint32(fixed[38:])>>16
		e := record{raw: string(rest[:names]), flags: le.Uint16(fixed[8:]), method: le.Uint16(fixed[10:]), sum: le.Uint32(fixed[16:]),
			packed: le.Uint32(fixed[20:]), size: le.Uint32(fixed[24:]), offset: le.Uint32(fixed[42:]),
			unix: made == madeUnix || made == madeMac, mode: mode}
		if err := e.checkExtra(rest[names:][:extra], false); err != nil {
			return nil, err
		}
		records = append(records, e)
	}
	if n, _ := r.Read(fixed[:1]); n > 0 {
		return nil, refuse("", "the directory of the archive has more than its %d files", count)
	}
	if err := nameRecords(records); err != nil {
		return nil, err
	}
	for i := range records {
		if err := records[i].check(); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// nameRecords sets the names. Some programs for Windows write "\\" for "/": it is taken for that if it stands in each name that has
// either of them.
func nameRecords(records []record) error {
	slashes, backslashes := false, ""
	for i := range records {
		e := &records[i]
		e.name = e.raw
		slashes = slashes || strings.Contains(e.raw, "/")
		if strings.Contains(e.raw, `\`) {
			backslashes = cmp.Or(backslashes, e.raw)
			e.name = strings.ReplaceAll(e.raw, `\`, "/")
		}
	}
	if slashes && backslashes != "" {
		return refuse(backslashes, `has a "\", and other names of the archive have a "/", so its folder is not clear: make the archive with "/" in each name`)
	}
	return nil
}

// Systems on which a zip archive was made, where modes are those of Unix.
const (
	madeUnix = 3
	madeMac  = 19
)

// Types of files in the modes of Unix.
const (
	typeMask   = 0o170000
	typeFile   = 0o100000
	typeFolder = 0o040000
	typeLink   = 0o120000
)

// check refuses a file that cannot be read or that is not a regular one, whatever system the archive is from.
func (e *record) check() error {
	folder := strings.HasSuffix(e.name, "/")
	kind := e.mode & typeMask
	switch {
	case e.flags&(flagEncrypted|flagPatched|flagStrong|flagMasked) != 0:
		return refuse(e.name, "is encrypted or patched")
	case e.method != stored && e.method != deflated:
		return refuse(e.name, "is compressed by method %d: only deflate is read", e.method)
	case e.packed == 1<<32-1 || e.size == 1<<32-1 || e.offset == 1<<32-1:
		return errZip64
	case e.method == stored && e.packed != e.size:
		return refuse(e.name, "has two sizes")
	case kind != 0 && kind != typeFile && kind != typeFolder && kind != typeLink:
		return refuse(e.name, "is a special file: only regular files are accepted")
	case kind == typeFolder && !folder, kind != 0 && kind != typeFolder && folder:
		return refuse(e.name, "is a file and a folder")
	}
	return nil
}
