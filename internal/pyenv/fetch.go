package pyenv

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/program"
)

// fetchedFolder holds the Pythons that uv has fetched, each in a folder such as cpython-3.12.7-linux-x86_64-gnu.
func (s *Store) fetchedFolder() string { return filepath.Join(s.o.Cache, "pythons") }

var fetchedName = lazyregexp.New(`^cpython-(3\.[0-9]{1,3}\.[0-9]{1,3})-`)

// fetchedPython returns the newest Python in the cache that fulfils the conditions, "" without one.
func (s *Store) fetchedPython(specs []specifier) string {
	entries, _ := os.ReadDir(s.fetchedFolder()) // a missing folder has none
	var best string
	var newest []specifier
	for _, d := range entries {
		found := fetchedName().FindStringSubmatch(d.Name())
		if !d.IsDir() || found == nil || !satisfies(found[1], specs) || !satisfies(found[1], newest) {
			continue
		}
		python := filepath.Join(s.fetchedFolder(), d.Name(), "bin", "python3")
		if runtime.GOOS == "windows" {
			python = filepath.Join(s.fetchedFolder(), d.Name(), "python.exe")
		}
		if program.Identity(python) != "" {
			best = python
			newest, _ = parseSpecifiers(">" + found[1])
		}
	}
	return best
}

// fetchPython has uv download a Python into the cache. uv checks its hash.
func (j *job) fetchPython(ctx context.Context, required string, specs []specifier) (string, error) {
	if !j.s.o.FetchPython {
		return "", errors.New("fetching one is turned off")
	}
	uv, err := j.s.uv(ctx)
	if err != nil {
		return "", err
	}
	dir := j.s.fetchedFolder()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	p := envstore.Announce(j.s.o.Progress, j.s.patience, "fetching Python "+required+" for "+j.sc.Name)
	defer p.End()
	out, err := j.s.o.Run(ctx, &Command{
		Path: uv, Args: []string{uv, "python", "install", "--no-config", "--no-bin", "--install-dir", dir, required}, Dir: dir,
		Env: program.Pairs(j.s.fetchEnvironment(dir)), Timeout: j.s.o.MaxTime, MaxStdout: uvOutput, FileSize: DefaultMaxBytes,
		Write: []string{dir, j.s.fetchCache()}, Hosts: j.s.sourceHosts(j.s.fetchEnvironment(dir)),
	})
	switch {
	case err != nil:
		return "", err
	case out.ExitCode != 0 && len(out.Refused) > 0:
		return "", &HostError{Hosts: out.Refused}
	case out.ExitCode != 0 || out.TimedOut:
		return "", errors.New("uv could not fetch one: " + tail(out.Stderr, tailBytes))
	}
	if found := j.s.fetchedPython(specs); found != "" {
		return found, nil
	}
	return "", errors.New("uv fetched none that will do")
}

// fetchCache is uv's cache while it fetches a Python.
func (s *Store) fetchCache() string { return filepath.Join(s.o.Cache, "uv", "pythons") }

// fetchEnvironment is the whole environment of uv while it fetches a Python.
func (s *Store) fetchEnvironment(dir string) map[string]string {
	env := s.environment(dir, dir, s.fetchCache())
	for _, kv := range s.o.Env {
		if name, value, _ := strings.Cut(kv, "="); slices.Contains(pythonSettings, name) {
			env[name] = value
		}
	}
	return env
}

// pythonSettings are uv's settings of the operator that say where a Python comes from.
var pythonSettings = []string{"UV_PYTHON_INSTALL_MIRROR", "UV_PYTHON_DOWNLOADS_JSON_URL", "UV_OFFLINE"}
