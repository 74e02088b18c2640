package lock

import (
	"bytes"
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
func Hash(ctx context.Context, fsys fs.FS) (string, error) { return hash(ctx, fsys, false) }

// HashWindows returns what Hash returns for the folder as git for Windows writes it, unless a repository or its user says otherwise: text
// files without any CR have CR LF in place of each LF. What is text is decided as git does. A lock file that was made there has it.
func HashWindows(ctx context.Context, fsys fs.FS) (string, error) { return hash(ctx, fsys, true) }

func hash(ctx context.Context, fsys fs.FS, windows bool) (string, error) {
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
		n, err := hashFile(ctx, h, fsys, name, left, windows)
		if err != nil {
			return "", err
		}
		left -= n
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func hashFile(ctx context.Context, to io.Writer, fsys fs.FS, name string, limit int64, windows bool) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var n int64
	if from := io.LimitReader(f, limit+1); windows {
		n, err = copyWindows(to, from)
	} else {
		n, err = io.Copy(to, from)
	}
	if err == nil && n > limit {
		err = fmt.Errorf("files exceed %d bytes in total (at %q)", dirhash.DefaultMaxBytes, name)
	}
	return n, err
}

// copyWindows copies a file as git for Windows writes it. It returns how many bytes it read.
func copyWindows(to io.Writer, from io.Reader) (int64, error) {
	text, err := io.ReadAll(from)
	if err != nil {
		return 0, err
	}
	n := int64(len(text))
	if isText(text) {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	_, err = to.Write(text)
	return n, err
}

// isText reports whether git takes a content for text to which a CR can be added: it has none, no NUL, and few other control characters.
func isText(b []byte) bool {
	if bytes.ContainsAny(b, "\r\x00") {
		return false
	}
	printable, other := 0, 0
	for i, c := range b {
		switch {
		case c == '\n':
		case c == '\b', c == '\t', c == '\f', c == 0x1b, c >= ' ' && c != 0x7f, c == 0x1a && i == len(b)-1:
			printable++
		default:
			other++
		}
	}
	return printable>>7 >= other
}
