package cli_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-base/agent-base/internal/test/pythontest"
)

// packageIndex starts an index of one Python package, dep, whose file lies on another host. It makes it uv's index, and sets
// FILES_HOST to the other host and AGENT_UV to a real uv.
func packageIndex(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: packageindex")
	}
	dir := filepath.Join(ts.Getenv("WORK"), ".wheels")
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(pythontest.Wheel(dir, "dep", "1.0", map[string]string{"dep.py": "version = '1.0'\n"}))
	uv, err := pythontest.UV()
	ts.Check(err)
	files := httptest.NewServer(http.FileServer(http.Dir(dir)))
	wheels, err := os.ReadDir(dir)
	ts.Check(err)
	wheel, err := os.ReadFile(filepath.Join(dir, wheels[0].Name()))
	ts.Check(err)
	index := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/simple/dep/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!DOCTYPE html><a href=\"%s/%s#sha256=%x\">%[2]s</a>", files.URL, wheels[0].Name(), sha256.Sum256(wheel))
	}))
	ts.Defer(files.Close)
	ts.Defer(index.Close)
	ts.Setenv("UV_DEFAULT_INDEX", index.URL+"/simple")
	ts.Setenv("UV_HTTP_RETRIES", "0")
	ts.Setenv("AGENT_UV", uv)
	ts.Setenv("FILES_HOST", strings.TrimPrefix(files.URL, "http://"))
}
