package cli_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-base/agent-base/internal/test/pythontest"
)

// packageIndex starts an index of Python packages whose files lie on another host: dep, pywin32 with the module win32api, and sourceonly, which has no wheel. It
// makes it uv's index, and sets FILES_HOST to the other host and AGENT_UV to a real uv.
func packageIndex(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: packageindex")
	}
	dir := filepath.Join(ts.Getenv("WORK"), ".wheels")
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(pythontest.Wheel(dir, "dep", "1.0", map[string]string{"dep.py": "version = '1.0'\n"}))
	ts.Check(pythontest.Wheel(dir, "pywin32", "6.0", map[string]string{"win32api.py": "version = '6.0'\n"}))
	ts.Check(sourceOnly(dir))
	uv, err := pythontest.UV()
	ts.Check(err)
	files := httptest.NewServer(http.FileServer(http.Dir(dir)))
	links := map[string]string{}
	list, err := os.ReadDir(dir)
	ts.Check(err)
	for _, f := range list {
		content, err := os.ReadFile(filepath.Join(dir, f.Name()))
		ts.Check(err)
		name, _, _ := strings.Cut(f.Name(), "-")
		links["/simple/"+name+"/"] = fmt.Sprintf("<!DOCTYPE html><a href=\"%s/%s#sha256=%x\">%[2]s</a>", files.URL, f.Name(), sha256.Sum256(content))
	}
	index := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		link, ok := links[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, link)
	}))
	ts.Defer(files.Close)
	ts.Defer(index.Close)
	ts.Setenv("UV_DEFAULT_INDEX", index.URL+"/simple")
	ts.Setenv("UV_HTTP_RETRIES", "0")
	ts.Setenv("AGENT_UV", uv)
	ts.Setenv("FILES_HOST", strings.TrimPrefix(files.URL, "http://"))
}

// sourceOnly writes the source of the package sourceonly, which builds itself.
func sourceOnly(dir string) error {
	const metadata = "Metadata-Version: 2.1\nName: sourceonly\nVersion: 2.0\n"
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range [][2]string{
		{"PKG-INFO", metadata},
		{"pyproject.toml", "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n[project]\nname = 'sourceonly'\nversion = '2.0'\n"},
		{"backend.py", `import os, zipfile
def build_wheel(to, config_settings=None, metadata_directory=None):
    name = "sourceonly-2.0-py3-none-any.whl"
    info = "sourceonly-2.0.dist-info/"
    with zipfile.ZipFile(os.path.join(to, name), "w") as z:
        z.writestr("sourceonly.py", "version = '2.0'\n")
        z.write("PKG-INFO", info + "METADATA")
        z.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(info + "RECORD", "sourceonly.py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n")
    return name
`},
	} {
		if err := w.WriteHeader(&tar.Header{Name: "sourceonly-2.0/" + f[0], Mode: 0o644, Size: int64(len(f[1]))}); err != nil {
			return err
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "sourceonly-2.0.tar.gz"), b.Bytes(), 0o644)
}
