// Package dirhash computes the digest of the content of a skill's directory. A user can compute the same digest in a shell
// (Command). Approvals refer to content by its digest.
//
// The digest is "sha256:" and 64 hexadecimal digits: the SHA-256 of one record for each file and each symbolic link,
// sorted by bytes:
//
//	<SHA-256 of the content>  ./<path> NUL       for each regular file
//	link  ./<path>//<text of the link> NUL       for each link, after the files
//
// This is the output of sha256sum -z, so no file name can be mistaken for another record, not even a name with a line feed
// or a backslash. The digest covers names and contents. It does not cover:
//
//   - Modes. Names and contents decide which program runs. Files have no executable bit when they are embedded in a
//     binary, on Windows and after some archives, and the skill is still the same.
//   - What belongs to no skill, as package content says: byte code, caches, version control and the like.
//   - Empty folders, owners and times.
//
// Links are not followed. A link that leads out of the
// directory is an error, since its target could change unnoticed. A file that is not regular is an error and is not
// opened. So is a path that is not UTF-8, which io/fs cannot name.
//
// Functions are safe for concurrent use.
package dirhash

import (
	"bytes"
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

// Command prints the 64 digits of the digest of the working directory, if that has no leftovers but .git at its root. It needs a shell with the GNU tools find, sort,
// xargs and sha256sum.
const Command = `{ find . -path ./.git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum -z
find . -path ./.git -prune -o -type l -printf 'link  %p//%l\0' | LC_ALL=C sort -z
} | sha256sum | cut -c 1-64`

// Prefix begins every digest.
const Prefix = "sha256:"

// Default limits of Dir: entries (files, links and folders), and the total size of all files in bytes.
const (
	DefaultMaxFiles = 10_000
	DefaultMaxBytes = 256 << 20
)

// Options bounds what Dir reads. Zero values mean the defaults.
type Options struct {
	MaxFiles int   // files, links and folders together
	MaxBytes int64 // total size of all files

	// Whole also covers what belongs to no skill, except for .git at the root. Digests were once made so.
	Whole bool
}

// Sum is the digest of a directory and the files that it covers.
type Sum struct {
	Digest string // Prefix and 64 hexadecimal digits
	Files  []File // sorted by path
	Left   int    // files, folders and links that it does not cover, because they belong to no skill
}

// File is one file or link of a directory.
type File struct {
	Path   string // slash path below the directory
	Link   bool   // a symbolic link
	Size   int64  // size of the content, or of a link's text, in bytes
	SHA256 string // hash of the content, or of a link's text, as 64 hexadecimal digits
	Starts bool   // the content begins with "#!": the file is made to be started, whatever its mode
}

// Dir returns the digest of fsys. It returns the error of ctx if ctx is done. It returns an error that names the file if a
// limit is exceeded, a file cannot be read, or a file is of a kind that a skill must not have. To read links, fsys must be
// an fs.ReadLinkFS.
//
// Dir does not open what is not a regular file in the listing of its folder. If another process may replace a file by a
// pipe in the meantime, fsys must open files without waiting.
func Dir(ctx context.Context, fsys fs.FS, o *Options) (Sum, error) {
	w := walker{fsys: fsys, entries: DefaultMaxFiles, bytes: DefaultMaxBytes, links: map[string]string{}}
	if o != nil && o.MaxFiles > 0 {
		w.entries = o.MaxFiles
	}
	if o != nil && o.MaxBytes > 0 {
		w.bytes = o.MaxBytes
	}
	w.maxEntries, w.maxBytes = w.entries, w.bytes
	w.whole = o != nil && o.Whole
	if err := w.list(ctx); err != nil {
		return Sum{}, err
	}
	slices.SortFunc(w.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for i := range w.files {
		if err := w.read(ctx, &w.files[i]); err != nil {
			return Sum{}, err
		}
	}
	return Sum{Digest: w.digest(), Files: w.files, Left: w.left}, nil
}

// Is reports whether fsys has the content of one of some digests. The sum is that of Dir. A digest may be one that was made with
// Options.Whole: then nothing has changed since, not even what belongs to no skill.
func Is(ctx context.Context, fsys fs.FS, digests ...string) (bool, Sum, error) {
	now, err := Dir(ctx, fsys, nil)
	if err != nil || slices.Contains(digests, now.Digest) || now.Left == 0 {
		return err == nil && slices.Contains(digests, now.Digest), now, err
	}
	was, err := Dir(ctx, fsys, &Options{Whole: true})
	if err != nil { // a leftover may be what no digest covers
		return false, now, ctx.Err()
	}
	return slices.Contains(digests, was.Digest), now, nil
}

// Of returns the digest of files by their names and hashes, with the texts of the links among them by their names. It returns "" if
// the text of a link is not there, or has another hash.
func Of(files []File, links map[string]string) string {
	w := walker{files: slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) }), links: links}
	unknown := func(f File) bool {
		text, ok := links[f.Path]
		hash := sha256.Sum256([]byte(text))
		return f.Link && (!ok || f.SHA256 != hex.EncodeToString(hash[:]))
	}
	if slices.ContainsFunc(files, unknown) {
		return ""
	}
	return w.digest()
}

// digest returns the digest of the records that the package comment describes.
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

// maxBuffer is how much of a file is read at once, in bytes.
const maxBuffer = 64 << 10

// read sets the size and the hash of a file.
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
	if info.Size() > w.bytes { // before reading: a sparse file can have terabytes
		return w.tooMuch(f.Path)
	}
	if want := int(min(info.Size()+1, maxBuffer)); len(w.buf) < want {
		w.buf = make([]byte, want)
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
		if f.Size == 0 {
			f.Starts = bytes.HasPrefix(w.buf[:n], []byte("#!"))
		}
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
	return fmt.Errorf("files exceed %d bytes in total (at %q): move large data out of it", w.maxBytes, name)
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
	return fmt.Errorf("%q is a %s: a skill may have only files, folders and links", name, kind)
}
