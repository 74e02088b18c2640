package gittest

import (
	"encoding/pem"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// Server serves the repositories of a folder over https.
type Server struct {
	URL    string // of the folder, without a slash at the end
	CAFile string // PEM file of the authority that signed its certificate

	before atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
	who    atomic.Pointer[[2]string]
}

// Require makes the server ask for a user and a password from now on.
func (s *Server) Require(user, password string) { s.who.Store(&[2]string{user, password}) }

// Before makes the server call f for each request from now on. f answers the request itself if it returns true.
func (s *Server) Before(f func(http.ResponseWriter, *http.Request) bool) { s.before.Store(&f) }

// Serve starts a server for the repositories below a folder. It ends with the test.
func Serve(tb testing.TB, dir string) *Server {
	tb.Helper()
	s := &Server{}
	backend := &cgi.Handler{Path: Program(tb), Args: []string{"http-backend"}, Dir: dir, Env: []string{
		"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
	}}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before := s.before.Load(); before != nil && (*before)(w, r) {
			return
		}
		user, password, _ := r.BasicAuth()
		if who := s.who.Load(); who != nil && *who != [2]string{user, password} {
			w.Header().Set("WWW-Authenticate", `Basic realm="repositories"`)
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		if protocol := r.Header.Get("Git-Protocol"); protocol != "" {
			h := *backend
			h.Env = append(h.Env[:len(h.Env):len(h.Env)], "GIT_PROTOCOL="+protocol)
			h.ServeHTTP(w, r)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	tb.Cleanup(server.Close)
	s.URL = server.URL
	s.CAFile = filepath.Join(tb.TempDir(), "ca.pem")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(s.CAFile, ca, 0o600); err != nil {
		tb.Fatal(err)
	}
	return s
}
