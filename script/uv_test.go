package script

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/pythontest"
)

func realUV(t testing.TB) string {
	t.Helper()
	path, err := pythontest.UV()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// wheel writes the wheel of a package to dir: its files and the metadata that make it one.
func wheel(t testing.TB, dir, name, version string, files tree) {
	t.Helper()
	info := name + "-" + version + ".dist-info/"
	all := tree{
		info + "METADATA": fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version),
		info + "WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
	}
	for file, content := range files {
		all[strings.ReplaceAll(file, "INFO/", info)] = content
	}
	var record strings.Builder
	for file, content := range all {
		sum := sha256.Sum256([]byte(content))
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", file, base64.RawURLEncoding.EncodeToString(sum[:]), len(content))
	}
	all[info+"RECORD"] = record.String() + info + "RECORD,,\n"
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for file, content := range all {
		f, err := z.Create(file)
		if err == nil {
			_, err = f.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%s-py3-none-any.whl", name, version)), b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// index is a folder of wheels, with one package "dep" of version 1.0 in it.
func index(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	wheel(t, dir, "dep", "1.0", tree{"dep/__init__.py": "VALUE = 'one'\n"})
	return dir
}

// uvHost is a host with a real uv that takes packages from the folder alone.
func uvHost(t testing.TB, packages string) *Host {
	t.Helper()
	uv := realUV(t)
	h := host(t)
	h.Env = append(h.Env, "UV_OFFLINE=1", "UV_FIND_LINKS="+packages)
	h.LookPath = func(name string) (string, error) {
		if name == "uv" {
			return uv, nil
		}
		return exec.LookPath(name)
	}
	return h
}

// needs is a script that depends on packages and prints what body makes it.
func needs(body string, dependencies ...string) string {
	return fmt.Sprintf("# /// script\n# dependencies = [%s]\n# ///\n%s", quoted(dependencies), body)
}

func quoted(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(out, ", ")
}
