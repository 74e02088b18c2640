package egress_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/egress"
	"github.com/agent-base/agent-base/script/runner"
)

const token = "a-token-of-one-run"

// authorization returns the header with the token.
func authorization() string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte("agent:"+token))
}

// world is a network of one web server and one TLS server: every public address leads to them by port.
type world struct {
	t       *testing.T
	names   map[string][]string
	plain   *httptest.Server
	secure  *httptest.Server
	mu      sync.Mutex
	dialled []string
}

func newWorld(t *testing.T) *world {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.Host, r.URL.Path)
	})
	secure := httptest.NewUnstartedServer(h)
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	secure.StartTLS()
	w := &world{t: t, plain: httptest.NewServer(h), secure: secure, names: map[string][]string{
		"good.com": {"93.184.216.34"}, "a.wide.org": {"93.184.216.35"}, "inside.com": {"10.1.2.3"}, "mixed.com": {"127.0.0.1", "93.184.216.36"},
		"localhost": {"127.0.0.1"}, "meta.com": {"169.254.169.254"}, "other.com": {"93.184.216.37"},
	}}
	t.Cleanup(w.plain.Close)
	t.Cleanup(w.secure.Close)
	return w
}

func (w *world) options() *egress.Options {
	var o egress.Options
	o.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
		var out []netip.Addr
		for _, a := range w.names[host] {
			out = append(out, netip.MustParseAddr(a))
		}
		if out == nil {
			return nil, errors.New("no such host")
		}
		return out, nil
	}
	o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		w.mu.Lock()
		w.dialled = append(w.dialled, address)
		w.mu.Unlock()
		server := w.plain
		if strings.HasSuffix(address, ":443") {
			server = w.secure
		}
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
	return &o
}

// start serves a proxy and returns its address.
func start(t *testing.T, n *runner.Network, o *egress.Options) (*egress.Proxy, string) {
	t.Helper()
	p, err := egress.Open(n, token, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- p.Serve(l) }()
	t.Cleanup(func() {
		p.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return p, l.Addr().String()
}

// client returns a client that uses the proxy as a program does that finds it in its environment.
func client(t *testing.T, address string) *http.Client {
	t.Helper()
	u := &url.URL{Scheme: "http", User: url.UserPassword("agent", token), Host: address}
	tr := &http.Transport{Proxy: http.ProxyURL(u), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func get(c *http.Client, url string) string { return getIn(context.Background(), c, url) }

func getIn(ctx context.Context, c *http.Client, url string) string {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err.Error()
	}
	resp, err := c.Do(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, b)
}

// What is for one connection only reaches nobody else: neither the token of the run, nor what a host names in Connection.
func TestHopHeaders(t *testing.T) {
	w := newWorld(t)
	got := make(chan http.Header, 1)
	w.plain.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Clone()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: X-Secret\r\nX-Secret: 1\r\nProxy-Authenticate: Basic\r\nX-Kept: 1\r\nContent-Length: 0\r\n\r\n")
			err = errors.Join(err, conn.Close())
		}
		if err != nil {
			t.Error(err)
		}
	})
	_, address := start(t, &runner.Network{Hosts: []string{"good.com"}}, w.options())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://good.com/", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Connection": {"X-Mine, close"}, "X-Mine": {"1"}, "Te": {"trailers"}, "Upgrade": {"h2c"}, "X-Other": {"1"}}
	answer, err := client(t, address).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	sent := <-got
	for _, name := range []string{"Proxy-Authorization", "X-Mine", "Te", "Upgrade"} {
		if sent.Get(name) != "" {
			t.Errorf("the host gets %s: %s", name, sent.Get(name))
		}
	}
	for _, name := range []string{"X-Secret", "Proxy-Authenticate"} {
		if answer.Header.Get(name) != "" {
			t.Errorf("the command gets %s: %s", name, answer.Header.Get(name))
		}
	}
	if sent.Get("X-Other") != "1" || answer.Header.Get("X-Kept") != "1" {
		t.Errorf("other headers are lost: %v, %v", sent, answer.Header)
	}
}

// R176
func TestHosts(t *testing.T) {
	w := newWorld(t)
	p, address := start(t, &runner.Network{Hosts: []string{"good.com", "*.wide.org", "inside.com", "mixed.com", "meta.com", "gone.com", "localhost"}}, w.options())
	c := client(t, address)
	for _, test := range []struct{ url, want string }{
		{"http://good.com/a", "200 good.com /a"},
		{"http://GOOD.com./a", "200 good.com /a"},
		{"https://good.com/a", "200 good.com /a"},
		{"https://a.wide.org/", "200 a.wide.org /"},
		{"http://mixed.com/", "200 mixed.com /"},
		{"https://other.com/", "Not allowed to reach other.com:443"},
		{"http://other.com/", "403 other.com:80: the host is not allowed"},
		{"http://good.com:8080/", "403 good.com:8080: the host is not allowed"},
		{"http://wide.org/", "403 wide.org:80"},
		{"http://inside.com/", "403 inside.com:80: the host has only addresses of this machine"},
		{"https://inside.com/", "Not allowed to reach inside.com:443"},
		{"http://meta.com/latest", "403"},
		{"http://localhost/", "403"},
		{"https://gone.com/", "Cannot reach gone.com:443"},
		{"http://gone.com/", "502"},
	} {
		if got := get(c, test.url); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q in it", test.url, got, test.want)
		}
	}
	if want := []string{"good.com:80", "good.com:443", "a.wide.org:443", "mixed.com:80"}; !slices.Equal(p.Reached(), want) {
		t.Errorf("reached %v, want %v", p.Reached(), want)
	}
	if want := []string{"gone.com:443", "gone.com:80"}; !slices.Equal(p.Failed(), want) {
		t.Errorf("failed %v, want %v", p.Failed(), want)
	}
	if r := p.Refused(); len(r) != 8 || r[0] != (runner.Refusal{Host: "other.com:443"}) || r[4] != (runner.Refusal{Host: "inside.com:80", Private: true}) {
		t.Errorf("refused %v", r)
	}
	for _, a := range w.dialled {
		if !strings.HasPrefix(a, "93.184.216.") {
			t.Errorf("dialled %s", a)
		}
	}
}

// raw sends bytes to the proxy and returns the first line of the answer.
func raw(t *testing.T, address, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(line)
}

// TestTricks has the spellings that have opened other proxies. R176, security 2.5 #76
func TestTricks(t *testing.T) {
	w := newWorld(t)
	w.names["127.0.0.1"] = []string{"127.0.0.1"}
	_, address := start(t, &runner.Network{Hosts: []string{"good.com", "2130706433.good.com"}}, w.options())
	auth := "\r\nProxy-Authorization: " + authorization() + "\r\n\r\n"
	for _, test := range []struct{ request, want string }{
		{"CONNECT good.com:443 HTTP/1.1\r\nHost: other.com:443" + auth, "HTTP/1.1 200 Connected"},
		{"CONNECT GOOD.com.:443 HTTP/1.1\r\nHost: x" + auth, "HTTP/1.1 200 Connected"},
		{"CONNECT evil.com\x00.good.com:443 HTTP/1.1\r\nHost: x" + auth, "HTTP/1.1 400"},
		{"CONNECT evil.com%00.good.com:443 HTTP/1.1\r\nHost: x" + auth, "HTTP/1.1 400"},
		{"CONNECT good.com.evil.com:443 HTTP/1.1\r\nHost: good.com" + auth, "HTTP/1.1 403"},
		{"CONNECT good.com@evil.com:443 HTTP/1.1\r\nHost: x" + auth, "HTTP/1.1 400"},
		{"CONNECT evil.com#good.com:443 HTTP/1.1\r\nHost: x" + auth, "HTTP/1.1 400"},
		{"CONNECT g\xc3\xb6od.com:443 HTTP/1.1\r\nHost: x" + auth, "HTTP/1.1 400"},
		{"CONNECT xn--god-sna.com:443 HTTP/1.1\r\nHost: x" + auth, "HTTP/1.1 403"},
		{"CONNECT 2130706433:443 HTTP/1.1\r\nHost: x" + auth, "HTTP/1.1 400"},
		{"CONNECT 0x7f.1:443 HTTP/1.1\r\nHost: x" + auth, "HTTP/1.1 400"},
		{"CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: x" + auth, "HTTP/1.1 403"},
		{"CONNECT [::ffff:127.0.0.1]:443 HTTP/1.1\r\nHost: x" + auth, "HTTP/1.1 403"},
		{"CONNECT good.com HTTP/1.1\r\nHost: x" + auth, "HTTP/1.1 400"},
		{"CONNECT good.com:22 HTTP/1.1\r\nHost: x" + auth, "HTTP/1.1 403"},
		{"CONNECT good.com:00443 HTTP/1.1\r\nHost: x" + auth, "HTTP/1.1 400"},
		{"GET http://good.com/ HTTP/1.1\r\nHost: other.com" + auth, "HTTP/1.1 200 OK"},
		{"GET http://other.com/ HTTP/1.1\r\nHost: good.com" + auth, "HTTP/1.1 403"},
		{"GET http://good.com@other.com/ HTTP/1.1\r\nHost: good.com" + auth, "HTTP/1.1 400"},
		{"GET https://good.com/ HTTP/1.1\r\nHost: good.com" + auth, "HTTP/1.1 400"},
		{"GET / HTTP/1.1\r\nHost: good.com" + auth, "HTTP/1.1 400"},
		{"GET http://good.com\\@other.com/ HTTP/1.1\r\nHost: good.com" + auth, "HTTP/1.1 400"},
		{"CONNECT good.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 407"},
		{"CONNECT good.com:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic cnVuOng=\r\n\r\n", "HTTP/1.1 407"},
		{"CONNECT good.com:443 HTTP/1.1\r\nX: " + strings.Repeat("x", 64<<10) + auth, "HTTP/1.1 431"},
	} {
		if got := raw(t, address, test.request); !strings.HasPrefix(got, test.want) {
			t.Errorf("%.80q: %q, want %q", test.request, got, test.want)
		}
	}
}

// A name in the TLS greeting that is not the name of the tunnel ends it before anything is sent. R176
func TestGreeting(t *testing.T) {
	w := newWorld(t)
	p, address := start(t, &runner.Network{Hosts: []string{"good.com"}}, w.options())
	for _, test := range []struct {
		name string
		ok   bool
	}{{"good.com", true}, {"evil.com", false}, {"", true}} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "CONNECT good.com:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: %s\r\n\r\n", authorization())
		if _, err := http.ReadResponse(bufio.NewReaderSize(c, 16), nil); err != nil {
			t.Fatal(err)
		}
		err = tls.Client(c, &tls.Config{ServerName: test.name, InsecureSkipVerify: true}).Handshake()
		if (err == nil) != test.ok {
			t.Errorf("greeting for %q: %v", test.name, err)
		}
		c.Close()
	}
	if r := p.Refused(); len(r) != 1 {
		t.Errorf("refused %v", r)
	}
}

// A name that has a public address when it is checked and a private one when it is asked again is dialled at the first. R176, security 2.5 #76
func TestRebinding(t *testing.T) {
	w := newWorld(t)
	var asked atomic.Int32
	o := w.options()
	o.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		if asked.Add(1) == 1 {
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	_, address := start(t, &runner.Network{Hosts: []string{"good.com"}}, o)
	c := client(t, address)
	if got := get(c, "http://good.com/"); !strings.HasPrefix(got, "200") || asked.Load() != 1 || !slices.Equal(w.dialled, []string{"93.184.216.34:80"}) {
		t.Errorf("first: %q after %d questions, dialled %v", got, asked.Load(), w.dialled)
	}
	if got := get(c, "http://good.com/"); !strings.HasPrefix(got, "403") || len(w.dialled) != 1 {
		t.Errorf("second: %q, dialled %v", got, w.dialled)
	}
}

// R176
func TestPrivate(t *testing.T) {
	w := newWorld(t)
	_, address := start(t, &runner.Network{Hosts: []string{"inside.com"}, Private: []string{"localhost:8188", "127.0.0.1:8188"}}, w.options())
	c := client(t, address)
	for url, want := range map[string]string{
		"http://localhost:8188/": "200", "http://127.0.0.1:8188/": "200",
		"http://localhost/": "403", "http://127.0.0.1:8189/": "403", "http://inside.com/": "403",
	} {
		if got := get(c, url); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %s", url, got, want)
		}
	}
}

// R176
func TestUpstream(t *testing.T) {
	w := newWorld(t)
	theirs, err := egress.Open(&runner.Network{Hosts: []string{"good.com", "unknown.com"}}, token, w.options())
	if err != nil {
		t.Fatal(err)
	}
	w.names["unknown.com"] = []string{"93.184.216.38"}
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	go theirs.Serve(l)
	defer theirs.Close()
	u := &url.URL{Scheme: "http", User: url.UserPassword("agent", token), Host: l.Addr().String()}
	_, address := start(t, &runner.Network{Hosts: []string{"good.com", "unknown.com", "inside.com", "mixed.com"}}, &egress.Options{Upstream: func(*url.URL) (*url.URL, error) { return u, nil },
		Resolve: func(ctx context.Context, host string) ([]netip.Addr, error) {
			if host == "inside.com" {
				return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
			}
			if host == "mixed.com" { // the operator's proxy may choose either
				return []netip.Addr{netip.MustParseAddr("93.184.216.36"), netip.MustParseAddr("10.0.0.1")}, nil
			}
			return nil, errors.New("no resolver here")
		}})
	c := client(t, address)
	for _, test := range []struct{ url, want string }{
		{"http://good.com/a", "200 good.com /a"},
		{"https://unknown.com/a", "200 unknown.com /a"},
		{"http://other.com/", "403"},
		{"https://inside.com/", "Not allowed"},
		{"http://mixed.com/", "403 mixed.com:80: the host has only"},
	} {
		if got := get(c, test.url); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q in it", test.url, got, test.want)
		}
	}
}

// What the program connects to itself is decided about as a tunnel of the command is.
func TestDial(t *testing.T) {
	w := newWorld(t)
	a := &answers{verdicts: map[string]runner.Verdict{"good.com": runner.Yes, "inside.com": runner.Yes, "meta.com": runner.Yes, "other.com": runner.No}}
	p, _ := start(t, &runner.Network{Ask: a.ask, Denied: func(host string) bool { return host == "a.wide.org" }}, w.options())
	c := http.Client{Transport: &http.Transport{DialContext: p.Dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	for _, test := range []struct{ url, want string }{
		{"https://good.com/a", "good.com /a"}, {"http://good.com/b", "good.com /b"}, {"http://other.com/", egress.ErrSaidNo.Error()}, {"http://inside.com/", egress.ErrPrivate.Error()},
		{"http://meta.com/", egress.ErrPrivate.Error()}, {"http://localhost/", egress.ErrNotAllowed.Error()}, {"http://a.wide.org/", egress.ErrNotAllowed.Error()},
	} {
		if got := get(&c, test.url); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q in it", test.url, got, test.want)
		}
	}
	w.names["good.com"] = []string{"127.0.0.1"} // it was public before
	if got := get(&c, "http://good.com/"); !strings.Contains(got, egress.ErrPrivate.Error()) {
		t.Errorf("after its address changed: %q", got)
	}
	if len(a.asked) != 4 || len(w.dialled) != 2 {
		t.Errorf("asked about %q, dialled %q", a.asked, w.dialled)
	}
	p.Close()
	if got := get(&c, "https://good.com/"); !strings.Contains(got, "Get") {
		t.Errorf("after Close: %q", got)
	}
}

// Close ends tunnels that are open, so a run leaves nothing behind.
func TestClose(t *testing.T) {
	w := newWorld(t)
	p, address := start(t, &runner.Network{Hosts: []string{"good.com"}}, w.options())
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "CONNECT good.com:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: %s\r\n\r\n", authorization())
	if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
		t.Fatal(err)
	}
	p.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if b, err := io.ReadAll(c); len(b) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %q, %v", b, err)
	}
}
