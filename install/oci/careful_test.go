package oci

import (
	"crypto/x509"
	"errors"
	"net/http"
	"testing"

	"github.com/agent-base/agent-base/install/fetch"
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
