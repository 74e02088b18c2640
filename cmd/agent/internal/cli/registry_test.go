package cli_test

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-base/agent-base/internal/test/ocitest"
)

// site serves a folder by https, sets a variable to its URL, and writes the certificate of the server to a file, which the
// commands after it trust: site NAME FOLDER FILE
func site(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: site NAME FOLDER FILE")
	}
	serve(ts, args, http.FileServer(http.Dir(ts.MkAbs(args[1]))))
}

// gitSite is site for the repositories in a folder, as git serves them: gitsite NAME FOLDER FILE
func gitSite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: gitsite NAME FOLDER FILE")
	}
	program, err := exec.LookPath("git")
	ts.Check(err)
	serve(ts, args, &cgi.Handler{Path: program, Args: []string{"http-backend"}, Dir: ts.MkAbs(args[1]), Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + ts.MkAbs(args[1]), "GIT_HTTP_EXPORT_ALL=1", "HOME=" + ts.MkAbs("."), "GIT_CONFIG_NOSYSTEM=1"}})
}

func serve(ts *testscript.TestScript, args []string, h http.Handler) {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that a test wants to fail
	s.StartTLS()
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL)
	file := ts.MkAbs(args[2])
	ts.Check(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	ts.Setenv("SSL_CERT_FILE", file)
	ts.Setenv("GIT_SSL_CAINFO", file)
}

// ociRegistry starts an OCI registry on this machine and sets a variable to its HOST:PORT: ociregistry NAME
func ociRegistry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ociregistry NAME")
	}
	r := ocitest.Start()
	ts.Defer(r.Server.Close)
	ts.Setenv(args[0], r.Host())
}
