package hostname_test

import (
	"testing"

	"github.com/agent-base/agent-base/internal/hostname"
)

// R176
func TestParse(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"api.example.com", "api.example.com"},
		{"API.Example.COM.", "api.example.com"},
		{"api.example.com:8443", "api.example.com:8443"},
		{"*.example.com", "*.example.com"},
		{"*.example.com:80", "*.example.com:80"},
		{"localhost:11434", "localhost:11434"},
		{"127.0.0.1:8188", "127.0.0.1:8188"},
		{"[::1]:80", "[::1]:80"},
		{"[::ffff:10.0.0.1]", "10.0.0.1"},
		{"2001:db8::1", "[2001:db8::1]"},
		{"_dmarc.example.com", "_dmarc.example.com"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"", ""}, {"*", ""}, {"*.com", ""}, {"*.127.0.0.1", ""}, {"a.*.com", ""}, {"**.example.com", ""},
		{"https://example.com", ""}, {"user@example.com", ""}, {"example.com/path", ""}, {"10.0.0.0/8", ""},
		{"evil.com\x00.good.com", ""}, {"evil.com\r\n", ""}, {"a b.com", ""}, {"bücher.example", ""}, {"example。com", ""},
		{"example.com:0", ""}, {"example.com:65536", ""}, {"example.com:+80", ""}, {"example.com:080", ""}, {"example.com:", ""},
		{"2130706433", ""}, {"127.1", ""}, {"0x7f000001", ""}, {"0177.0.0.1", ""}, {"1.2.3.4.5", ""}, {"example.0x7f", ""},
		{"a..b", ""}, {".example.com", ""}, {"-a.com", ""}, {"a-.com", ""}, {"example.com..", ""}, {"[::1", ""}, {"[fe80::1%eth0]", ""}, {"[1.2.3.4]x", ""},
	} {
		p, err := hostname.Parse(test.text)
		if got := p.String(); err == nil && got != test.want || err != nil && test.want != "" {
			t.Errorf("Parse(%q) = %q, %v, want %q", test.text, got, err, test.want)
		}
	}
}

// R176
func TestMatches(t *testing.T) {
	for _, test := range []struct {
		pattern, host string
		port          uint16
		want          bool
	}{
		{"good.com", "good.com", 443, true},
		{"good.com", "good.com", 80, true},
		{"good.com", "good.com", 22, false},
		{"good.com:22", "good.com", 22, true},
		{"good.com:22", "good.com", 443, false},
		{"good.com", "good.com.evil.com", 443, false},
		{"good.com", "evilgood.com", 443, false},
		{"good.com", "a.good.com", 443, false},
		{"*.good.com", "a.good.com", 443, true},
		{"*.good.com", "a.b.good.com", 443, true},
		{"*.good.com", "good.com", 443, false},
		{"*.good.com", "evilgood.com", 443, false},
		{"127.0.0.1", "127.0.0.1", 80, true},
	} {
		p, err := hostname.Parse(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Matches(test.host, test.port); got != test.want {
			t.Errorf("%s matches %s:%d: %v, want %v", test.pattern, test.host, test.port, got, test.want)
		}
	}
}

// FuzzParse holds that what Parse accepts it accepts again unchanged, and that it has no byte that a name cannot have.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a.com", "*.a.com:80", "[::1]:443", "127.1", "a\x00b", "xn--a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := hostname.Parse(text)
		if err != nil {
			return
		}
		again, err := hostname.Parse(p.String())
		if err != nil || again != p {
			t.Fatalf("%q is %v, which is read as %v: %v", text, p, again, err)
		}
		if c, err := hostname.Canonical(p.Host); !hostname.IsAddress(p.Host) && (err != nil || c != p.Host) {
			t.Fatalf("%q has the host %q, of which the canonical form is %q: %v", text, p.Host, c, err)
		}
	})
}
