package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/internal/unpack"
)

// Limits of the attempts of one download.
const (
	attempts   = 3
	firstPause = time.Second // before the second attempt; then twice as long
	maxPause   = 20 * time.Second
	minMove    = 1 << 10   // bytes that must come within HTTPOptions.idle
	lessIdle   = 3         // a server that was silent gets a third of the time at the next attempts
	reported   = 256 << 10 // bytes between two reports of progress
)

// unpacked returns the limits of what an archive from the network unpacks to.
func unpacked() unpack.Options { return unpack.Options{MaxFiles: 1000, MaxBytes: 64 << 20} }

// statusError is an answer other than 200 OK.
type statusError struct {
	URL  string // without its query
	Code int    // such as 404

	pause time.Duration // that the server asks for
}

// Error says what the server answered.
func (e *statusError) Error() string {
	switch e.Code {
	case http.StatusNotFound, http.StatusGone:
		return fmt.Sprintf("%s does not exist (%d)", e.URL, e.Code)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("%s requires authentication, which is not sent (%d)", e.URL, e.Code)
	}
	return fmt.Sprintf("the server answers %d %s for %s", e.Code, http.StatusText(e.Code), e.URL)
}

// Is reports whether the target is install.ErrNoPlace and the answer says that there is nothing.
func (e *statusError) Is(target error) bool {
	return target == install.ErrNoPlace && (e.Code == http.StatusNotFound || e.Code == http.StatusGone)
}

// ErrNetwork means that a server could not be reached, was silent, or answered that it cannot answer now, at each attempt.
var ErrNetwork = errors.New("the network failed")

// alsoError is an error that is one of the errors of this package or of install, too.
type alsoError struct{ err, kind error }

func (e alsoError) Error() string   { return e.err.Error() }
func (e alsoError) Unwrap() []error { return []error{e.err, e.kind} }

// downloader gets files by a careful client.
type downloader struct {
	http *http.Client
	o    HTTPOptions
}

// newDownloader returns a downloader with defaults for what o does not say. o may be nil.
func newDownloader(o *HTTPOptions) (*downloader, error) {
	client, err := Client(o)
	if err != nil {
		return nil, err
	}
	d := &downloader{http: client}
	if o != nil {
		d.o = *o
	}
	d.o.maxTime = cmp.Or(d.o.maxTime, defaultMaxTime)
	d.o.idle = cmp.Or(d.o.idle, defaultIdle)
	if d.o.sleep == nil {
		d.o.sleep = sleep
	}
	return d, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// answer says what was downloaded.
type answer struct {
	url    *url.URL // after redirects
	kind   string   // the Content-Type
	digest string   // "sha256:" and 64 hexadecimal digits, of the bytes
}

// sink is where a download goes. Each attempt begins with an empty one.
type sink interface {
	io.Writer
	Truncate(size int64) error
	Seek(offset int64, whence int) (int64, error)
}

// get downloads a file of at most limit bytes. It tries three times where another attempt may help: after a timeout, a broken
// connection, and an answer that says so. progress may be nil.
func (d *downloader) get(ctx context.Context, address string, limit int64, to sink, progress func(install.Progress)) (*answer, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%.200q is not a URL", address)
	}
	if err := checkURL(u); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, d.o.maxTime, fmt.Errorf("%s: the download takes more than %v", clean(u), d.o.maxTime))
	defer cancel()
	w := &wish{limit, to, d.o.idle, progress}
	pause := firstPause
	for try := 1; ; try++ {
		a, err := d.once(ctx, u, w)
		if err == nil {
			return a, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !mayPass(err) {
			return nil, err
		}
		if try == attempts {
			return nil, alsoError{fmt.Errorf("%w (%d attempts)", err, attempts), ErrNetwork}
		}
		var status *statusError
		if errors.As(err, &status) {
			pause = min(max(pause, status.pause), maxPause)
		}
		if progress != nil {
			progress(install.Progress{Step: fmt.Sprintf("fetching %s: the network failed, attempt %d of %d", clean(u), try+1, attempts)})
		}
		if d.o.sleep(ctx, pause) != nil {
			return nil, context.Cause(ctx)
		}
		pause *= 2
		w.idle = d.o.idle / lessIdle
	}
}

// wish says what one attempt gets.
type wish struct {
	limit    int64 // bytes
	to       sink
	idle     time.Duration
	progress func(install.Progress) // may be nil
}

// once is one attempt.
func (d *downloader) once(ctx context.Context, u *url.URL, w *wish) (*answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(w.idle, func() { cancel(fmt.Errorf("%s: no answer within %v", clean(u), w.idle)) })
	defer silent.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, refusal{err}
	}
	req.Header.Set("Accept-Encoding", "identity") // digests are of the bytes as they are
	req.Header.Set("User-Agent", "agent-base")
	res, err := d.http.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, plain(err, u)
	}
	defer res.Body.Close()
	final := res.Request.URL
	if res.StatusCode != http.StatusOK {
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return nil, &statusError{URL: clean(final), Code: res.StatusCode, pause: time.Duration(min(max(seconds, 0), 3600)) * time.Second}
	}
	tooLarge := refusal{fmt.Errorf("%s has more than the %d bytes that are allowed", clean(final), w.limit)}
	if res.ContentLength > w.limit {
		return nil, tooLarge
	}
	if err := rewind(w.to); err != nil {
		return nil, refusal{err}
	}
	silent.Stop()
	body := &moving{Reader: res.Body, idle: w.idle, report: w.progress, total: max(res.ContentLength, 0)}
	body.timer = time.AfterFunc(w.idle, func() { cancel(fmt.Errorf("%s: less than %d bytes came in %v", clean(final), minMove, w.idle)) })
	defer body.timer.Stop()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(local{w.to}, sum), io.LimitReader(body, w.limit+1))
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, plain(err, final)
	case n > w.limit:
		return nil, tooLarge
	}
	return &answer{url: final, kind: res.Header.Get("Content-Type"), digest: "sha256:" + hex.EncodeToString(sum.Sum(nil))}, nil
}

func rewind(to sink) error {
	_, err := to.Seek(0, io.SeekStart)
	return errors.Join(err, to.Truncate(0))
}

// local marks the errors of a sink, which another attempt does not change.
type local struct{ io.Writer }

func (l local) Write(b []byte) (int, error) {
	n, err := l.Writer.Write(b)
	if err != nil {
		err = refusal{err}
	}
	return n, err
}

// plain returns an error of net/http without the URL, which may have a secret in its query.
func plain(err error, u *url.URL) error {
	var wrapped *url.Error
	for errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the connection ended too early: %w", err)
	}
	return fmt.Errorf("%s: %w", clean(u), err)
}

// mayPass reports whether another attempt may help.
func mayPass(err error) bool {
	var status *statusError
	var name *net.DNSError
	switch {
	case errors.As(err, &status):
		return status.Code >= 500 || status.Code == http.StatusTooManyRequests || status.Code == http.StatusRequestTimeout
	case errors.As(err, &name):
		return !name.IsNotFound
	}
	return !errors.As(err, new(refusal)) && !errors.As(err, new(*tls.CertificateVerificationError))
}

// moving ends a download that does not move, and reports how far it is.
type moving struct {
	io.Reader
	timer  *time.Timer
	idle   time.Duration
	moved  int64 // bytes since the timer was set
	report func(install.Progress)
	done   int64
	total  int64
}

// Read reads the body of an answer.
func (m *moving) Read(b []byte) (int, error) {
	n, err := m.Reader.Read(b)
	if m.moved += int64(n); m.moved >= minMove && m.timer.Stop() {
		m.timer.Reset(m.idle)
		m.moved = 0
	}
	before := m.done
	if m.done += int64(n); m.report != nil && (m.done/reported > before/reported || errors.Is(err, io.EOF)) {
		m.report(install.Progress{Step: "downloading", Done: m.done, Total: m.total, Unit: "bytes"})
	}
	return n, err
}
