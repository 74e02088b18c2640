package oci

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/fetch"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/test/ocitest"
)

// With the transport of package fetch, a registry at an address of this machine or its network is reached only if the user named
// it, and none can redirect there. security 2.8 #124
func TestPrivateAddresses(t *testing.T) {
	r, inside := ocitest.NewTLS(t), ocitest.NewTLS(t)
	roots := x509.NewCertPool()
	roots.AddCert(r.Server.Certificate())
	careful := func(private ...string) *Client {
		t.Helper()
		http, err := fetch.Client(&fetch.HTTPOptions{RootCAs: roots, Private: private})
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(&Options{Transport: http.Transport})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if _, err := careful(r.Host()).Push(t.Context(), &PushRequest{To: ref(r, "1"), Skills: []Skill{pdf()}}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := get(t, careful(r.Host()), ref(r, "1")); err != nil {
		t.Errorf("a registry that the user named: %v", err)
	}
	if _, _, err := get(t, careful(), ref(r, "1")); !errors.Is(err, fetch.ErrPrivate) {
		t.Errorf("a registry on this machine: %v", err)
	}
	r.Hook = func(w http.ResponseWriter, req *http.Request) bool {
		if isBlob(req) {
			http.Redirect(w, req, inside.Server.URL+req.URL.Path, http.StatusTemporaryRedirect)
		}
		return isBlob(req)
	}
	if _, _, err := get(t, careful(r.Host()), ref(r, "1")); !errors.Is(err, fetch.ErrPrivate) {
		t.Errorf("a redirect to this machine: %v", err)
	}
	if log := inside.Log(); len(log) > 0 {
		t.Errorf("it was asked: %v", log)
	}
}

// attacks-two L13: a registry can name any host as the one that gives its tokens, as with Docker. The user hears which host gets the
// password, once; nobody gets it by http on another machine.
func TestPasswordElsewhere(t *testing.T) {
	for _, tt := range []struct{ realm, want string }{
		{"https://tokens.example.net/t", "registry.example.com tokens.example.net"},
		{"https://registry.example.com/t", ""},
		{"http://tokens.example.net/t", ""},
	} {
		var passed, got []string
		answer := roundTripper(func(req *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			user, _, ok := req.BasicAuth()
			switch {
			case req.URL.Path == "/t" && ok:
				got = append(got, req.URL.Host+" "+user)
				_, _ = io.WriteString(w, `{"token":"abc"}`)
			case req.Header.Get("Authorization") == "":
				w.Header().Set("WWW-Authenticate", `Bearer realm="`+tt.realm+`",service="s",scope="repository:x:pull"`)
				w.WriteHeader(http.StatusUnauthorized)
			default:
				w.WriteHeader(http.StatusNotFound)
			}
			res := w.Result()
			res.Request = req
			return res, nil
		})
		c, err := New(&Options{Transport: answer,
			Credential: func(context.Context, string) (Credential, error) { return Credential{User: "ada", Password: "p"}, nil },
			Passed:     func(registry, host string) { passed = append(passed, registry+" "+host) }})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err = c.Fetch(t.Context(), &install.Request{Source: source.Ref{Kind: source.OCI, URL: "registry.example.com/x"}, Dir: t.TempDir()})
			if err == nil {
				t.Error("there is something at the registry")
			}
		}
		if strings.HasPrefix(tt.realm, "https:") != (len(got) > 0) {
			t.Errorf("%s: the password went to %q, %v", tt.realm, got, err)
		}
		slices.Sort(passed)
		if strings.Join(slices.Compact(passed), ", ") != tt.want {
			t.Errorf("%s: got %q", tt.realm, passed)
		}
	}
}
