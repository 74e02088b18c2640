package cli_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/gittest"
	"github.com/agent-base/agent-base/internal/test/npmtest"
	"github.com/agent-base/agent-base/internal/test/pythontest"
	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// registries stands in for registries of packages behind the operator's proxy.
type registries struct {
	proxy string
	ca    []byte            // PEM
	files map[string][]byte // by HOST/PATH
	repo  string            // a bare repository, which each host has at /repo.git
}

// newRegistries serves the package tiny of every kind. The names of the hosts end in example.com, which no resolver knows: then the operator's
// proxy finds them.
func newRegistries(t *testing.T) *registries {
	r := &registries{files: map[string][]byte{}}
	s := httptest.NewUnstartedServer(r)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{r.certificate(t)}}
	s.StartTLS()
	t.Cleanup(s.Close)
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { tunnel(w, s.Listener.Addr().String()) }))
	t.Cleanup(p.Close)
	r.proxy = p.URL
	return r
}

// certificate makes an authority and the certificate of all hosts.
func (r *registries) certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(serial int64, of, by *x509.Certificate) []byte {
		of.SerialNumber, of.Subject = big.NewInt(serial), pkix.Name{CommonName: fmt.Sprint("test ", serial)}
		of.NotBefore, of.NotAfter, of.BasicConstraintsValid = time.Now().Add(-time.Hour), time.Now().Add(time.Hour), true
		der, err := x509.CreateCertificate(rand.Reader, of, by, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	ca := &x509.Certificate{IsCA: true, KeyUsage: x509.KeyUsageCertSign}
	r.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: sign(1, ca, ca)})
	leaf := &x509.Certificate{KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"*.example.com", "pypi.org", "files.pythonhosted.org", "registry.npmjs.org", "index.crates.io", "static.crates.io", "github.com", "proxy.golang.org"}}
	return tls.Certificate{Certificate: [][]byte{sign(2, leaf, ca)}, PrivateKey: key}
}

func (r *registries) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if path, ok := strings.CutPrefix(q.URL.Path, "/repo.git/"); ok {
		http.ServeFile(w, q, filepath.Join(r.repo, filepath.FromSlash(path)))
		return
	}
	b, ok := r.files[q.Host+strings.ToLower(q.URL.Path)]
	if !ok {
		http.NotFound(w, q)
		return
	}
	if strings.HasSuffix(q.URL.Path, "/") {
		w.Header().Set("Content-Type", "text/html")
	}
	_, _ = w.Write(b)
}

// manager is a package manager in the sandbox.
type manager struct {
	program string
	command string   // prints "worked"
	hosts   []string // that it asks for
}

// managers returns those that this machine has, and serves what they want.
func (r *registries) managers(t *testing.T, real bool) []manager {
	t.Helper()
	name := func(test, known string) string {
		if real {
			return known
		}
		return test + ".example.com"
	}
	pypi, files, npm, index, crates, git, proxy := name("pypi", "pypi.org"), name("files", "files.pythonhosted.org"), name("npm", "registry.npmjs.org"),
		name("index", "index.crates.io"), name("crates", "static.crates.io"), name("git", "github.com"), name("go", "proxy.golang.org")
	r.python(t, pypi, files)
	tgz := npmtest.Pack(entry("package/package.json", `{"name":"tiny","version":"1.0.0"}`))
	r.files[npm+"/tiny"] = document(map[string]any{"name": "tiny", "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": map[string]any{"1.0.0": map[string]any{
		"name": "tiny", "version": "1.0.0", "dist": map[string]string{"tarball": "https://" + npm + "/tiny/-/tiny-1.0.0.tgz", "integrity": npmtest.Integrity(tgz)}}}})
	r.files[npm+"/tiny/-/tiny-1.0.0.tgz"] = tgz
	crate := npmtest.Pack(entry("tiny-1.0.0/Cargo.toml", "[package]\nname = \"tiny\"\nversion = \"1.0.0\"\n"), entry("tiny-1.0.0/src/lib.rs", "pub fn f() {}\n"))
	r.files[index+"/config.json"] = document(map[string]string{"dl": "https://" + crates + "/crates"})
	r.files[index+"/ti/ny/tiny"] = document(map[string]any{"name": "tiny", "vers": "1.0.0", "deps": []any{}, "features": map[string]any{}, "cksum": sum(crate), "yanked": false})
	r.files[crates+"/crates/tiny/1.0.0/download"] = crate
	r.module(t, proxy)
	repo := gittest.New(t)
	repo.Commit(map[string]string{"a.txt": "a"})
	r.repo = filepath.Join(t.TempDir(), "repo.git")
	repo.Git("clone", "-q", "--bare", repo.Dir, r.repo)
	repo.Git("--git-dir", r.repo, "update-server-info")
	all := []manager{
		{"pip", "$(python3 -c 'import sys; print(sys.executable)') -m pip install -q --no-cache-dir --disable-pip-version-check --cert $PWD/ca.pem --target pip-out --index-url https://" + pypi + "/simple tiny && test -f pip-out/tiny.py", []string{pypi, files}},
		{"uv", "uv venv -q && SSL_CERT_FILE=$PWD/ca.pem uv pip install -q --no-cache --no-config --index-url https://" + pypi + "/simple tiny && .venv/bin/python -c 'import tiny'", []string{pypi, files}},
		{"npm", "NODE_EXTRA_CA_CERTS=$PWD/ca.pem npm install --silent --no-audit --no-fund --prefix npm-out --registry https://" + npm + " tiny && test -d npm-out/node_modules/tiny", []string{npm}},
		{"cargo", "cd crate && CARGO_HTTP_CAINFO=$PWD/../ca.pem cargo build -q && ls target/debug/libuses.rlib", []string{index, crates}},
		{"git", "git -c http.sslCAInfo=$PWD/ca.pem fetch -q https://" + git + "/repo.git HEAD && git show FETCH_HEAD:a.txt", []string{git}},
		{"go", "cd module && SSL_CERT_FILE=$PWD/../ca.pem GOPROXY=https://" + proxy + " GONOSUMDB=* GOFLAGS=-mod=mod go get example.com/tiny@v1.0.0 && grep tiny go.mod", []string{proxy}},
	}
	var here []manager
	for _, m := range all {
		if _, err := exec.LookPath(m.program); err != nil {
			t.Logf("%s is missing", m.program)
			continue
		}
		m.command += " && echo worked"
		here = append(here, m)
	}
	return here
}

// python serves a wheel.
func (r *registries) python(t *testing.T, index, files string) {
	t.Helper()
	dir := t.TempDir()
	if err := pythontest.Wheel(dir, "tiny", "1.0", map[string]string{"tiny.py": "x = 1\n"}); err != nil {
		t.Fatal(err)
	}
	wheel, err := os.ReadFile(filepath.Join(dir, "tiny-1.0-py3-none-any.whl"))
	if err != nil {
		t.Fatal(err)
	}
	r.files[index+"/simple/tiny/"] = fmt.Appendf(nil, "<!DOCTYPE html><a href=\"https://%s/tiny-1.0-py3-none-any.whl#sha256=%s\">tiny-1.0-py3-none-any.whl</a>", files, sum(wheel))
	r.files[files+"/tiny-1.0-py3-none-any.whl"] = wheel
}

// module serves a module of Go.
func (r *registries) module(t *testing.T, proxy string) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{"go.mod": "module example.com/tiny\n", "tiny.go": "package tiny\n"} {
		f, err := z.Create("example.com/tiny@v1.0.0/" + name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte(text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	at := proxy + "/example.com/tiny/@v/v1.0.0."
	r.files[at+"info"], r.files[at+"mod"], r.files[at+"zip"] = []byte(`{"Version":"v1.0.0"}`), []byte("module example.com/tiny\n"), b.Bytes()
}

func entry(name, text string) npmtest.Entry {
	return npmtest.Entry{Header: tar.Header{Name: name}, Text: text}
}

func document(v any) []byte {
	b, _ := json.Marshal(v) // maps of strings always have a form
	return append(b, '\n')
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// Package managers wait for the answer about their hosts, and then work. By hand, AGENT_TEST_ANSWER_AFTER=20s lets them wait longer, and
// AGENT_TEST_REAL_REGISTRIES=1 uses the names of the public registries, about which there is one question; they must not resolve then.
func TestPackageManagersWait(t *testing.T) {
	real, slow := os.Getenv("AGENT_TEST_REAL_REGISTRIES") != "", time.Duration(0)
	if text := os.Getenv("AGENT_TEST_ANSWER_AFTER"); text != "" {
		slow, _ = time.ParseDuration(text)
	}
	r := newRegistries(t)
	managers := r.managers(t, real)
	var steps []fakemodel.Step
	for _, m := range managers {
		steps = append(steps, callStep("bash", string(document(map[string]any{"command": m.command, "write": true, "timeout_ms": 300_000}))))
	}
	s := fakemodel.New(t, append(steps, fakemodel.Step{Text: "All done."})...)
	w := newWorld(t, append(s.Env(), "HTTPS_PROXY="+r.proxy)...)
	w.write("work/ca.pem", string(r.ca))
	w.write("work/module/go.mod", "module example.com/uses\n")
	w.write("work/crate/Cargo.toml", "[package]\nname = \"uses\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ntiny = \"1\"\n")
	w.write("work/crate/src/lib.rs", "pub use tiny::f;\n")
	if !real {
		w.write("work/crate/.cargo/config.toml", "[source.crates-io]\nreplace-with = \"standin\"\n[source.standin]\nregistry = \"sparse+https://index.example.com/\"\n")
	}
	if err := os.RemoveAll(filepath.Join(w.project, ".git")); err != nil {
		t.Fatal(err)
	}
	gittest.At(t, w.project).Git("init", "-q")
	k := w.sit("--mode", "accept-edits")
	k.press("go\r")
	for i, m := range managers {
		hosts := m.hosts
		if real {
			hosts = hosts[:1] // one answer is about all registries
		}
		for _, host := range hosts {
			k.until(host, func() bool { return strings.Contains(k.seen, "reach "+host) || len(s.Requests()) > i+1 })
			if len(s.Requests()) > i+1 {
				break
			}
			k.sees("Press y")
			time.Sleep(slow)
			k.answers("y")
		}
		k.until(m.program, func() bool { return len(s.Requests()) > i+1 })
		t.Logf("%s: %s", m.program, s.Requests()[i+1].LastResult())
	}
	k.sees("All done.")
	k.leaves()
	for i, m := range managers {
		if got := s.Requests()[i+1].LastResult(); !strings.Contains(got, `worked\n`) {
			t.Errorf("%s: %s", m.program, got)
		}
	}
}
