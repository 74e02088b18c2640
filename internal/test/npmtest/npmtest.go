// Package npmtest is a registry of npm packages for tests. It serves files from memory at an address of this machine. Its
// methods are safe for concurrent use.
package npmtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// Registry serves packages. Close ends it.
type Registry struct {
	*httptest.Server

	mu       sync.Mutex
	files    map[string][]byte         // by path
	versions map[string]map[string]any // by name and version
	asked    int
}

// New starts a registry without packages.
func New() *Registry {
	r := unstarted()
	r.Start()
	return r
}

// NewTLS is New for a registry whose certificate no machine knows: it is that of Registry.Certificate.
func NewTLS() *Registry {
	r := unstarted()
	r.Config.ErrorLog = log.New(io.Discard, "", 0) // who refuses the certificate is no fault
	r.StartTLS()
	return r
}

func unstarted() *Registry {
	r := &Registry{files: map[string][]byte{}, versions: map[string]map[string]any{}}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		b, ok := r.files[strings.ReplaceAll(req.URL.Path, "%2f", "/")]
		r.asked++
		r.mu.Unlock()
		if !ok {
			http.NotFound(w, req)
			return
		}
		_, _ = w.Write(b)
	}))
	return r
}

// Publish adds a package, such as a@1.0.0 or @s/a@1.0.0, and returns its integrity. It has a package.json and a module
// that is its own name and version, unless the files replace them. npm can choose among the versions, of which the latest is
// that which was published last.
func (r *Registry) Publish(id string, files map[string]string) string {
	name, version := split(id)
	all := map[string]string{"package.json": fmt.Sprintf(`{"name":%q,"version":%q}`, name, version), "index.js": fmt.Sprintf("module.exports = %q", id)}
	maps.Copy(all, files)
	var entries []Entry
	for _, f := range slices.Sorted(maps.Keys(all)) {
		entries = append(entries, Entry{tar.Header{Name: "package/" + f, Typeflag: tar.TypeReg}, all[f]})
	}
	integrity := r.Put(id, Pack(entries...))
	one := map[string]any{}
	_ = json.Unmarshal([]byte(all["package.json"]), &one)
	one["name"], one["version"] = name, version
	one["dist"] = map[string]string{"integrity": integrity, "tarball": r.URL + file(name, version)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.versions[name] == nil {
		r.versions[name] = map[string]any{}
	}
	r.versions[name][version] = one
	r.files["/"+name], _ = json.Marshal(map[string]any{"name": name, "dist-tags": map[string]string{"latest": version}, "versions": r.versions[name]})
	return integrity
}

// file returns the path of a package's file.
func file(name, version string) string {
	return "/" + name + "/-/" + name[strings.LastIndexByte(name, '/')+1:] + "-" + version + ".tgz"
}

// Put adds the file of a package and returns its integrity.
func (r *Registry) Put(id string, b []byte) string {
	name, version := split(id)
	r.Serve(file(name, version), b)
	return Integrity(b)
}

// Serve adds any file, by its path.
func (r *Registry) Serve(path string, b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[path] = b
}

// Clear removes all files.
func (r *Registry) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.files)
}

// Requests returns how many requests there were.
func (r *Registry) Requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// Entry is one entry of a package's file.
type Entry struct {
	tar.Header
	Text string
}

// Pack returns the file of a package with these entries.
func Pack(entries ...Entry) []byte {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	for _, e := range entries {
		e.Size = int64(len(e.Text))
		if e.Mode == 0 {
			e.Mode = 0o644
		}
		_ = w.WriteHeader(&e.Header)
		_, _ = w.Write([]byte(e.Text))
	}
	_ = w.Close()
	_ = zip.Close()
	return b.Bytes()
}

// Integrity returns the checksum of a file as a lock has it.
func Integrity(b []byte) string {
	sum := sha512.Sum512(b)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Lock returns a package-lock.json for a package with these dependencies and packages by their places. Each package is the
// entry of a lock, or an integrity of version 1.0.0.
func Lock(dependencies map[string]string, packages map[string]any) string {
	all := map[string]any{"": map[string]any{"dependencies": dependencies}}
	for place, entry := range packages {
		if integrity, ok := entry.(string); ok {
			entry = map[string]string{"version": "1.0.0", "integrity": integrity}
		}
		all[place] = entry
	}
	b, _ := json.Marshal(map[string]any{"lockfileVersion": 3, "packages": all})
	return string(b)
}

func split(id string) (name, version string) {
	at := strings.LastIndexByte(id, '@')
	return id[:at], id[at+1:]
}
