package pyenv

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/program"
)

// indexSettings are uv's settings of the operator: where packages come from. The last two serve
// machines without a network, and tests.
func (s *Store) indexSettings() map[string]string {
	out := map[string]string{}
	for _, kv := range s.o.Env {
		name, value, _ := strings.Cut(kv, "=")
		if name == "UV_DEFAULT_INDEX" || name == "UV_INDEX" || strings.HasPrefix(name, "UV_INDEX_") ||
			name == "UV_FIND_LINKS" || name == "UV_OFFLINE" {
			out[name] = value
		}
	}
	return out
}

// withoutOffline returns the settings that say where packages come from, for an environment's key and for uv's cache. Each
// source has its own cache, by its address and credentials: a caller without the credentials does not find its packages.
// Being offline is not part of it.
func withoutOffline(index map[string]string) map[string]string {
	out := maps.Clone(index)
	delete(out, "UV_OFFLINE")
	return out
}

// environment returns the whole environment of a step: no configuration of the user, the project or the skill, no
// credentials from files, nothing built, no Python fetched.
func (w *workshop) environment() map[string]string {
	env := w.e.s.environment(filepath.Join(w.work, "home"), filepath.Join(w.work, "tmp"), w.uvHome)
	env["UV_NO_BUILD"], env["UV_PYTHON_DOWNLOADS"] = "1", "never"
	maps.Copy(env, w.e.index)
	return env
}

// environment returns what every uv gets.
func (s *Store) environment(home, temp, cache string) map[string]string {
	env := map[string]string{
		"PATH": "/usr/bin:/bin", "HOME": home, "TMPDIR": temp, "LANG": "C.UTF-8", "NO_COLOR": "1", "NETRC": os.DevNull,
		"UV_CACHE_DIR": cache, "UV_NO_CONFIG": "1", "UV_NO_ENV_FILE": "1", "UV_NO_PROGRESS": "1", "UV_KEYRING_PROVIDER": "disabled",
	}
	certificates := false
	for _, kv := range s.o.Env {
		name, value, _ := strings.Cut(kv, "=")
		if program.NeededByNetwork(name) || program.NeededBySystem(name) {
			env[name] = value
			certificates = certificates || strings.HasPrefix(name, "SSL_CERT_")
		}
	}
	if !certificates {
		env["UV_SYSTEM_CERTS"] = "1"
	}
	return env
}

// Unused lists the environments that were not used since a time and the folders that no record names, in the order of their
// names, and uv's cache. They may be removed while no script runs and none is prepared.
func (s *Store) Unused(since time.Time) []Leftover {
	return append(envstore.Unused(s.folder(), since), s.downloads()...)
}

// downloads lists uv's caches. Environments have copies of their files, so no environment needs them.
func (s *Store) downloads() []envstore.Leftover {
	var out []envstore.Leftover
	root := filepath.Join(s.o.Cache, "uv")
	entries, _ := os.ReadDir(root)
	for _, d := range entries {
		if d.IsDir() {
			dir := filepath.Join(root, d.Name())
			out = append(out, envstore.Leftover{Path: dir, Why: "downloads of packages, of which environments have copies", Parts: []string{dir}})
		}
	}
	return out
}
