package egress

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/hostname"
)

// FuzzTarget holds that whatever a request says, what is checked is a canonical host, and one host only.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{
		"CONNECT a.com:443 HTTP/1.1\r\nHost: b.com\r\n\r\n", "GET http://a.com/ HTTP/1.1\r\nHost: b.com\r\n\r\n",
		"GET http://a.com:80@b.com/ HTTP/1.0\r\n\r\n", "CONNECT [::1]:80 HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT a.com\x00.b.com:1 HTTP/1.1\r\nHost: a\r\n\r\n",
	} {
		f.Add(s)
	}
	good, _ := hostname.Parse("good.com")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			return
		}
		got, err := readTarget(r)
		if err != nil {
			return
		}
		if c, err := hostname.Canonical(got.host); !hostname.IsAddress(got.host) && (err != nil || c != got.host) {
			t.Fatalf("%q: the host %q is not canonical", text, got.host)
		}
		line, _, _ := strings.Cut(text, "\n")
		if matches([]hostname.Pattern{good}, got) && !strings.Contains(strings.ToLower(line), "good.com") {
			t.Fatalf("%q passes as good.com", text)
		}
		if dropHops(r.Header); r.Header.Get("Proxy-Authorization") != "" {
			t.Fatalf("%q: the token is passed on", text)
		}
	})
}

// FuzzGreeting holds that reading a greeting never panics and takes nothing out of the stream.
func FuzzGreeting(f *testing.F) {
	f.Add([]byte("\x16\x03\x01\x00\x05hello"))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		from := bufio.NewReaderSize(bytes.NewReader(b), recordMost)
		_ = checkHello(from, target{host: "good.com", port: 443})
		var left bytes.Buffer
		_, _ = left.ReadFrom(from)
		if !bytes.Equal(left.Bytes(), b) {
			t.Fatalf("%q became %q", b, left.Bytes())
		}
	})
}
