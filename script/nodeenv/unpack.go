package nodeenv

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"strings"
)

// Limits of what packages unpack to.
const (
	maxFiles  = 200_000
	maxRatio  = 100      // unpacked to packed
	freeRatio = 64 << 20 // unpacked bytes that are always allowed for one file
	maxPath   = 1024     // bytes of a path in a package
	maxDepth  = 64       // folders inside each other in a package
)

// unpacker writes packages into a folder. Only regular files are written, below the package's own place.
type unpacker struct {
	root  *os.Root
	bytes int64 // that may still be written
	files int   // likewise
}

// unpack writes a package to its place, in place of what is there. packed is the size of its file.
func (u *unpacker) unpack(from io.Reader, packed int64, place string) error {
	if err := u.root.RemoveAll(place); err != nil { // a package may bring others
		return err
	}
	if err := u.root.MkdirAll(place, 0o755); err != nil {
		return err
	}
	zip, err := gzip.NewReader(bufio.NewReader(from))
	if err != nil {
		return fmt.Errorf("it is not a package: %w", err)
	}
	most := max(packed*maxRatio, freeRatio)
	archive := tar.NewReader(&limited{zip, most})
	made := map[string]bool{".": true}
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is not a package: %w", err)
		}
		if err := u.entry(archive, h, place, made); err != nil {
			return err
		}
	}
}

// entry writes one entry. Links are left out, as npm does; folders are made with their files.
func (u *unpacker) entry(from io.Reader, h *tar.Header, place string, made map[string]bool) error {
	switch h.Typeflag {
	case tar.TypeReg:
	case tar.TypeDir, tar.TypeSymlink, tar.TypeLink, tar.TypeXGlobalHeader:
		return nil
	default:
		return fmt.Errorf("it has a file %q of kind %q, which is not unpacked", clip(h.Name), h.Typeflag)
	}
	name, err := inPackage(h.Name)
	if err != nil || name == "" {
		return err
	}
	u.files--
	u.bytes -= h.Size
	switch {
	case u.files < 0:
		return fmt.Errorf("%w: more than %d files", ErrTooLarge, maxFiles)
	case u.bytes < 0:
		return fmt.Errorf("%w: they unpack to more than is allowed", ErrTooLarge)
	}
	to := place + "/" + name
	if dir := path.Dir(name); !made[dir] {
		if err := u.root.MkdirAll(path.Dir(to), 0o755); err != nil {
			return err
		}
		made[dir] = true
	}
	mode := os.FileMode(0o644)
	if h.Mode&0o111 != 0 {
		mode = 0o755
	}
	out, err := u.root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	return errors.Join(err, out.Close())
}

// inPackage returns the path of an entry in its package: without the first folder, which has any name. It is "" for what
// lies beside that folder.
func inPackage(name string) (string, error) {
	bad := strings.ContainsRune(name, 0) || runtime.GOOS == "windows" && strings.ContainsAny(name, `\:`) ||
		len(name) > maxPath || strings.HasPrefix(name, "/") || strings.Count(name, "/") > maxDepth
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || part == ".."
	}
	if bad {
		return "", fmt.Errorf("it has a file %q, which is not unpacked", clip(name))
	}
	_, rest, _ := strings.Cut(path.Clean(name), "/")
	return rest, nil
}

// limited ends a package that unpacks to too much for its size.
type limited struct {
	io.Reader
	left int64
}

func (l *limited) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	if l.left -= int64(n); l.left < 0 {
		return n, fmt.Errorf("%w: one unpacks to far more than its own size", ErrTooLarge)
	}
	return n, err
}
