// Package pack makes archives of skills, and the index by which a site offers them.
//
// An archive depends on the names and contents of the files only: files are sorted, have no times and no owners, are executable
// if they begin like a program, and are compressed by this package. The same content gives the same bytes on every machine and
// with every release of Go, so its digest can be published and compared.
//
// The package validates no manifest: callers check a skill before they pack it.
package pack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/unpack"
)

// Limits of a skill that is packed. They are those within which fetchers unpack an archive from the network.
const (
	MaxFiles = 1000     // files and folders
	MaxBytes = 64 << 20 // of all files
)

// Format is the format of an archive.
type Format uint8

// The formats.
const (
	TarGz Format = iota
	Zip          // also the format of .skill files
)

// Options says how a skill is packed. The zero value makes a .tar.gz with SKILL.md at its root, as a discovery index needs it.
type Options struct {
	Format Format
	Folder string // name of the folder in the archive that has the files, as in .skill files; "" for none
}

// Packed is a packed skill.
type Packed struct {
	Data     []byte
	Digest   string   // of Data: "sha256:" and 64 hexadecimal digits
	Files    []string // that are in it, sorted
	Excluded []string // that are not, sorted; folders end with a slash
}

// file is a file that is packed.
type file struct {
	name string
	data []byte
}

// exec reports whether a file is executable: a script that names its interpreter, or a program of Linux or macOS. The modes on the
// disk are not asked, since they get lost on some systems and are not part of a skill's digest.
func (f *file) exec() bool {
	for _, magic := range []string{"#!", "\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(f.data, []byte(magic)) {
			return true
		}
	}
	return false
}

func (f *file) mode() int64 {
	if f.exec() {
		return 0o755
	}
	return 0o644
}

// Pack packs the skill in fsys, which must have a SKILL.md. It leaves out what Packed.Excluded lists: what belongs to no
// skill, such as byte code and version control, what can hold secrets, such as .env, and evals at the root unless the skill is signed. It refuses links, special files, names that
// are not possible everywhere, and more than MaxFiles or MaxBytes. o may be nil.
func Pack(ctx context.Context, fsys fs.FS, o *Options) (*Packed, error) {
	if o == nil {
		o = &Options{}
	}
	if o.Folder != "" && (filename.Odd(o.Folder) != "" || filename.IsGit(o.Folder)) {
		return nil, fmt.Errorf("%.100q cannot be the name of a folder", o.Folder)
	}
	p := &Packed{}
	files, err := p.read(ctx, fsys)
	if err != nil {
		return nil, err
	}
	for i := range files {
		p.Files = append(p.Files, files[i].name)
		files[i].name = path.Join(o.Folder, files[i].name)
	}
	write := writeTarGz
	if o.Format == Zip {
		write = writeZip
	}
	if p.Data, err = write(files); err != nil {
		return nil, err
	}
	p.Digest = digest(p.Data)
	return p, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// signature is the file that signs a skill with all its files.
const signature = "skill.oms.sig"

// read returns the files to pack, sorted, and sets Excluded.
func (p *Packed) read(ctx context.Context, fsys fs.FS) ([]file, error) {
	_, err := fs.Stat(fsys, signature)
	signed := err == nil
	names, left := unpack.NewNames(&unpack.Options{MaxFiles: MaxFiles}), int64(MaxBytes)
	var files []file
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || ctx.Err() != nil || name == ".":
			return errors.Join(err, ctx.Err())
		case content.Unshared(fsys, name) != "", name == "evals" && d.IsDir() && !signed:
			if d.IsDir() {
				p.Excluded = append(p.Excluded, name+"/")
				return fs.SkipDir
			}
			p.Excluded = append(p.Excluded, name)
			return nil
		}
		if err := names.Add(name, d.IsDir()); err != nil || d.IsDir() {
			return err
		}
		data, err := readFile(fsys, name, d, left)
		left -= int64(len(data))
		files = append(files, file{name, data})
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(p.Excluded)
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	if !slices.ContainsFunc(files, func(f file) bool { return f.name == "SKILL.md" }) {
		return nil, errors.New("there is no SKILL.md")
	}
	return files, nil
}

// readFile reads a regular file of at most a number of bytes.
func readFile(fsys fs.FS, name string, d fs.DirEntry, most int64) ([]byte, error) {
	if !d.Type().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file: replace a link by a copy", name)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%q: the files have more than %d bytes together", name, MaxBytes)
	}
	return data, err
}

// writeTarGz returns files as a tar archive that is compressed by gzip.
func writeTarGz(files []file) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.data)), Mode: f.mode(), ModTime: time.Unix(0, 0)}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return gzip(b.Bytes()), nil
}

// Fields of the files of a zip archive.
const (
	madeOnUnix  = 3<<8 | 20 // version 2.0
	regular     = 0o100000  // of a mode of Unix
	utf8Names   = 1 << 11   // flag
	firstOfYear = 1<<5 | 1  // 1980-01-01, the first date there is
)

// writeZip returns files as a zip archive.
func writeZip(files []file) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		data := deflate(f.data)
		//lint:ignore SA1019 CreateRaw writes ModifiedDate and not Modified, which would add a field
		to, err := w.CreateRaw(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Flags: utf8Names, CreatorVersion: madeOnUnix, ReaderVersion: 20, ModifiedDate: firstOfYear,
			ExternalAttrs: uint32(regular|f.mode()) << 16, CRC32: crc32.ChecksumIEEE(f.data), CompressedSize64: uint64(len(data)), UncompressedSize64: uint64(len(f.data))})
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
