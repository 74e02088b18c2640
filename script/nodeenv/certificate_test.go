package nodeenv

import (
	"context"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agent-base/agent-base/internal/test/npmtest"
)

// A registry with a certificate that nobody knows is asked once, and the error says what to do. With the cafile of the user's npm
// settings it is a registry as any other.
func TestCertificates(t *testing.T) {
	r := &registry{npmtest.NewTLS(), t}
	t.Cleanup(r.Close)
	var connections atomic.Int32
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		connections.Add(1)
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	sum := r.Publish("a@1.2.0", nil)
	deps := map[string]string{"a": "1"}
	f := project(skill(deps, files{"package-lock.json": npmtest.Lock(deps, m{"node_modules/a": m{"version": "1.2.0", "integrity": sum}})}))
	home := t.TempDir()
	good, bad := filepath.Join(home, "ca.pem"), filepath.Join(home, "empty.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw})
	if err := errors.Join(os.WriteFile(good, certificate, 0o600), os.WriteFile(bad, []byte("none"), 0o600)); err != nil {
		t.Fatal(err)
	}
	store := func(npmrc string, env ...string) *Store {
		return r.store(func(o *Options) {
			o.NPMRC, o.Env = []byte(npmrc), append(o.Env, append(env, "HOME="+home)...)
			o.Transport = &http.Transport{DialContext: dial}
		})
	}
	_, err := store("").Prepare(t.Context(), f, nil)
	failure(t, err, ReasonDependencies, "certificate", "SSL_CERT_FILE", "cafile")
	if !errors.Is(err, ErrCertificate) || connections.Load() != 1 {
		t.Errorf("%d connections: %v", connections.Load(), err)
	}
	for name, s := range map[string]*Store{
		"absolute": store("cafile=" + good), "quoted": store("cafile = \"~/ca.pem\""), "variable": store("cafile=${HOME}/ca.pem"),
		"environment": store("cafile=/none", "npm_config_cafile="+good),
	} {
		if got, err := s.Prepare(t.Context(), f, nil); err != nil || len(got.Packages) != 1 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for npmrc, want := range map[string]string{
		"cafile=" + bad: "has no certificate", "cafile=ca.pem": "not an absolute path", "cafile=" + home + "/none": "cannot be read", "cafile=" + home: "not a regular file",
	} {
		if _, err := store(npmrc).Prepare(t.Context(), f, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", npmrc, err, want)
		}
	}

	if _, err := exec.LookPath("npm"); err != nil {
		t.Skipf("npm is not installed, so it is not asked to choose: %v", err)
	}
	f = project(skill(deps, nil))
	_, err = store("").Prepare(t.Context(), f, nil)
	if failure(t, err, ReasonDependencies, "npm failed", "SSL_CERT_FILE"); !errors.Is(err, ErrCertificate) {
		t.Errorf("got %v", err)
	}
	if got, err := store("cafile="+good).Prepare(t.Context(), f, nil); err != nil || len(got.Packages) != 1 {
		t.Errorf("npm with the cafile: %+v, %v", got, err)
	}
}
