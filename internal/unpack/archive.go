package unpack

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// Archive writes the files of a .tar.gz or .zip archive, which has size bytes. What it is is decided by its content. The error is
// an *Error if the archive or an entry is refused. It does not call Close.
func Archive(ctx context.Context, r io.ReaderAt, size int64, w *Writer) error {
	head := make([]byte, 512)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		err = TarGz(ctx, io.NewSectionReader(r, 0, size), w)
	case bytes.HasPrefix(head, []byte("PK")):
		err = Zip(ctx, r, size, w)
	default:
		return notArchive(head)
	}
	if err != nil {
		return err
	}
	return w.follow(ctx)
}

func notArchive(head []byte) error {
	return refuse("", "%s: an archive is a .tar.gz or a .zip", describe(head))
}

// describe says what a file is that is not an archive.
func describe(head []byte) string {
	for _, kind := range []struct{ magic, name string }{
		{"BZh", "it is compressed by bzip2"}, {"\xfd7zXZ\x00", "it is compressed by xz"}, {"\x28\xb5\x2f\xfd", "it is compressed by zstd"},
		{"7z\xbc\xaf\x27\x1c", "it is a 7z archive"}, {"Rar!", "it is a rar archive"}, {"<", "it is a page, or XML"},
	} {
		if bytes.HasPrefix(head, []byte(kind.magic)) {
			return kind.name
		}
	}
	if len(head) == 0 {
		return "it is empty"
	}
	if len(head) >= 262 && string(head[257:262]) == "ustar" {
		return "it is a tar archive that is not compressed"
	}
	return "it is no archive"
}
