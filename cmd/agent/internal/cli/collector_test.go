package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// collectorKey is where a script keeps what its collector got.
type (
	collectorKey struct{}
	collected    struct {
		mu     sync.Mutex
		bodies []string
	}
)

// startCollector starts a collector of OpenTelemetry and names it to the command: collector.
func startCollector(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: collector")
	}
	got := ts.Value(collectorKey{}).(*collected)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got.mu.Lock()
		defer got.mu.Unlock()
		got.bodies = append(got.bodies, r.URL.Path+" "+string(body))
	}))
	ts.Defer(s.Close)
	ts.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
}

// collectorGot checks what the collector got: got TEXT. "! got TEXT" says that it must not have got it.
func collectorGot(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: got TEXT")
	}
	got := ts.Value(collectorKey{}).(*collected)
	got.mu.Lock()
	defer got.mu.Unlock()
	if all := strings.Join(got.bodies, "\n"); strings.Contains(all, args[0]) == neg {
		ts.Fatalf("%q in it: %t\n%s", args[0], neg, all)
	}
}
