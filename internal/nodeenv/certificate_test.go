package nodeenv

import (
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/npmtest"
)

// The error about a registry with a certificate that nobody knows says what to do. With the cafile of the user's npm
// settings it is a registry as any other.
func TestCertificates(t *testing.T) {
	r := &registry{npmtest.NewTLS(), t}
	t.Cleanup(r.Close)
	sum := r.Publish("a@1.2.0", nil)
	deps := map[string]string{"a": "1"}
	locked := project(skill(deps, files{"package-lock.json": npmtest.Lock(deps, m{"node_modules/a": m{"version": "1.2.0", "integrity": sum}})}))
	home := t.TempDir()
	good, bad := filepath.Join(home, "ca.pem"), filepath.Join(home, "empty.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw})
	if err := errors.Join(os.WriteFile(good, certificate, 0o600), os.WriteFile(bad, []byte("none"), 0o600)); err != nil {
		t.Fatal(err)
	}
	store := func(npmrc string, env ...string) *Store {
		return r.store(func(o *Options) { o.NPMRC, o.Env = []byte(npmrc), append(o.Env, append(env, "HOME="+home)...) })
	}
	for npmrc, want := range map[string]string{
		"cafile=" + bad: "has no certificate", "cafile=ca.pem": "not an absolute path", "cafile=" + home + "/none": "cannot be read", "cafile=" + home: "not a regular file",
	} {
		s := store(npmrc)
		s.o.LookPath = only("npm")
		if _, err := s.Prepare(t.Context(), locked, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", npmrc, err, want)
		}
	}
	for name, s := range map[string]*Store{
		"absolute": store("cafile=" + good), "quoted": store("cafile = \"~/ca.pem\""), "variable": store("cafile=${HOME}/ca.pem"),
		"environment": store("cafile=/none", "npm_config_cafile="+good),
	} {
		if b, err := s.from.authorities(); err != nil || string(b) != string(certificate) {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	needManager(t, "npm")
	_, err := store("").Prepare(t.Context(), locked, nil)
	if failure(t, err, ReasonDependencies, "npm failed", "SSL_CERT_FILE", "cafile"); !errors.Is(err, errCertificate) {
		t.Errorf("got %v", err)
	}
	for name, c := range map[string]struct {
		s *Store
		p *Project
	}{"locked": {store("cafile=" + good), locked}, "chosen": {store("", "SSL_CERT_FILE="+good), project(skill(deps, nil))}} {
		if got, err := c.s.Prepare(t.Context(), c.p, nil); err != nil || len(got.Packages) != 1 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
