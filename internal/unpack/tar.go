package unpack

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// perEntry is what one entry of a tar archive takes besides its content, at most on average, in bytes.
const perEntry = 8 << 10

// TarGz writes the files of a tar archive that is compressed by gzip, as Tar does.
func TarGz(ctx context.Context, r io.Reader, w *Writer) error {
	z, err := gzip.NewReader(bufio.NewReader(reader{ctx, r}))
	if err != nil {
		return unreadable("gzip", err)
	}
	return Tar(ctx, z, w)
}

// Tar writes the files of a tar archive. It refuses links, special files and sparse files, what follows the end of the archive,
// and a global header that changes names. A name may begin with "./". Tar does not call Close.
func Tar(ctx context.Context, r io.Reader, w *Writer) error {
	in := &limited{reader{ctx, r}, w.bytes + int64(w.seen.left+1)*perEntry}
	archive := tar.NewReader(in)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return ended(in)
		}
		if err != nil {
			return unreadable("tar", err)
		}
		if err := w.tarEntry(archive, h); err != nil {
			return unreadable("tar", err)
		}
	}
}

func (w *Writer) tarEntry(content io.Reader, h *tar.Header) error {
	for key := range h.PAXRecords {
		changes := key == "path" || key == "linkpath" || key == "size"
		if strings.HasPrefix(key, "GNU.sparse.") || h.Typeflag == tar.TypeXGlobalHeader && changes {
			return refuse(h.Name, "has a header %.50q, which is not accepted", key)
		}
	}
	name := strings.TrimPrefix(h.Name, "./")
	switch h.Typeflag {
	case tar.TypeXGlobalHeader: // such as the commit, from git archive
		return nil
	case tar.TypeDir:
		if name = strings.TrimSuffix(name, "/"); name == "" || name == "." {
			return nil
		}
		return w.Folder(name)
	case tar.TypeReg:
		return w.File(name, h.Mode&0o111 != 0, content, h.Size)
	case tar.TypeSymlink:
		return w.link(name, h.Linkname)
	case tar.TypeLink:
		return refuse(h.Name, "is a hard link: only regular files are accepted")
	}
	return special(h.Name, h.FileInfo().Mode())
}

// ended checks that nothing but zeros follows the end of an archive.
func ended(r io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if len(bytes.Trim(buf[:n], "\x00")) > 0 {
			return refuse("", "the archive has data after its end")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return unreadable("tar", err)
		}
	}
}

// unreadable turns an error of a decoder into a refusal. Other errors stay what they are.
func unreadable(format string, err error) error {
	var refused *Error
	var path *fs.PathError
	if errors.As(err, &refused) || errors.As(err, &path) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	return &Error{Reason: fmt.Sprintf("the archive cannot be read as %s: %v", format, err)}
}

// limited refuses an archive that unpacks to too much, also in what is not the content of files.
type limited struct {
	io.Reader
	left int64
}

func (l *limited) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	if l.left -= int64(n); l.left < 0 {
		return 0, refuse("", "the archive unpacks to more than is allowed")
	}
	return n, err
}
