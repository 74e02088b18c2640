package skill

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/dirhash"
)

// copies says where copies of skills are kept.
type copies struct {
	dir    string // absolute
	digits int    // of the digest in a folder's name; 0 means the kind of the digest and all digits
}

// shortDigits is used for skills that the program itself brings: an attacker cannot choose their content to match
// another folder. Models read these paths, and each digit costs tokens.
const shortDigits = 12

// folder returns the folder of a content.
func (c copies) folder(digest string) string {
	if c.digits > 0 {
		return strings.TrimPrefix(digest, dirhash.Prefix)[:c.digits]
	}
	return strings.ReplaceAll(digest, ":", "-")
}

// materialise returns a folder with the files of fsys that sum lists, cache/<digest>/<name>. It writes the folder under
// another name and renames it when it is complete, so no other process sees half of it. It uses an existing folder only if
// its digest is right, and replaces it otherwise. It hashes each file while it copies it: a file that is not what sum says
// is an error.
func materialise(ctx context.Context, fsys fs.FS, sum *dirhash.Sum, cache copies, name string) (dir string, err error) {
	if !filepath.IsAbs(cache.dir) {
		return "", fmt.Errorf("cache folder %q of skill %q is not absolute, nothing is written there", cache.dir, name)
	}
	parent := cache.dir + string(os.PathSeparator) + cache.folder(sum.Digest) + modes(fsys, sum.Files)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(parent)
	if err != nil {
		return "", err
	}
	defer root.Close()
	dir = parent + string(os.PathSeparator) + name
	if intact(ctx, root, name, sum.Digest) {
		return dir, nil
	}
	temp := ".new-" + rand.Text()
	defer remove(root, temp)
	if err := root.Mkdir(temp, 0o700); err != nil {
		return "", err
	}
	if err := copyFiles(ctx, fsys, sum.Files, below{root, temp}); err != nil {
		return "", err
	}
	if root.Rename(temp, name) == nil {
		return dir, nil
	}
	// Another process was faster, or the existing folder is damaged.
	if intact(ctx, root, name, sum.Digest) {
		return dir, nil
	}
	old := ".old-" + rand.Text()
	defer remove(root, old)
	if err := root.Rename(name, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := root.Rename(temp, name); err != nil && !intact(ctx, root, name, sum.Digest) {
		return "", fmt.Errorf("skill %q cannot be put into the cache: %w", name, err)
	}
	return dir, nil
}

// modes distinguishes contents with the same digest and different executable files. It returns "" if no file is
// executable but those whose content says so.
func modes(fsys fs.FS, files []dirhash.File) string {
	h := sha256.New()
	any := false
	for _, f := range files {
		if !f.Starts && isExecutable(fsys, f) {
			any = true
			fmt.Fprintf(h, "%d:%s;", len(f.Path), f.Path)
		}
	}
	if !any {
		return ""
	}
	return fmt.Sprintf("-x%x", h.Sum(nil)[:4])
}

func isExecutable(fsys fs.FS, f dirhash.File) bool {
	if f.Link {
		return false
	}
	info, err := fs.Stat(fsys, f.Path)
	return err == nil && info.Mode()&0o111 != 0
}

// intact reports whether the folder exists and has exactly the content of the digest, without leftovers that an interpreter might
// load.
func intact(ctx context.Context, root *os.Root, name, digest string) bool {
	if info, err := root.Lstat(name); err != nil || !info.IsDir() {
		return false
	}
	sub, err := root.OpenRoot(name)
	if err != nil {
		return false
	}
	defer sub.Close()
	got, err := dirhash.Dir(ctx, sub.FS(), nil)
	return err == nil && got.Digest == digest && got.Left == 0
}

// below is a folder below a root.
type below struct {
	root *os.Root
	dir  string
}

// copyFiles writes the files to a folder, and then makes the folders read-only. The files have the modes of a checkout: what a
// script copies from its skill, a template for one, it can then change.
func copyFiles(ctx context.Context, fsys fs.FS, files []dirhash.File, place below) error {
	root, dir := place.root, place.dir
	folders := map[string]bool{dir: true}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := path.Join(dir, f.Path)
		for p := path.Dir(to); !folders[p]; p = path.Dir(p) {
			folders[p] = true
		}
		if err := root.MkdirAll(path.Dir(to), 0o700); err != nil {
			return err
		}
		if err := copyFile(fsys, f, root, to); err != nil {
			return err
		}
	}
	for p := range folders {
		if err := root.Chmod(p, 0o500); err != nil {
			return err
		}
	}
	return nil
}

// copyFile writes one file or link. It fails if the content is not what was hashed.
func copyFile(fsys fs.FS, f dirhash.File, root *os.Root, to string) error {
	h := sha256.New()
	if f.Link {
		text, err := fs.ReadLink(fsys, f.Path)
		if err != nil {
			return err
		}
		io.WriteString(h, text)
		if err := unchanged(f, h); err != nil {
			return err
		}
		return root.Symlink(text, to)
	}
	in, err := fsys.Open(f.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	from := bufio.NewReader(in)
	begins, _ := from.Peek(2) // an error comes again
	mode := fs.FileMode(0o644)
	if string(begins) == "#!" || isExecutable(fsys, f) {
		mode = 0o755
	}
	out, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.MultiWriter(out, h), io.LimitReader(from, f.Size+1))
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return unchanged(f, h)
}

func unchanged(f dirhash.File, h hash.Hash) error {
	if hex.EncodeToString(h.Sum(nil)) != f.SHA256 {
		return fmt.Errorf("%q was changed while it was copied", f.Path)
	}
	return nil
}

// remove deletes a folder that was made read-only. Files that cannot be deleted stay; they are not used.
func remove(root *os.Root, name string) {
	fs.WalkDir(root.FS(), name, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			root.Chmod(p, 0o700)
		}
		return nil
	})
	root.RemoveAll(name)
}
