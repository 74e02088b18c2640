package nodeenv

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	parallel  = 8 // downloads at a time
	tries     = 3 // of one download
	redirects = 5
)

// fetched is the verified file of each item, by integrity.
type fetched map[string]string

// fetcher downloads the files of a plan to a folder.
type fetcher struct {
	from   *registries
	client *http.Client
	dir    string
	limit  atomic.Int64 // bytes of all files together
	bytes  atomic.Int64 // fetched
	ask    func(context.Context, Download) (bool, error)
	report func(bytes int64) // called again and again

	mu      sync.Mutex // held while it is asked
	sizes   map[string]int64
	sum     int64
	allowed bool
}

// newFetcher returns a fetcher. may reports whether a registry may send to a host.
func newFetcher(from *registries, transport http.RoundTripper, dir string, limit int64, may func(host string) bool) *fetcher {
	client := &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > redirects || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
			return errors.New("the registry redirects too often, or to http")
		}
		if !may(req.URL.Host) {
			return &HostError{Hosts: []string{req.URL.Host}}
		}
		return nil
	}}
	f := &fetcher{from: from, client: client, dir: dir, sizes: map[string]int64{}}
	f.limit.Store(limit)
	return f
}

// unpacking is how much larger packages become when they are unpacked, at most, of those that a person allowed.
const unpacking = 8

// declare counts a package whose size the registry gave. When all of them become a large download, it asks.
func (f *fetcher) declare(ctx context.Context, it *item, bytes int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id := it.Name + "@" + it.Version; f.sizes[id] == 0 && bytes > 0 {
		f.sizes[id] = bytes
		f.sum += bytes
	}
	if f.sum <= LargeDownload {
		return nil
	}
	if !f.allowed && f.ask != nil && ctx.Err() == nil {
		names := sortedKeys(f.sizes)
		slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(f.sizes[b], f.sizes[a]) })
		var err error
		if f.allowed, err = f.ask(ctx, Download{Packages: names, Bytes: f.sum}); err != nil {
			return err
		}
	}
	if !f.allowed {
		return fmt.Errorf("%w: %d MB and perhaps more", ErrLargeDownload, f.sum/1_000_000)
	}
	f.limit.Store(max(f.limit.Load(), unpacking*f.sum))
	return nil
}

// all downloads the file of each item once and checks it. It returns the first error.
func (f *fetcher) all(ctx context.Context, p plan) (fetched, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer f.client.CloseIdleConnections()
	out := fetched{}
	var work sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for i := range p {
		it := &p[i]
		if out[it.Integrity] != "" {
			continue
		}
		address, err := f.from.address(it)
		if err != nil {
			cancel(err)
			break
		}
		file := filepath.Join(f.dir, strconv.Itoa(i)+".tgz")
		out[it.Integrity] = file
		work.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := f.one(ctx, it, address, file); err != nil {
				cancel(err)
			}
		})
	}
	work.Wait()
	return out, context.Cause(ctx)
}

// one downloads the file of an item. It tries again what may pass.
func (f *fetcher) one(ctx context.Context, it *item, address, file string) (err error) {
	for try := range tries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if try > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(try) * time.Second):
			}
		}
		var again bool
		if again, err = f.once(ctx, it, address, file); err == nil || !again {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("%s@%s: %w", it.Name, it.Version, err)
	}
	return nil
}

// once downloads a file and compares its checksum. It reports whether it may work another time.
func (f *fetcher) once(ctx context.Context, it *item, address, file string) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("Accept-Encoding", "identity") // the sum is of the file as it is
	f.from.authorise(req)
	res, err := f.client.Do(req)
	if errors.As(err, new(*tls.CertificateVerificationError)) {
		return false, fmt.Errorf("%w: %w", err, ErrCertificate)
	}
	if err != nil {
		return !errors.As(err, new(*HostError)), err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests,
			fmt.Errorf("the registry answers %d for %s", res.StatusCode, req.URL.Redacted())
	}
	if err := f.declare(ctx, it, res.ContentLength); err != nil {
		return false, err
	}
	want, err := strongest(it.Integrity)
	if err != nil {
		return false, err
	}
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return false, err
	}
	h := map[string]func() hash.Hash{"sha512": sha512.New, "sha384": sha512.New384, "sha256": sha256.New}[want.algorithm]()
	_, err = io.Copy(io.MultiWriter(out, h), &counted{res.Body, f})
	if err = errors.Join(err, out.Close()); err != nil {
		return !errors.Is(err, ErrTooLarge), err
	}
	if subtle.ConstantTimeCompare(h.Sum(nil), want.sum) != 1 {
		return false, fmt.Errorf("the file of the registry is not the one of the lock: its %s differs", want.algorithm)
	}
	return false, nil
}

// reported is how many bytes lie between two reports.
const reported = 10_000_000

// counted counts what is read, and ends a download that is too large.
type counted struct {
	io.Reader
	f *fetcher
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	sum := c.f.bytes.Add(int64(n))
	if sum/reported > (sum-int64(n))/reported {
		c.f.report(sum / reported * reported)
	}
	if limit := c.f.limit.Load(); sum > limit {
		return n, fmt.Errorf("%w: more than %d bytes to download", ErrTooLarge, limit)
	}
	return n, err
}
