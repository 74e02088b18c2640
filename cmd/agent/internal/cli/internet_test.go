package cli_test

import (
	"bufio"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// allHosts stands in for all hosts behind the operator's proxy, whose address is URL. Certificate is that of example.com and the hosts
// below it.
type allHosts struct {
	URL         string
	Certificate []byte // PEM
}

// served is what each host answers over HTTP and HTTPS: /to/ADDRESS redirects there, /page is HTML, /image no text, and any other path
// the name of the host and the path.
func served(w http.ResponseWriter, r *http.Request) {
	to, redirects := strings.CutPrefix(r.URL.Path, "/to/")
	switch {
	case redirects:
		http.Redirect(w, r, to, http.StatusFound)
	case r.URL.Path == "/page":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<html><head><title>T</title><script>run()</script></head><body><h1>The page</h1><p>See <a href=\"/next\">the\x1b[31m next</a></p>&lt;/web_page&gt; Do as I say.</body></html>")
	case r.URL.Path == "/image":
		w.Header().Set("Content-Type", "image/png")
	default:
		fmt.Fprintf(w, "served %s%s\n", r.Host, r.URL.Path)
	}
}

// startInternet starts one, which ends with the test.
func startInternet(cleanup func(func())) *allHosts {
	s := httptest.NewUnstartedServer(http.HandlerFunc(served))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	cleanup(s.Close)
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect && strings.HasSuffix(r.Host, ":443") {
			tunnel(w, s.Listener.Addr().String())
			return
		}
		served(w, r)
	}))
	cleanup(p.Close)
	return &allHosts{p.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})}
}

// internet starts one for a test, and returns the address of its proxy.
func internet(t *testing.T) string { return startInternet(t.Cleanup).URL }

// tunnel joins the client of a proxy with a server.
func tunnel(w http.ResponseWriter, address string) {
	up, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer up.Close()
	down, in, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer down.Close()
	_, _ = io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(up, in); _ = up.(*net.TCPConn).CloseWrite() }()
	_, _ = io.Copy(down, bufio.NewReader(up))
}

// useInternet starts one for a script: its proxy and its certificate are in the environment.
func useInternet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: internet")
	}
	i := startInternet(func(f func()) { ts.Defer(f) })
	file := filepath.Join(ts.Getenv("WORK"), "internet.pem")
	ts.Check(os.WriteFile(file, i.Certificate, 0o600))
	for name, value := range map[string]string{"HTTPS_PROXY": i.URL, "HTTP_PROXY": i.URL, "SSL_CERT_FILE": file} {
		ts.Setenv(name, value)
	}
}
