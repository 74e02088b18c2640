package lock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/agent-base/agent-base/internal/dirhash"
)

// Hash returns the hash of a skill's folder as lock files have it: the SHA-256, in hexadecimal digits, of the path and the
// content of each regular file, one after the other, in the order of JavaScript's localeCompare. Folders called .git and
// node_modules are left out at any depth. It reads at most as much as the digest of a skill covers.
//
// The hash is for other programs: it does not separate a path from a content, so two folders can have the same hash. What a
// skill is, its digest says.
func Hash(ctx context.Context, fsys fs.FS) (string, error) {
	var names []string
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.Type().IsRegular():
			names = append(names, p)
		}
		if len(names) > dirhash.DefaultMaxFiles {
			return fmt.Errorf("more than %d files", dirhash.DefaultMaxFiles)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	order := collate.New(language.Und)
	slices.SortStableFunc(names, order.CompareString)
	h := sha256.New()
	left := int64(dirhash.DefaultMaxBytes)
	for _, name := range names {
		io.WriteString(h, strings.ReplaceAll(name, `\`, "/"))
		n, err := hashFile(ctx, h, fsys, name, left)
		if err != nil {
			return "", err
		}
		left -= n
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func hashFile(ctx context.Context, to io.Writer, fsys fs.FS, name string, limit int64) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := io.Copy(to, io.LimitReader(f, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("files exceed %d bytes in total (at %q)", dirhash.DefaultMaxBytes, name)
	}
	return n, err
}
