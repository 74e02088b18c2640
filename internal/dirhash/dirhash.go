// Package dirhash computes the digest of a skill's directory: one number for all that it holds, which a user can
// compute with nothing but a shell (Command). Approvals of content are kept under it (C26).
//
// The digest is "sha256:" and the SHA-256, in 64 hexadecimal digits, of one record for each file and each symbolic
// link, ordered by bytes:
//
//	<SHA-256 of the content>  ./<path> NUL       for each regular file
//	link  ./<path>//<text of the link> NUL       for each link, after the files
//
// That is what sha256sum -z prints, so that no file name, not even one with a line feed or a backslash, can be mistaken
// for another record. In the digest are names and bytes. Not in it:
//
//   - Modes. Which program runs is decided by name and content, both of which are; and a file has no executable bit in
//     a binary's embedded files, on Windows or after some archives, yet is the same skill.
//   - What is called .git at the root. Git rewrites its own files when somebody only looks at them, and no script and
//     no resource of a skill is found there.
//   - Empty folders, owners and times.
//
// Nothing else is left out: a compiled .pyc runs as well as its source. A link is never followed, and one that leads
// out of the directory is refused, since what lies behind it could change unseen. So is anything that is neither file,
// folder nor link, which is never opened, and a path that is not UTF-8, which io/fs cannot name.
//
// Functions may be called from several goroutines at once.
package dirhash

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// Command prints the 64 digits of the digest of the working directory. It needs a shell with the GNU tools find, sort,
// xargs and sha256sum.
const Command = `{ find . -path ./.git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum -z
find . -path ./.git -prune -o -type l -printf 'link  %p//%l\0' | LC_ALL=C sort -z
} | sha256sum | cut -c 1-64`

// Prefix begins every digest.
const Prefix = "sha256:"

// What Dir accepts by default: entries (files, links and folders), and bytes of all files together.
const (
	DefaultMaxFiles = 10_000
	DefaultMaxBytes = 256 << 20
)

// Options bounds what Dir reads. Zero values mean the defaults.
type Options struct {
	MaxFiles int   // files, links and folders together
	MaxBytes int64 // of all files together
}

// Sum is the digest of a directory and what it was computed from.
type Sum struct {
	Digest string // Prefix and 64 hexadecimal digits
	Files  []File // by path; .git at the root is not among them
}

// File is one file or link of a directory.
type File struct {
	Path   string // slash path below the directory
	Link   bool   // a symbolic link
	Size   int64  // bytes; of a link those of its text
	SHA256 string // 64 hexadecimal digits, of the content or of the link's text
}

// Dir returns the digest of all that fsys holds. It stops with ctx's error when ctx ends, and fails when a limit is
// passed, when something cannot be read and when there is something that a skill has no business with; the error
// names it. A link needs an fsys that is an fs.ReadLinkFS, as that of os.Root is.
//
// What is not a regular file when its folder is listed is not opened. Where another process may put a pipe in a
// file's place in the meantime, fsys has to open files without waiting.
func Dir(ctx context.Context, fsys fs.FS, o *Options) (Sum, error) {
	w := walker{fsys: fsys, entries: DefaultMaxFiles, bytes: DefaultMaxBytes, links: map[string]string{}, buf: make([]byte, 64<<10)}
	if o != nil && o.MaxFiles > 0 {
		w.entries = o.MaxFiles
	}
	if o != nil && o.MaxBytes > 0 {
		w.bytes = o.MaxBytes
	}
	w.maxEntries, w.maxBytes = w.entries, w.bytes
	if err := w.list(ctx); err != nil {
		return Sum{}, err
	}
	slices.SortFunc(w.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for i := range w.files {
		if err := w.read(ctx, &w.files[i]); err != nil {
			return Sum{}, err
		}
	}
	return Sum{Digest: w.digest(), Files: w.files}, nil
}

// digest writes the records that the package comment describes.
func (w *walker) digest() string {
	h := sha256.New()
	var links []string
	for _, f := range w.files {
		if f.Link {
			links = append(links, "link  ./"+f.Path+"//"+w.links[f.Path]+"\x00")
			continue
		}
		io.WriteString(h, f.SHA256+"  ./"+f.Path+"\x00")
	}
	slices.Sort(links)
	for _, l := range links {
		io.WriteString(h, l)
	}
	return Prefix + sum(h)
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// read fills in the size and the hash of a file.
func (w *walker) read(ctx context.Context, f *File) error {
	if f.Link {
		text := w.links[f.Path]
		h := sha256.Sum256([]byte(text))
		f.Size, f.SHA256 = int64(len(text)), hex.EncodeToString(h[:])
		return nil
	}
	file, err := w.fsys.Open(f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return special(f.Path, info.Mode())
	}
	if info.Size() > w.bytes { // said before anything is read: a sparse file has terabytes
		return w.tooMuch(f.Path)
	}
	h := sha256.New()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := file.Read(w.buf)
		if w.bytes -= int64(n); w.bytes < 0 {
			return w.tooMuch(f.Path)
		}
		h.Write(w.buf[:n])
		f.Size += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	f.SHA256 = sum(h)
	return nil
}

func (w *walker) tooMuch(name string) error {
	return fmt.Errorf("the files have more than %d bytes together (reached at %q): a skill is small, move the data elsewhere", w.maxBytes, name)
}

func special(name string, mode fs.FileMode) error {
	kind := "special file"
	switch {
	case mode&fs.ModeNamedPipe != 0:
		kind = "named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "socket"
	case mode&fs.ModeDevice != 0:
		kind = "device"
	}
	return fmt.Errorf("%q is a %s: a skill has only files, folders and links, remove it", name, kind)
}
