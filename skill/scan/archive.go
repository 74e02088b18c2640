package scan

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/bzip2"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

var errPassword = errors.New("it is encrypted")

// archive reads the members of an archive, and reports whether it is one. Office files, wheels and the like are archives too.
func (r *reader) archive(at int, content []byte) bool {
	file := &r.r.Files[at]
	kind := archiveKind(content)
	if kind == "" {
		if end := content[max(0, len(content)-maxTail):]; bytes.Contains(end, []byte("PK\x05\x06")) && len(file.Inside) < maxArchive && file.Unread == "" {
			if err := r.zip(at, content); err != nil {
				r.partly(at, "it seems to end with an archive, which cannot be read")
			}
		}
		return false
	}
	file.Kind = kind
	if len(file.Inside) >= maxArchive {
		r.partly(at, "it is an archive in an archive in an archive")
		return true
	}
	if file.Unread != "" { // only its beginning is here
		return true
	}
	var err error
	switch kind {
	case "zip":
		err = r.zip(at, content)
	case "tar":
		err = r.tar(at, bytes.NewReader(content))
	case "gzip":
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(content)); err == nil {
			r.packed(at, ".gz", z)
		}
	case "zlib":
		var z io.ReadCloser
		if z, err = zlib.NewReader(bytes.NewReader(content)); err == nil {
			r.packed(at, ".z", z)
		}
	case "bzip2":
		r.packed(at, ".bz2", bzip2.NewReader(bytes.NewReader(content)))
	default:
		r.partly(at, "it is a "+kind+" archive, which is not opened")
	}
	if err != nil {
		r.partly(at, "it cannot be read as an archive: "+err.Error())
	}
	return true
}

// archiveKind returns what an archive is by its first bytes, "" for another file.
func archiveKind(content []byte) string {
	if class, kind := magic(content); class == "archive" {
		return kind
	}
	if len(content) > 262 && string(content[257:262]) == "ustar" {
		return "tar"
	}
	return ""
}

// member reads one file of an archive.
func (r *reader) member(at int, name string, from io.Reader) {
	file := r.r.Files[at]
	r.file(file.Path, append(slices.Clip(file.Inside), strings.ToValidUTF8(name, "\ufffd")), from, 0)
}

// tooMany reports whether there are as many files as are read, and says so of the archive.
func (r *reader) tooMany(at int) bool {
	if len(r.r.Files) < maxFiles && r.ctx.Err() == nil {
		return false
	}
	r.partly(at, "it has too many files")
	return true
}

// maxTail is how much may stand behind the list of a zip archive, in bytes.
const maxTail = 1<<16 + 22

func (r *reader) zip(at int, content []byte) error {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	if unlisted(z, content) {
		r.partly(at, "it has files that its list does not name")
	}
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		if r.tooMany(at) {
			return nil
		}
		if f.Flags&1 != 0 {
			r.protected(at, f.Name)
			r.member(at, f.Name, failing{errPassword})
			continue
		}
		from, err := f.Open()
		if err != nil {
			r.member(at, f.Name, failing{err})
			continue
		}
		r.member(at, f.Name, from)
		from.Close()
	}
	return nil
}

// unlisted reports whether there are members between those of the list.
func unlisted(z *zip.Reader, content []byte) bool {
	next := int64(-1) // a script or a picture may stand before the first
	files := slices.Clone(z.File)
	offset := func(f *zip.File) int64 { n, _ := f.DataOffset(); return n }
	slices.SortFunc(files, func(a, b *zip.File) int { return cmp.Compare(offset(a), offset(b)) })
	for _, f := range files {
		begin := offset(f)
		if before := content[max(0, min(next, begin)):min(begin, int64(len(content)))]; bytes.Count(before, []byte("PK\x03\x04")) > 1 {
			return true
		}
		next = begin + int64(f.CompressedSize64)
	}
	return false
}

// protected says that a password protects a member of an archive.
func (r *reader) protected(at int, name string) {
	r.found = append(r.found, fact.Fact{Kind: fact.Holds, Object: fact.Opaque, Name: "an archive with a password", Detail: name, Place: r.r.Files[at].place()})
}

// failing is a file that cannot be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func (r *reader) tar(at int, from io.Reader) error {
	t := tar.NewReader(from)
	for {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return err
		case h.Typeflag != tar.TypeReg:
			continue
		case r.tooMany(at):
			return nil
		}
		r.member(at, h.Name, t)
	}
}

// packed reads what a file becomes when it is unpacked: an archive, or one file.
func (r *reader) packed(at int, end string, from io.Reader) {
	file := &r.r.Files[at]
	if lower := strings.ToLower(file.name()); strings.HasSuffix(lower, ".tgz") || strings.Contains(lower, ".tar") || strings.HasSuffix(lower, ".tbz2") {
		if err := r.tar(at, io.LimitReader(from, maxBytes-r.bytes)); err != nil {
			r.partly(at, "it cannot be read as an archive: "+err.Error())
		}
		return
	}
	r.member(at, strings.TrimSuffix(path.Base(file.name()), end), from)
}
