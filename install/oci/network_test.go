package oci

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/ocitest"
)

// registry returns a registry that has the skill under the tag "1".
func registry(t *testing.T) *ocitest.Registry {
	t.Helper()
	r := ocitest.New(t)
	if _, err := client(t, Options{}).Push(t.Context(), &PushRequest{To: ref(r, "1"), Skills: []Skill{pdf()}}); err != nil {
		t.Fatal(err)
	}
	return r
}

func isBlob(req *http.Request) bool { return strings.Contains(req.URL.Path, "/blobs/sha256:") }

// security 2.8 #124
func TestRedirects(t *testing.T) {
	r := registry(t)
	r.User, r.Password = "user", "secret"
	var leaked atomic.Bool
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "" {
			leaked.Store(true)
		}
		if to := req.URL.Query().Get("to"); to != "" {
			http.Redirect(w, req, to, http.StatusTemporaryRedirect)
			return
		}
		w.Write(r.Blob(strings.TrimPrefix(req.URL.Path, "/")))
	}))
	defer store.Close()
	login := Options{Credential: func(context.Context, string) (Credential, error) {
		return Credential{User: "user", Password: "secret"}, nil
	}}
	for _, test := range []struct{ to, want string }{
		{"", ""}, // as registries do that keep their blobs elsewhere
		{"file:///etc/passwd", "the registry redirects to file"},
		{"http://example.com/x", "redirects to http on another machine"},
		{"http://169.254.169.254/latest/meta-data", "redirects to http on another machine"},
		{store.URL + "/?to=http://example.com/x", "redirects to http on another machine"},
		{"loop", "redirects more than 5 times"},
	} {
		r.Hook = func(w http.ResponseWriter, req *http.Request) bool {
			if !isBlob(req) {
				return false
			}
			to := test.to
			switch to {
			case "":
				to = store.URL + "/" + req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
			case "loop":
				to = req.URL.String()
			}
			http.Redirect(w, req, to, http.StatusTemporaryRedirect)
			return true
		}
		_, _, err := get(t, client(t, login), ref(r, "1"))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("to %s: got %v, want %q", test.to, err, test.want)
		}
	}
	if leaked.Load() {
		t.Error("another server has seen the password")
	}
}

// A registry over https that redirects to http. security 2.8 #124
func TestRedirectFromTLS(t *testing.T) {
	r := ocitest.NewTLS(t)
	r.Hook = func(w http.ResponseWriter, req *http.Request) bool {
		http.Redirect(w, req, "http://"+r.Host()+req.URL.Path, http.StatusTemporaryRedirect)
		return true
	}
	c, err := New(&Options{Transport: r.Server.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := get(t, c, ref(r, "1")); err == nil || !strings.Contains(err.Error(), "the registry redirects to http") {
		t.Errorf("got %v", err)
	}
}

// A registry may not send the password of another server, or have it sent there. security 2.8 #124
func TestLoginStays(t *testing.T) {
	r := registry(t)
	r.User, r.Password = "user", "secret"
	var seen atomic.Value
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if a := req.Header.Get("Authorization"); a != "" {
			seen.Store(a)
		}
		w.WriteHeader(http.StatusCreated)
	}))
	defer other.Close()
	login := Options{Credential: func(_ context.Context, registry string) (Credential, error) {
		if registry != r.Host() {
			t.Errorf("asked for %s", registry)
		}
		return Credential{User: "user", Password: "secret"}, nil
	}}
	r.Hook = func(w http.ResponseWriter, req *http.Request) bool {
		if req.Method != http.MethodPost || req.Header.Get("Authorization") == "" {
			return false
		}
		w.Header().Set("Location", other.URL+"/upload")
		w.WriteHeader(http.StatusAccepted)
		return true
	}
	changed := pdf()
	changed.Version = "2"
	_, err := client(t, login).Push(t.Context(), &PushRequest{To: ref(r, "2"), Skills: []Skill{changed}})
	if a := seen.Load(); a != nil {
		t.Errorf("another server has seen %v (%v)", a, err)
	}
	if err == nil || !strings.Contains(err.Error(), "different host") {
		t.Errorf("an upload to another server: %v", err)
	}
}

// patiently runs a check with a time that should do, and with longer ones if it does not: other programs keep the machine busy.
func patiently(t *testing.T, d time.Duration, check func(time.Duration) error) {
	t.Helper()
	for {
		err := check(d)
		if err == nil {
			return
		}
		if d > 20*time.Second {
			t.Fatal(err)
		}
		d *= 5
	}
}

// security 2.8 #125
func TestSlowRegistry(t *testing.T) {
	r := registry(t)
	r.Hook = func(w http.ResponseWriter, req *http.Request) bool {
		if !isBlob(req) {
			return false
		}
		for req.Context().Err() == nil { // a byte now and then, for ever
			w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
		return true
	}
	if _, _, err := get(t, client(t, Options{timeout: 300 * time.Millisecond}), ref(r, "1")); err == nil {
		t.Error("an endless layer is accepted")
	}
	r.Hook = func(w http.ResponseWriter, req *http.Request) bool { // nothing at all
		if isBlob(req) {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-req.Context().Done()
		}
		return isBlob(req)
	}
	patiently(t, 200*time.Millisecond, func(idle time.Duration) error {
		_, _, err := get(t, client(t, Options{idle: idle}), ref(r, "1"))
		if err == nil || !strings.Contains(err.Error(), "nothing has come for "+idle.String()) {
			return fmt.Errorf("from a silent registry: %v", err)
		}
		return nil
	})
	var asked atomic.Int64
	r.Hook = func(_ http.ResponseWriter, req *http.Request) bool { // no answer
		asked.Add(1)
		<-req.Context().Done()
		return true
	}
	if _, _, err := get(t, client(t, Options{idle: 100 * time.Millisecond}), ref(r, "1")); !errors.Is(err, ErrNetwork) || asked.Load() > 1 {
		t.Errorf("a registry that does not answer was asked %d times: %v", asked.Load(), err)
	}
	var pause atomic.Int64
	r.Hook = func(w http.ResponseWriter, req *http.Request) bool { // slow, but something comes
		if !isBlob(req) {
			return false
		}
		content := r.Blob(req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:])
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		for part := range slices.Chunk(content, len(content)/10+1) {
			w.Write(part)
			w.(http.Flusher).Flush()
			time.Sleep(time.Duration(pause.Load()))
		}
		return true
	}
	patiently(t, 300*time.Millisecond, func(idle time.Duration) error {
		pause.Store(int64(idle / 6)) // all of it takes longer than idle
		_, _, err := get(t, client(t, Options{idle: idle}), ref(r, "1"))
		return err
	})
	r.Hook = func(w http.ResponseWriter, req *http.Request) bool { // compressed on the way, to unpack to far more
		if isBlob(req) && req.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("compression is asked for: %q", req.Header.Get("Accept-Encoding"))
		}
		return false
	}
	if _, _, err := get(t, client(t, Options{}), ref(r, "1")); err != nil {
		t.Error(err)
	}
}

// Certificates that nobody vouches for, and http to other machines. security 2.8 #126
func TestTLS(t *testing.T) {
	r := ocitest.NewTLS(t)
	r.Server.Config.ErrorLog = nil
	c, err := New(&Options{Transport: http.DefaultTransport})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := get(t, c, ref(r, "1")); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of nobody: %v", err)
	}
	good, err := New(&Options{Transport: r.Server.Client().Transport, UserAgent: "agent-base/test"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := good.Push(t.Context(), &PushRequest{To: ref(r, "1"), Skills: []Skill{pdf()}}); err != nil {
		t.Errorf("over https: %v", err)
	}
	plain := registry(t)
	if _, _, err := get(t, c, ref(plain, "1")); err == nil || !strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		t.Errorf("http that nobody allowed: %v", err)
	}
	for host, want := range map[string]bool{"localhost": true, "localhost:5000": true, "127.0.0.1": true, "127.1.2.3:80": true, "[::1]:5000": true, "[::1]": true,
		"example.com": false, "10.0.0.1:5000": false, "localhost.example.com": false, "127.0.0.1.example.com": false, "": false, ":5000": false} {
		if loopback(host) != want {
			t.Errorf("loopback(%q) is %v", host, !want)
		}
	}
}

// Errors that pass: a registry that is busy is asked again.
func TestRetry(t *testing.T) {
	r := registry(t)
	var n atomic.Int32
	r.Hook = func(w http.ResponseWriter, req *http.Request) bool {
		if n.Add(1)%2 == 0 {
			return false
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	if _, _, err := get(t, client(t, Options{}), ref(r, "1")); err != nil {
		t.Error(err)
	}
	r.Hook = func(w http.ResponseWriter, req *http.Request) bool {
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, `{"errors":[{"code":"X","message":%q}]}`, strings.Repeat("x", 5000))
		return true
	}
	if _, _, err := get(t, client(t, Options{}), ref(r, "1")); err == nil || !strings.Contains(err.Error(), "it answers 418 I'm a teapot: xxx") || len(err.Error()) > 400 {
		t.Errorf("got %v", err)
	}
}

func TestLogin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	write := func(format string, args ...any) {
		t.Helper()
		if err := os.WriteFile(file, fmt.Appendf(nil, format, args...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := base64.StdEncoding.EncodeToString([]byte("user:secret"))
	bad := base64.StdEncoding.EncodeToString([]byte("user:wrong"))
	for _, token := range []bool{false, true} {
		r := registry(t)
		r.User, r.Password, r.Token = "user", "secret", token
		c := client(t, Options{Credential: DockerCredentials(file)})
		for _, test := range []struct {
			config string
			is     error
			want   string
		}{
			{fmt.Sprintf(`{"auths":{"%s":{"auth":"%s"}}}`, r.Host(), good), nil, ""},
			{fmt.Sprintf(`{"auths":{"https://%s/v2/":{"username":"user","password":"secret"}}}`, r.Host()), nil, ""},
			{fmt.Sprintf(`{"auths":{"%s":{"auth":"%s"}}}`, r.Host(), bad), errAuthentication, "401"},
			{fmt.Sprintf(`{"auths":{"example.com":{"auth":"%s"}}}`, good), errAuthentication, ""},
			{`{}`, errAuthentication, ""},
			{fmt.Sprintf(`{"auths":{"%s":{"auth":"x"}}}`, r.Host()), nil, "is not base64 of a user and a password"},
			{`{"auths": "secret"}`, nil, "is not the JSON of Docker's configuration"},
			{fmt.Sprintf(`{"auths":{"%s":{}},"credsStore":"desktop"}`, r.Host()), errAuthentication, "is kept by docker-credential-desktop, which is not run"},
			{fmt.Sprintf(`{"credHelpers":{"%s":"evil"}}`, r.Host()), errAuthentication, "docker-credential-evil"},
			{strings.Repeat(" ", maxCredentials+1), nil, "more than 1048576 bytes"},
		} {
			write("%s", test.config)
			_, _, err := get(t, c, ref(r, "1"))
			if test.want == "" && test.is == nil {
				if err != nil {
					t.Errorf("token %v, %.90s: %v", token, test.config, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) || strings.Contains(err.Error(), "secret") {
				t.Errorf("token %v, %.90s: got %v, want %v %q", token, test.config, err, test.is, test.want)
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if _, _, err := get(t, c, ref(r, "1")); !errors.Is(err, errAuthentication) {
			t.Errorf("without the file: %v", err)
		}
	}
}

func TestHelper(t *testing.T) {
	r := registry(t)
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, fmt.Appendf(nil, `{"credHelpers":{"%s":"vault"}}`, r.Host()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := get(t, client(t, Options{Credential: DockerCredentials(file)}), ref(r, "1")); err != nil {
		t.Errorf("a public artifact, without the helper: %v", err)
	}
	r.User, r.Password = "user", "secret"
	r.Hook = func(w http.ResponseWriter, req *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	}
	if _, _, err := get(t, client(t, Options{}), ref(r, "1")); !errors.Is(err, errDenied) {
		t.Errorf("got %v", err)
	}
}

// Two registries with the same name of a skill are two sources: what was got is known by its registry. security 2.8 #128
func TestOriginNamesRegistry(t *testing.T) {
	one, two := registry(t), registry(t)
	c := client(t, Options{})
	_, first, err := get(t, c, ref(one, "1"))
	if err != nil {
		t.Fatal(err)
	}
	_, second, err := get(t, c, ref(two, "1"))
	if err != nil {
		t.Fatal(err)
	}
	if first.URL == second.URL || first.Source == second.Source || first.Commit != second.Commit {
		t.Errorf("%+v\n%+v", first, second)
	}
}
