// Package ocitest is an OCI registry in memory, for tests: it takes and serves manifests, blobs and tags by the distribution API
// version 2. It keeps what it gets, checks digests, and answers nothing that a test has not asked for.
package ocitest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Registry is a registry. Its methods may be called at the same time.
type Registry struct {
	Server *httptest.Server

	// User and Password are asked for if they are not "": as basic authentication, or with Token by a bearer token that
	// the registry gives for them.
	User, Password string
	Token          bool

	// Hook may answer a request instead of the registry: it then returns true. It is set before the first request.
	Hook func(http.ResponseWriter, *http.Request) bool

	mu        sync.Mutex
	blobs     map[string][]byte   // by digest
	manifests map[string]manifest // by "repository@digest" and "repository:tag"
	uploads   int
	log       []string
}

type manifest struct {
	media   string
	content []byte
}

// New starts a registry over http. It ends with the test.
func New(t testing.TB) *Registry {
	t.Helper()
	r := Start()
	t.Cleanup(r.Server.Close)
	return r
}

// Start is New without a test: the caller closes the Server.
func Start() *Registry {
	r := &Registry{blobs: map[string][]byte{}, manifests: map[string]manifest{}}
	r.Server = httptest.NewServer(r)
	return r
}

// NewTLS is New over https, with the certificate of package httptest.
func NewTLS(t testing.TB) *Registry {
	t.Helper()
	r := &Registry{blobs: map[string][]byte{}, manifests: map[string]manifest{}}
	r.Server = httptest.NewTLSServer(r)
	t.Cleanup(r.Server.Close)
	return r
}

// Host is the address of the registry, as it stands in a reference.
func (r *Registry) Host() string {
	return strings.TrimPrefix(strings.TrimPrefix(r.Server.URL, "https://"), "http://")
}

// Log lists the requests, such as "GET /v2/skills/pdf/manifests/latest".
func (r *Registry) Log() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.log)
}

// Digest returns the digest of a content.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// PutBlob stores a blob and returns its digest.
func (r *Registry) PutBlob(content []byte) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blobs[Digest(content)] = content
	return Digest(content)
}

// PutManifest stores a manifest under a repository, and under a tag of it unless that is "". It returns the digest.
func (r *Registry) PutManifest(repository, tag, media string, content []byte) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := manifest{media, content}
	r.manifests[repository+"@"+Digest(content)] = m
	if tag != "" {
		r.manifests[repository+":"+tag] = m
	}
	return Digest(content)
}

// Manifest returns a manifest by tag or digest, or nil.
func (r *Registry) Manifest(repository, reference string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.find(repository, reference).content
}

// Blob returns a blob, or nil.
func (r *Registry) Blob(digest string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.blobs[digest]
}

func (r *Registry) find(repository, reference string) manifest {
	if strings.Contains(reference, ":") {
		return r.manifests[repository+"@"+reference]
	}
	return r.manifests[repository+":"+reference]
}

var path = regexp.MustCompile(`^/v2/(.+)/(manifests|blobs/uploads|blobs|tags)/([^/]*)$`)

// ServeHTTP answers a request.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	r.log = append(r.log, req.Method+" "+req.URL.Path)
	r.mu.Unlock()
	if r.Hook != nil && r.Hook(w, req) {
		return
	}
	if req.URL.Path == "/token" {
		r.token(w, req)
		return
	}
	if !r.allowed(req) {
		challenge := `Basic realm="test"`
		if r.Token {
			challenge = fmt.Sprintf(`Bearer realm="%s/token",service="test",scope="repository:x:pull"`, r.Server.URL)
		}
		w.Header().Set("WWW-Authenticate", challenge)
		fail(w, http.StatusUnauthorized, "UNAUTHORIZED")
		return
	}
	m := path.FindStringSubmatch(req.URL.Path)
	if m == nil {
		if req.URL.Path != "/v2/" {
			fail(w, http.StatusNotFound, "NAME_UNKNOWN")
		}
		return
	}
	switch m[2] {
	case "manifests":
		r.manifest(w, req, m[1], m[3])
	case "blobs":
		r.blob(w, req, m[3])
	case "blobs/uploads":
		r.upload(w, req, m[1])
	case "tags":
		r.tags(w, m[1])
	}
}

func (r *Registry) allowed(req *http.Request) bool {
	if r.User == "" {
		return true
	}
	if r.Token {
		return req.Header.Get("Authorization") == "Bearer secret-token"
	}
	user, password, _ := req.BasicAuth()
	return user == r.User && password == r.Password
}

func (r *Registry) token(w http.ResponseWriter, req *http.Request) {
	if user, password, _ := req.BasicAuth(); user != r.User || password != r.Password {
		fail(w, http.StatusUnauthorized, "UNAUTHORIZED")
		return
	}
	json.NewEncoder(w).Encode(map[string]string{"token": "secret-token"})
}

func (r *Registry) manifest(w http.ResponseWriter, req *http.Request, repository, reference string) {
	if req.Method == http.MethodPut {
		content, _ := io.ReadAll(req.Body)
		tag := reference
		if strings.Contains(reference, ":") {
			if tag = ""; reference != Digest(content) {
				fail(w, http.StatusBadRequest, "DIGEST_INVALID")
				return
			}
		}
		digest := r.PutManifest(repository, tag, req.Header.Get("Content-Type"), content)
		w.Header().Set("Docker-Content-Digest", digest)
		w.Header().Set("Location", "/v2/"+repository+"/manifests/"+digest)
		w.WriteHeader(http.StatusCreated)
		return
	}
	r.mu.Lock()
	m := r.find(repository, reference)
	r.mu.Unlock()
	if m.content == nil {
		fail(w, http.StatusNotFound, "MANIFEST_UNKNOWN")
		return
	}
	w.Header().Set("Docker-Content-Digest", Digest(m.content))
	serve(w, req, m.media, m.content)
}

func (r *Registry) blob(w http.ResponseWriter, req *http.Request, digest string) {
	content := r.Blob(digest)
	if content == nil {
		fail(w, http.StatusNotFound, "BLOB_UNKNOWN")
		return
	}
	serve(w, req, "application/octet-stream", content)
}

// upload takes a blob: POST, and PUT with its content and digest.
func (r *Registry) upload(w http.ResponseWriter, req *http.Request, repository string) {
	if req.Method == http.MethodPost {
		r.mu.Lock()
		r.uploads++
		w.Header().Set("Location", fmt.Sprintf("/v2/%s/blobs/uploads/%d", repository, r.uploads))
		r.mu.Unlock()
		w.WriteHeader(http.StatusAccepted)
		return
	}
	content, _ := io.ReadAll(req.Body)
	if digest := Digest(content); req.Method != http.MethodPut || digest != req.URL.Query().Get("digest") {
		fail(w, http.StatusBadRequest, "DIGEST_INVALID")
		return
	}
	w.Header().Set("Docker-Content-Digest", r.PutBlob(content))
	w.WriteHeader(http.StatusCreated)
}

func (r *Registry) tags(w http.ResponseWriter, repository string) {
	tags := []string{}
	r.mu.Lock()
	for name := range r.manifests {
		if tag, ok := strings.CutPrefix(name, repository+":"); ok {
			tags = append(tags, tag)
		}
	}
	r.mu.Unlock()
	slices.Sort(tags)
	json.NewEncoder(w).Encode(map[string]any{"name": repository, "tags": tags})
}

func serve(w http.ResponseWriter, req *http.Request, media string, content []byte) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	if req.Method != http.MethodHead {
		w.Write(content)
	}
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]string{"code": code, "message": "as the test wants"}}})
}
