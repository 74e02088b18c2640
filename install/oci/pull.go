package oci

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/unpack"
)

// latest is the tag of a reference that has none.
const latest = "latest"

// Fetch gets the skills of an artifact. Without a tag or a digest it gets the tag "latest".
//
// Origin.Commit is the digest of the manifest. Origin.Pinned is set only for a digest: a tag can be moved, and authors do it.
// The error wraps ErrNotFound if the artifact is not there.
func (c *Client) Fetch(ctx context.Context, r *install.Request) (*install.Snapshot, error) {
	if r.Source.Kind != source.OCI {
		return nil, fmt.Errorf("oci: %v is not a kind of source that is in a registry", r.Source.Kind)
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.timeout)
	defer cancel()
	repo, err := c.connect(r.Source.URL)
	if err != nil {
		return nil, fmt.Errorf("oci: %w", err)
	}
	defer repo.close()
	snapshot, err := c.fetch(ctx, repo, r)
	if err != nil {
		return nil, fmt.Errorf("oci://%s: %w", r.Source.URL, repo.explain(err))
	}
	return snapshot, nil
}

func (c *Client) fetch(ctx context.Context, repo *connection, r *install.Request) (*install.Snapshot, error) {
	want := cmp.Or(r.Source.Want, latest)
	top, err := getManifest(ctx, repo, want)
	if err != nil {
		return nil, notFound(ctx, repo, want, err)
	}
	snapshot := &install.Snapshot{Origin: origin(r, top), Close: func() error { return nil }}
	if r.Known == snapshot.Origin.Commit {
		return snapshot, nil
	}
	all := []*manifest{top}
	if top.isIndex() {
		if all, err = getMembers(ctx, repo, top); err != nil {
			return nil, err
		}
	}
	dir := filepath.Join(r.Dir, "files")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	p := &puller{repo: repo, dir: r.Dir, report: r.Progress, idle: c.o.idle}
	if err := p.pull(ctx, all, unpack.NewWriter(root, &c.limits)); err != nil {
		root.Close()
		return nil, err
	}
	snapshot.FS, snapshot.Close = root.FS(), root.Close
	return snapshot, nil
}

func origin(r *install.Request, m *manifest) install.Origin {
	o := install.Origin{Source: r.Source, URL: "oci://" + r.Source.URL, Commit: m.digest.String()}
	if o.Pinned = r.Source.Want == o.Commit; !o.Pinned {
		o.Tag = cmp.Or(r.Source.Want, latest)
	}
	return o
}

// notFound adds to an error which tags there are.
func notFound(ctx context.Context, repo *connection, want string, err error) error {
	if !errors.Is(explain(err), ErrNotFound) {
		return err
	}
	const most = 10
	var tags []string
	stop := errors.New("enough")
	_ = repo.Tags(ctx, "", func(page []string) error { // without them the error is still right
		tags = append(tags, page[:min(len(page), most)]...)
		return stop
	})
	if len(tags) == 0 {
		return fmt.Errorf("%w: %s", ErrNotFound, want)
	}
	for i, tag := range tags {
		tags[i] = clip(tag)
	}
	return fmt.Errorf("%w: %s; tags are %q", ErrNotFound, want, tags)
}

// getMembers gets the manifests of an index. An index in an index is refused.
func getMembers(ctx context.Context, repo *connection, index *manifest) ([]*manifest, error) {
	members, err := index.members()
	if err != nil {
		return nil, err
	}
	var all []*manifest
	for _, d := range members {
		m, err := getManifest(ctx, repo, d.Digest.String())
		if err != nil {
			return nil, err
		}
		if m.isIndex() {
			return nil, fmt.Errorf("%w: it is a collection in a collection", errNotSkill)
		}
		all = append(all, m)
	}
	return all, nil
}

// puller downloads and unpacks layers.
type puller struct {
	repo   *connection
	dir    string // private folder for one layer at a time
	report func(install.Progress)
	idle   time.Duration
	timer  *time.Timer // ends the download that goes on
	done   int64       // bytes
	total  int64
}

// pull writes the files of all artifacts. The caller removes them if it fails.
func (p *puller) pull(ctx context.Context, all []*manifest, w *unpack.Writer) error {
	var layers []ocispec.Descriptor
	for _, m := range all {
		content, err := m.content()
		if err != nil {
			return err
		}
		layers = slices.Concat(layers, content)
	}
	for _, l := range layers {
		if p.total += l.Size; p.total > maxDownload {
			return fmt.Errorf("%w: its layers have more than %d bytes", errNotSkill, int64(maxDownload))
		}
	}
	for _, l := range layers {
		if err := p.layer(ctx, l, w); err != nil {
			return err
		}
	}
	return w.Close()
}

// layer downloads a layer, compares it with its digest, and only then unpacks it.
func (p *puller) layer(ctx context.Context, l ocispec.Descriptor, w *unpack.Writer) error {
	name := filepath.Join(p.dir, "layer")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(name)
	defer f.Close()
	if err := p.download(ctx, l, f); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if isTar(l.MediaType) {
		return unpack.Tar(ctx, f, w)
	}
	return unpack.TarGz(ctx, f, w)
}

func (p *puller) download(ctx context.Context, l ocispec.Descriptor, to io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.timer = time.AfterFunc(p.idle, func() { cancel(fmt.Errorf("nothing has come for %v", p.idle)) })
	defer p.timer.Stop()
	err := p.get(ctx, l, to)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// get writes a layer to a file, and compares it with its digest.
func (p *puller) get(ctx context.Context, l ocispec.Descriptor, to io.Writer) error {
	body, err := p.repo.Blobs().Fetch(ctx, l)
	if err != nil {
		return err
	}
	defer body.Close()
	hash := digest.SHA256.Digester()
	n, err := io.Copy(io.MultiWriter(to, hash.Hash(), p), io.LimitReader(body, l.Size+1))
	if err != nil {
		return err
	}
	if n != l.Size || hash.Digest() != l.Digest {
		return fmt.Errorf("%w: %d bytes with the digest %s came for layer %s of %d bytes", ErrDigest, n, hash.Digest(), l.Digest, l.Size)
	}
	return nil
}

// Write reports the progress.
func (p *puller) Write(b []byte) (int, error) {
	p.timer.Reset(p.idle)
	p.done += int64(len(b))
	if p.report != nil {
		p.report(install.Progress{Step: "downloading", Done: p.done, Total: p.total, Unit: "bytes"})
	}
	return len(b), nil
}
