package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// webServer starts a server of this machine that answers "served", and sets a variable to its HOST:PORT: webserver NAME
func webServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: webserver NAME")
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "served") }))
	ts.Defer(s.Close)
	ts.Setenv(args[0], strings.TrimPrefix(s.URL, "http://"))
}
