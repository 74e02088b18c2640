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
	"sync"
	"testing"
)

const uvCure = "set AGENT_TEST_UV to uv's path, put uv on PATH, or install Python with venv and pip " +
	"(Debian: apt install python3 python3-venv) and have a package index in reach"

// realUV returns uv: AGENT_TEST_UV, the one on PATH, else one made once in the user's cache directory.
func realUV(t testing.TB) string {
	t.Helper()
	path, err := findUV()
	if err != nil {
		t.Fatalf("no uv for the tests: %v\n%s", err, uvCure)
	}
	return path
}

var findUV = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("AGENT_TEST_UV"); path != "" {
		return path, works(path)
	}
	if path, err := exec.LookPath("uv"); err == nil {
		return path, works(path)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	home := filepath.Join(cache, "agent-base-test", "uv")
	path := filepath.Join(filepath.Dir(pythonIn(home)), "uv")
	if works(path) == nil {
		return path, nil
	}
	return path, installUV(home, path)
})

func works(uv string) error {
	out, err := exec.Command(uv, "--version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", uv, err, bytes.TrimSpace(out))
	}
	return nil
}

// installUV builds beside the final place and renames. When two test runs do so at once, the first wins.
func installUV(home, uv string) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(home), 0o700); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(home), "draft-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft)
	for _, step := range [][]string{
		{python, "-m", "venv", draft},
		{pythonIn(draft), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv>=0.11,<0.14"},
	} {
		if out, err := exec.Command(step[0], step[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(step, " "), err, bytes.TrimSpace(out))
		}
	}
	if err := os.Rename(draft, home); err != nil && works(uv) != nil {
		return err
	}
	return works(uv)
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
