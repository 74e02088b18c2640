// Package pythontest provides uv and a Python interpreter with packages for tests. It finds them, or installs them once
// into the user's cache directory.
//
// It is for tests only: it reads the environment, runs programs, and downloads missing packages from a package index.
// Its functions are safe for concurrent use, also by several test runs.
package pythontest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

const cure = "or install Python with venv and pip (Debian: apt install python3 python3-venv) and make a package index reachable"

// Dir returns the folder in which tests cache what is expensive to create.
func Dir() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "agent-base-test"), err
}

// UV returns the path of uv. It tries AGENT_TEST_UV, PATH and this checkout, and otherwise installs uv into Dir. Its error
// contains a cure.
func UV() (string, error) {
	path, err := uv()
	if err != nil {
		return "", fmt.Errorf("finding uv for tests: %w\nset AGENT_TEST_UV to uv's path, put uv on PATH, %s", err, cure)
	}
	return path, nil
}

var uv = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("AGENT_TEST_UV"); path != "" {
		return path, run(path, "--version")
	}
	if path, err := exec.LookPath("uv"); err == nil {
		return path, run(path, "--version")
	}
	for _, root := range []string{"..", "../..", "../../..", "../../../.."} { // tests run in their package's folder
		if path, err := filepath.Abs(filepath.Join(root, ".tools/bin/uv")); err == nil && run(path, "--version") == nil {
			return path, nil
		}
	}
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	home := filepath.Join(dir, "uv")
	uvOf := func(python string) string { return filepath.Join(filepath.Dir(python), "uv") }
	return uvOf(pythonIn(home)), build(home, func(python string) error { return run(uvOf(python), "--version") }, "uv>=0.11,<0.14")
})

// Python returns the path of a Python 3.9 or newer with packages: AGENT_TEST_PYTHON, or an environment that it installs
// into Dir. A package is given in pip's syntax; its name must be the name to import. The error contains a cure.
func Python(packages ...string) (string, error) {
	path, err := python(packages)
	if err != nil {
		return "", fmt.Errorf("finding Python for tests: %w\nset AGENT_TEST_PYTHON to a Python 3.9 or newer with %s, %s", err, strings.Join(packages, ", "), cure)
	}
	return path, nil
}

func python(packages []string) (string, error) {
	code := "import sys; assert sys.version_info >= (3, 9), sys.version"
	for _, p := range packages {
		code += "\nimport " + p[:strings.IndexAny(p+"=", "<>=")]
	}
	check := func(python string) error { return run(python, "-c", code) }
	if path := os.Getenv("AGENT_TEST_PYTHON"); path != "" {
		return path, check(path)
	}
	version, err := exec.Command("python3", "-c", "import sys; print(sys.version, sys.executable)").Output()
	if err != nil {
		return "", fmt.Errorf("python3: %w", err)
	}
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	key := sha256.Sum256(fmt.Append(version, packages))
	home := filepath.Join(dir, fmt.Sprintf("python-%x", key[:6]))
	return pythonIn(home), build(home, check, packages...)
}

// build creates an environment with packages at home, unless the one there passes check. It builds in a temporary folder
// next to home and renames it, so no other run sees an unfinished one. Of two concurrent runs the first wins.
func build(home string, check func(python string) error, packages ...string) error {
	if check(pythonIn(home)) == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(home), 0o700); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(home), "draft-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft)
	if err := run("python3", "-m", "venv", draft); err != nil {
		return err
	}
	install := []string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check"}
	if err := run(pythonIn(draft), append(install, packages...)...); err != nil {
		return err
	}
	if check(pythonIn(home)) == nil {
		return nil
	}
	if err := os.RemoveAll(home); err != nil {
		return err
	}
	if err := os.Rename(draft, home); err != nil && check(pythonIn(home)) != nil {
		return err
	}
	return check(pythonIn(home))
}

func pythonIn(home string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(home, "Scripts", "python.exe")
	}
	return filepath.Join(home, "bin", "python")
}

func run(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}
