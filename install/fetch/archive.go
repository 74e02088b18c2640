package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/internal/unpack"
)

// maxLocal is the size of the largest archive of this machine that is read, in bytes.
const maxLocal = 256 << 20

// Archive returns a Fetcher for .tar.gz, .zip and .skill archives of this machine and of https URLs. What an archive is is decided
// by its content. The Snapshot has what is in it, whether or not that lies in one folder, with copies in place of symbolic links to
// files of the archive, and without other links. Its Origin.Commit is the digest of the archive. If Source.Want is a digest, the
// archive must have it.
//
// An archive of this machine may have 256 MiB and unpack to the usual limits; o limits those from the network. o may
// be nil. An error is about o.Private.
func Archive(o *HTTPOptions) (install.Fetcher, error) {
	d, err := newDownloader(o)
	if err != nil {
		return nil, err
	}
	return install.FetcherFunc(d.fetchArchive), nil
}

func (d *downloader) fetchArchive(ctx context.Context, r *install.Request) (_ *install.Snapshot, err error) {
	defer d.http.CloseIdleConnections()
	file, err := os.OpenFile(filepath.Join(r.Dir, "archive"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	origin := install.Origin{Source: r.Source, URL: r.Source.URL}
	limits := unpack.Options{}
	if filepath.IsAbs(r.Source.URL) {
		if origin.Commit, err = copyLocal(ctx, r.Source.URL, file); err != nil {
			return nil, err
		}
	} else {
		got, err := d.get(ctx, r.Source.URL, maxDownload, file, r.Progress)
		if err != nil {
			return nil, err
		}
		origin.URL, origin.Commit, limits = clean(got.url), got.digest, unpacked()
	}
	if want := r.Source.Want; want != "" {
		origin.Pinned = true
		if want != origin.Commit {
			return nil, fmt.Errorf("the archive has the digest %s, and not %s", origin.Commit, want)
		}
	}
	s := &install.Snapshot{Origin: origin, Close: func() error { return nil }}
	if r.Known == origin.Commit {
		return s, nil
	}
	root, links, err := unpackFile(ctx, file, filepath.Join(r.Dir, "files"), limits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", origin.URL, err)
	}
	s.FS, s.Close = root.FS(), root.Close
	s.LeftOut = func() []string { return links }
	return s, nil
}

// copyLocal copies an archive of this machine, so what is read is what the digest is of. It returns the digest.
func copyLocal(ctx context.Context, from string, to io.Writer) (string, error) {
	info, err := os.Stat(from) // before it is opened: opening a pipe would wait
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%q is not a regular file", from)
	}
	f, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, sum), io.LimitReader(f, maxLocal+1))
	if err != nil {
		return "", err
	}
	if n > maxLocal {
		return "", fmt.Errorf("%q has more than the %d bytes that are allowed", from, maxLocal)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), ctx.Err()
}

// unpackFile unpacks an archive into a new folder, which it opens. It says which links it left out.
func unpackFile(ctx context.Context, file *os.File, dir string, limits unpack.Options) (_ *os.Root, leftOut []string, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	root, err := openNew(dir)
	if err != nil {
		return nil, nil, err
	}
	limits.Volatile = true // the store flushes its own copy
	limits.FollowLinks = true
	w := unpack.NewWriter(root, &limits)
	if err := w.End(unpack.Archive(ctx, file, info.Size(), w)); err != nil {
		return nil, nil, errors.Join(err, root.Close())
	}
	return root, w.LeftOut(), nil
}
