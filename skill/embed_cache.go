package skill

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/agent-base/agent-base/internal/dirhash"
)

// materialise returns a folder with the files of fsys: cache/<digest>/<name>. The folder is
// written completely under another name and then renamed, so that two processes do not see
// each other's half; what is there is used only if its digest is right, and replaced otherwise.
func materialise(ctx context.Context, fsys fs.FS, cache, name string) (string, error) {
	want, err := dirhash.Dir(ctx, fsys, nil)
	if err != nil {
		return "", err
	}
	parent := cache + string(os.PathSeparator) + strings.ReplaceAll(want.Digest, ":", "-")
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(parent)
	if err != nil {
		return "", err
	}
	defer root.Close()
	dir := parent + string(os.PathSeparator) + name
	if intact(ctx, root, name, want.Digest) {
		return dir, nil
	}
	temp := ".new-" + rand.Text()
	defer remove(root, temp)
	if err := copyFiles(fsys, want.Files, root, temp); err != nil {
		return "", err
	}
	if root.Rename(temp, name) == nil {
		return dir, nil
	}
	// Another process was faster, or something damaged lies there.
	if intact(ctx, root, name, want.Digest) {
		return dir, nil
	}
	old := ".old-" + rand.Text()
	defer remove(root, old)
	if err := root.Rename(name, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := root.Rename(temp, name); err != nil && !intact(ctx, root, name, want.Digest) {
		return "", fmt.Errorf("skill %q cannot be put into the cache: %w", name, err)
	}
	return dir, nil
}

// intact reports whether the folder is there with exactly the content of the digest.
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
	return err == nil && got.Digest == digest
}

// copyFiles writes the files read-only below dir, and then takes the right to write from the
// folders.
func copyFiles(fsys fs.FS, files []dirhash.File, root *os.Root, dir string) error {
	folders := map[string]bool{dir: true}
	if err := root.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for _, f := range files {
		if f.Link {
			return fmt.Errorf("%q is a symbolic link, which is not put into the cache", f.Path)
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

func copyFile(fsys fs.FS, f dirhash.File, root *os.Root, to string) error {
	data, err := fs.ReadFile(fsys, f.Path)
	if err != nil {
		return err
	}
	out, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Close())
}

// remove deletes a folder that was made read-only. What cannot be deleted stays: it is not used.
func remove(root *os.Root, name string) {
	fs.WalkDir(root.FS(), name, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			root.Chmod(p, 0o700)
		}
		return nil
	})
	root.RemoveAll(name)
}
