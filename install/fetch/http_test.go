package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-base/agent-base/install"
)

// serve starts a TLS server and returns it with options by which it may be reached.
func serve(t testing.TB, h http.HandlerFunc) (*httptest.Server, *HTTPOptions) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, &HTTPOptions{RootCAs: roots, Private: []string{s.Listener.Addr().String()}, idle: 5 * time.Second, sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

// get downloads at most 1,000 bytes.
func get(t testing.TB, o *HTTPOptions, address string) (string, *answer, error) {
	t.Helper()
	d, err := newDownloader(o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.http.CloseIdleConnections()
	var text memory
	a, err := d.get(t.Context(), address, 1000, &text, nil)
	return text.String(), a, err
}

func TestGet(t *testing.T) {
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new?secret=1", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "content")
	})
	text, a, err := get(t, o, s.URL+"/old")
	if err != nil || text != "content" || a.url.Path != "/new" || a.kind != "text/plain" ||
		a.digest != "sha256:ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73" {
		t.Errorf("%q, %+v, %v", text, a, err)
	}
}

// security 2.8 #124
func TestRedirects(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("plain HTTP was asked") }))
	defer plain.Close()
	other, _ := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("another server of this machine was asked") })
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/times/%d", &n); err == nil {
			if n == 0 {
				return
			}
			http.Redirect(w, r, fmt.Sprintf("/times/%d", n-1), http.StatusFound)
			return
		}
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(http.StatusFound)
	})
	for to, want := range map[string]string{
		plain.URL:                            "only https",
		"file:///etc/passwd":                 "only https",
		"ftp://example.com/":                 "only https",
		other.URL:                            ErrPrivate.Error(),
		"https://169.254.169.254/latest":     ErrPrivate.Error(),
		"https://[::1]/":                     ErrPrivate.Error(),
		"https://[::ffff:127.0.0.1]/":        ErrPrivate.Error(),
		"https://localhost/":                 ErrPrivate.Error(),
		"https://127.1/":                     "host",
		"https://2130706433/":                "host",
		"https://user:secret@example.com/":   "user name",
		strings.Replace(s.URL, "s:", ":", 1): "only https",
	} {
		_, _, err := get(t, o, s.URL+"/?to="+url.QueryEscape(to))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "attempts") {
			t.Errorf("to %s: %v, want %s", to, err, want)
		}
	}
	if _, _, err := get(t, o, s.URL+"/times/5"); err != nil {
		t.Errorf("5 redirects: %v", err)
	}
	for _, n := range []int{6, 50} {
		if _, _, err := get(t, o, fmt.Sprintf("%s/times/%d", s.URL, n)); err == nil || !strings.Contains(err.Error(), "more than 5 redirects") {
			t.Errorf("%d redirects: %v", n, err)
		}
	}
}

// Credentials and the address of the page do not follow a redirect to another host. security 2.8 #124
func TestRedirectLosesCredentials(t *testing.T) {
	var seen http.Header
	other, o2 := serve(t, func(_ http.ResponseWriter, r *http.Request) { seen = r.Header })
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "example.com", 1), http.StatusFound)
	})
	o.RootCAs.AddCert(other.Certificate())
	o.Private = append(o.Private, strings.Replace(o2.Private[0], "127.0.0.1", "example.com", 1))
	o.resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	c, err := Client(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdleConnections()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/?token=secret", nil)
	req.Header.Set("Authorization", "Bearer secret")
	req.Header.Set("Cookie", "a=secret")
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if seen == nil || strings.Contains(fmt.Sprint(seen), "secret") {
		t.Errorf("the other host got %v", seen)
	}
}

// A name is resolved once and the address that was checked is dialled. security 2.8 #124
func TestPrivateNames(t *testing.T) {
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "content") })
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	asked := 0
	var dialled []string
	o.resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
		if asked++; host == "example.com" && asked == 1 {
			return []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("93.184.216.34")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	o.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialled = append(dialled, address)
		return new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
	}
	if text, _, err := get(t, o, "https://example.com:"+port+"/"); err != nil || text != "content" {
		t.Fatal(text, err)
	}
	if asked != 1 || len(dialled) != 1 || dialled[0] != "93.184.216.34:"+port {
		t.Errorf("asked %d times, dialled %v", asked, dialled)
	}
	for _, host := range []string{"example.com", "intern.example", "localhost"} {
		if _, _, err := get(t, o, "https://"+host+":"+port+"/"); !errors.Is(err, ErrPrivate) {
			t.Errorf("%s: %v", host, err)
		}
	}
	o.Private = []string{"intern.example:" + port}
	o.RootCAs = nil
	if _, _, err := get(t, o, "https://intern.example:"+port+"/"); err == nil || errors.Is(err, ErrPrivate) {
		t.Errorf("a host that the user named: %v", err)
	}
	if _, err := Client(&HTTPOptions{Private: []string{"https://x"}}); err == nil {
		t.Error("a host that cannot be read was accepted")
	}
}

// security 2.8 #125
func TestBodies(t *testing.T) {
	var tries atomic.Int64
	bomb := new(bytes.Buffer)
	z := gzip.NewWriter(bomb)
	z.Write(make([]byte, 100_000))
	z.Close()
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		tries.Add(1)
		switch r.URL.Path {
		case "/declared":
			w.Header().Set("Content-Length", "10737418240")
			w.Write([]byte("x"))
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		case "/lie":
			w.Header().Set("Content-Length", "100")
			w.Write([]byte("short"))
		case "/encoded":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb.Bytes())
		case "/exact":
			w.Write(make([]byte, 1000))
		case "/over":
			w.Write(make([]byte, 1001))
		}
	})
	for path, want := range map[string]struct {
		text  string
		tries int64
	}{
		"/declared": {"more than the 1000 bytes", 1}, "/endless": {"more than the 1000 bytes", 1}, "/over": {"more than the 1000 bytes", 1},
		"/lie": {"ended too early", 3}, "/encoded": {"", 1}, "/exact": {"", 1},
	} {
		tries.Store(0)
		text, _, err := get(t, o, s.URL+path)
		if want.text == "" && err != nil || want.text != "" && (err == nil || !strings.Contains(err.Error(), want.text)) || tries.Load() != want.tries {
			t.Errorf("%s: %v after %d attempts", path, err, tries.Load())
		}
		if path == "/encoded" && text != bomb.String() {
			t.Errorf("Content-Encoding was decoded: %d bytes", len(text))
		}
	}
}

// security 2.8 #125
func TestSlow(t *testing.T) {
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if r.URL.Path == "/drip" {
				w.Write([]byte("x"))
				w.(http.Flusher).Flush()
			}
			select {
			case <-r.Context().Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	for path, want := range map[string]string{"/drip": "less than 1024 bytes came in %v (3 attempts)", "/silent": "no answer within %v (3 attempts)"} {
		for o.idle = 200 * time.Millisecond; ; o.idle *= 5 { // on a busy machine the answer may begin late
			_, _, err := get(t, o, s.URL+path)
			if errors.Is(err, ErrNetwork) && strings.Contains(err.Error(), fmt.Sprintf(want, o.idle/lessIdle)) {
				break
			}
			if err == nil || o.idle > 20*time.Second {
				t.Fatalf("%s: %v", path, err)
			}
		}
	}
	o.idle, o.maxTime = time.Minute, 200*time.Millisecond
	if _, _, err := get(t, o, s.URL+"/drip"); err == nil || !strings.Contains(err.Error(), "the download takes more than 200ms") {
		t.Errorf("got %v", err)
	}
}

// R144
func TestAttempts(t *testing.T) {
	var tries atomic.Int64
	var codes []int
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n := int(tries.Add(1)); n <= len(codes) {
			w.Header().Set("Retry-After", "7")
			if codes[n-1] == 0 { // the connection breaks
				c, _, _ := w.(http.Hijacker).Hijack()
				c.Close()
				return
			}
			w.WriteHeader(codes[n-1])
			return
		}
		io.WriteString(w, "content")
	})
	s.TLS.NextProtos = nil // HTTP/1.1, whose connections can be broken
	for _, tt := range []struct {
		codes []int
		tries int64
		want  string
	}{
		{[]int{503, 502}, 3, ""}, {[]int{429, 500}, 3, ""}, {[]int{0}, 2, ""},
		{[]int{500, 500, 500}, 3, "500 Internal Server Error"}, {[]int{404}, 1, "does not exist (404)"}, {[]int{401}, 1, "requires authentication"},
		{[]int{403}, 1, "requires authentication"}, {[]int{204}, 1, "204"}, {[]int{418}, 1, "418"},
	} {
		codes = tt.codes
		tries.Store(0)
		var pauses []time.Duration
		o.sleep = func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }
		text, _, err := get(t, o, s.URL)
		if tries.Load() != tt.tries || tt.want == "" && (err != nil || text != "content") || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%v: %q, %v after %d attempts", tt.codes, text, err, tries.Load())
		}
		for i, p := range pauses {
			if tt.codes[i] != 0 && p < 7*time.Second {
				t.Errorf("%v: it waits %v", tt.codes, pauses)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.sleep = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	codes = []int{500, 500, 500}
	tries.Store(0)
	d, _ := newDownloader(o)
	if _, err := d.get(ctx, s.URL, 10, &memory{}, nil); !errors.Is(err, context.Canceled) || tries.Load() != 1 {
		t.Errorf("cancelled: %v after %d attempts", err, tries.Load())
	}
	d.http.CloseIdleConnections()
}

// security 2.8 #126
func TestCertificates(t *testing.T) {
	s, o := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	expired := certificate(t, time.Now().Add(-time.Hour))
	s2 := httptest.NewUnstartedServer(s.Config.Handler)
	s2.Config.ErrorLog = log.New(io.Discard, "", 0)
	s2.TLS = &tls.Config{Certificates: []tls.Certificate{expired}}
	s2.StartTLS()
	defer s2.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(s2.Certificate())
	private := []string{o.Private[0], s2.Listener.Addr().String(), "wrong.test:" + strings.Split(o.Private[0], ":")[1]}
	local := func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	for name, tt := range map[string]struct {
		roots *x509.CertPool
		url   string
		want  string
	}{
		"self-signed": {x509.NewCertPool(), s.URL, "unknown authority"},
		"expired":     {trusted, s2.URL, "expired"},
		"other name":  {o.RootCAs, strings.Replace(s.URL, "127.0.0.1", "wrong.test", 1), "not wrong.test"},
	} {
		_, _, err := get(t, &HTTPOptions{RootCAs: tt.roots, Private: private, resolve: local}, tt.url)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "attempts") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// certificate makes a certificate of its own for 127.0.0.1.
func certificate(t *testing.T, until time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestProxy(t *testing.T) {
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "content") })
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.Host)
		to, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		// The answer follows the take-over: a byte that came before it would stay in the server's buffer.
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { io.Copy(to, c); to.Close() }()
		go func() { io.Copy(c, to); c.Close() }()
	}))
	defer proxy.Close()
	at, _ := url.Parse(proxy.URL)
	o.Proxy = http.ProxyURL(at)
	o.resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
		if host == "unknown.test" {
			return nil, &net.DNSError{IsNotFound: true}
		}
		return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("10.0.0.1")}, nil
	}
	for _, private := range []string{"https://169.254.169.254/", "https://127.0.0.1:1/", "https://half.example/"} {
		if _, _, err := get(t, o, private); !errors.Is(err, ErrPrivate) || len(asked) > 0 {
			t.Errorf("%s: %v, the proxy was asked for %v", private, err, asked)
		}
	}
	if text, _, err := get(t, o, s.URL); err != nil || text != "content" {
		t.Errorf("a host that the user named: %q, %v", text, err)
	}
	if _, _, err := get(t, o, "https://unknown.test/"); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a name that only the proxy knows: %v", err)
	}
	if want := "[CONNECT " + o.Private[0] + " CONNECT unknown.test:443]"; fmt.Sprint(asked) != want {
		t.Errorf("the proxy was asked for %v, want %s", asked, want)
	}
}

func TestProgress(t *testing.T) {
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "600000")
		w.Write(make([]byte, 600_000))
	})
	d, _ := newDownloader(o)
	defer d.http.CloseIdleConnections()
	var last install.Progress
	count := 0
	if _, err := d.get(t.Context(), s.URL, 1<<20, &memory{}, func(p install.Progress) { last = p; count++ }); err != nil {
		t.Fatal(err)
	}
	if want := (install.Progress{Step: "downloading", Done: 600_000, Total: 600_000, Unit: "bytes"}); last != want || count < 2 || count > 5 {
		t.Errorf("%d reports, the last %+v", count, last)
	}
}
