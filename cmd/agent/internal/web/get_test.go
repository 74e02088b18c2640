package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"https://Example.COM./a?b#c", "https://example.com/a?b"},
		{"http://example.com:80", "http://example.com"},
		{"https://example.com:443/", "https://example.com/"},
		{"http://example.com:443/", "http://example.com:443/"},
		{"https://[::ffff:10.0.0.1]:8443/", "https://10.0.0.1:8443/"},
		{"https://[2001:DB8::1]/", "https://[2001:db8::1]/"},
		{"", ""}, {"example.com", ""}, {"//example.com/", ""}, {"file:///etc/passwd", ""}, {"javascript:x", ""}, {"https:example.com", ""}, {"https:///x", ""},
		{"https://user@example.com/", ""}, {"https://a:b@example.com/", ""}, {"https://exa\\mple.com/", ""}, {"https://example.com/a b", ""}, {"https://example.com\r\nX: y/", ""},
		{"https://2130706433/", ""}, {"https://0x7f.1/", ""}, {"https://127.1/", ""}, {"https://example.com:0/", ""}, {"https://example.com:99999/", ""},
		{"https://bücher.example/", ""}, {"https://example.com/" + strings.Repeat("a", MaxURL), ""},
	} {
		u, err := Parse(test.text)
		if got := fmt.Sprint(u); err == nil && got != test.want || err != nil && test.want != "" {
			t.Errorf("Parse(%.60q) = %s, %v, want %q", test.text, got, err, test.want)
		}
	}
}

// FuzzParse holds that what is accepted is http or https without a user, and is accepted again unchanged.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"https://example.com/a?b#c", "http://[::1]:80/", "https://a@b/", "HTTPS://A.B:443", "https://a.b/%zz", "http://a.b:/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(u.String())
		if u.Scheme != "https" && u.Scheme != "http" || u.User != nil || err != nil || again.String() != u.String() {
			t.Fatalf("%q is %q, which is read as %v: %v", text, u, again, err)
		}
	})
}

// server answers for every host. dial leads there.
func server(t *testing.T, h http.HandlerFunc) (dial func(context.Context, string, string) (net.Conn, error)) {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.Listener.Addr().String())
	}
}

func get(t *testing.T, address string, o *Options) (*Page, error) {
	t.Helper()
	u, err := Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return Get(t.Context(), u, o)
}

func TestGet(t *testing.T) {
	kinds := map[string]string{"/json": "application/json", "/atom": "application/atom+xml", "/svg": "image/svg+xml", "/pdf": "application/pdf", "/latin": "text/plain; charset=ISO-8859-1",
		"/jis": "text/html; charset=Shift_JIS", "/meta": "text/html", "/late": "text/html", "/wide": "text/plain", "/plain": "text/plain", "/odd": "text/plain; charset=klingon",
		"/none": "", "/html": "text/html", "/zero": "text/plain", "/big": "text/plain", "/edge": "text/plain", "/deep": "text/html"}
	bodies := map[string]string{"/json": `{"a":1}`, "/atom": "<feed/>", "/latin": "caf\xe9", "/none": "plain", "/jis": "<p>\x93\xfa\x96{", "/meta": "<meta charset=gbk><p>\xd6\xd0\xce\xc4", "/wide": "\xff\xfea\x00\xe9\x00", "/odd": "caf\xe9", "/late": "<p>" + strings.Repeat("a", 2000) + "\u00e9",
		"/plain": "<meta charset=gbk>\u00e9", "/zero": "a\x00b", "/html": `<p>a<a href="b?c">d</a><table><tr><th>x</th></tr></table>`,
		"/big": strings.Repeat("a", MaxBody+1), "/edge": strings.Repeat("a", MaxBody), "/deep": strings.Repeat("<div>", 100_000)}
	dial := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.Header.Get("Cookie")+r.Referer()+r.Header.Get("Authorization") != "" {
			t.Errorf("%s %s has %v", r.Method, r.URL, r.Header)
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		switch to := r.URL.Query().Get("to"); {
		case to != "":
			http.Redirect(w, r, to, http.StatusFound)
		case r.URL.Path == "/gone":
			http.Error(w, "gone", http.StatusGone)
		default:
			w.Header()["Content-Type"] = nil
			if k := kinds[r.URL.Path]; k != "" {
				w.Header().Set("Content-Type", k)
			}
			_, _ = w.Write([]byte(bodies[r.URL.Path]))
		}
	})
	five := "/r"
	for range MaxRedirects {
		five = "/r?to=" + url.QueryEscape(five)
	}
	for _, test := range []struct{ path, want string }{
		{"/json", `application/json {"a":1}`}, {"/atom", "application/atom+xml <feed/>"}, {"/latin", "text/plain café"}, {"/none", "text/plain plain"},
		{"/jis", "text/html 日本"}, {"/meta", "text/html 中文"}, {"/wide", "text/plain aé"}, {"/plain", "text/plain <meta charset=gbk>é"}, {"/odd", "text/plain café"}, {"/late", "aé"},
		{"/html", "text/html a[d](http://example.com/b?c)\n\n|x|\n|---|"},
		{"/svg", `it is "image/svg+xml"`}, {"/pdf", `it is "application/pdf"`}, {"/zero", `it is "text/plain"`}, {"/big", "it has more than 5 MB"}, {"/gone", "example.com answers 410 Gone"},
		{"/edge", "text/plain aaa"}, {"/deep", "its HTML cannot be read"},
		{five, "text/plain "}, {"/r?to=" + url.QueryEscape(five), "it redirects more than 5 times"},
		{"/?to=http://a@b.example/", "it has a user"}, {"/?to=file:///etc/passwd", "only https and http"}, {"/?to=http://127.1/", "not one in the usual form"},
	} {
		got := ""
		p, err := get(t, "http://example.com"+test.path, &Options{Dial: dial})
		if err != nil {
			got = err.Error()
		} else {
			got = p.Type + " " + p.Text
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%.60s: %.200q, want %q in it", test.path, got, test.want)
		}
	}
}

// Each address is admitted before anything is asked of it.
func TestAdmit(t *testing.T) {
	var seen []string
	dial := server(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, "asked "+r.Host)
		http.Redirect(w, r, "http://next.example.com/", http.StatusTemporaryRedirect)
	})
	no := errors.New("no")
	_, err := get(t, "http://first.example.com/", &Options{Dial: dial, Admit: func(_ context.Context, u *url.URL) error {
		if seen = append(seen, "admitted "+u.Host); u.Host == "next.example.com" {
			return no
		}
		return nil
	}})
	if want := []string{"admitted first.example.com", "asked first.example.com", "admitted next.example.com"}; err != no || !slices.Equal(seen, want) {
		t.Errorf("%v after %q, want %q", err, seen, want)
	}
}

// FuzzText holds that no page of a stranger breaks off the program, and that its text has no control characters.
func FuzzText(f *testing.F) {
	for _, s := range []string{"<p>a", "<table><tr><td><table>", "<a href='javascript:x'>\x1b[31m", "<pre>```</pre>", "<ol start=-1><li>", "<!--", "<svg><style><img src=x>"} {
		f.Add([]byte(s))
	}
	f.Add([]byte("<table><tr>" + strings.Repeat("<td>", 10_000) + strings.Repeat("<tr><td colspan=1000000>", 10_000) + strings.Repeat("[", 100_000)))
	u := &url.URL{Scheme: "https", Host: "example.com"}
	f.Fuzz(func(t *testing.T, body []byte) {
		text, err := asText(t.Context(), body, "text/html", "", u)
		if err == nil && bytes.ContainsAny([]byte(text), "\x1b\x07\x00\r") {
			t.Fatalf("%q", text)
		}
	})
}
