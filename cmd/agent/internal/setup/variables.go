package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/script"
)

// Served reports whether the settings are those of a tenant of serve.tenants. Its scripts are given no variable of the environment.
func (s *Settings) Served() bool { return s.flags.Tenant != "" }

// Variables returns the variables that passes chooses among those that scripts may be given, as NAME=value and never nil: those of the
// environment or, for a tenant of serve.tenants, those that its folder in serve.secrets has now.
func (s *Settings) Variables(passes func(name string) bool) ([]string, error) {
	if !s.Served() {
		out := []string{}
		for _, kv := range s.sys.Environ {
			if name, _, _ := strings.Cut(kv, "="); passes(name) {
				out = append(out, kv)
			}
		}
		return out, nil
	}
	cfg := s.Config()
	if cfg.Serve.Secrets == "" {
		return []string{}, nil
	}
	out, err := variablesIn(cfg.Serve.Secrets, cfg.Tenant, passes)
	var at *fs.PathError
	if errors.As(err, &at) { // clients get it, for whom a path of this machine is not
		err = fmt.Errorf("%s: %w", filepath.Base(at.Path), at.Err)
	}
	if err != nil {
		err = fmt.Errorf("the variables of the tenant %s: %w", cfg.Tenant, err)
	}
	return out, err
}

// Variable returns the value of one of these variables, and whether it is set.
func (s *Settings) Variable(name string) (value string, set bool) {
	env, _ := s.Variables(func(one string) bool { return one == name })
	if len(env) == 0 {
		return "", false
	}
	_, value, _ = strings.Cut(env[len(env)-1], "=") // as in a shell, the last one counts
	return value, true
}

// ofWorkers are further variables of ForWorkers: where temporary files go, and where packages come from.
var ofWorkers = []string{"AGENT_*", "TMPDIR", "LC_*", "UV_*", "npm_config_*", "NPM_CONFIG_*"}

// ForWorkers returns the environment of processes that run scripts for this one, with the settings of the program and what it needs to find
// and start others. Variables that skills are granted are not in it: they come with the orders.
func (s *System) ForWorkers() []string {
	return slices.DeleteFunc(slices.Clone(s.Environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !config.IsVariable(name) && !variable.Matches(ofWorkers, name) && !program.NeededToFind(name) && !script.AlwaysPasses(name)
	})
}

// maxVariable is the most bytes of the file of a variable: less than Linux lets a program have.
const maxVariable = 64 << 10

// variablesIn reads the folder of a tenant in dir, with a file for each variable, as Kubernetes mounts a Secret. There may be no folder. A link
// that leads out of one of them is an error.
func variablesIn(dir, tenant string, passes func(name string) bool) ([]string, error) {
	out := []string{}
	all, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer all.Close()
	root, err := all.OpenRoot(tenant)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if now, err := root.OpenRoot("..data"); err == nil { // all of a Secret, in one state: the link is changed at once
		defer now.Close()
		root = now
	}
	files, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		name := f.Name()
		if !variable.IsName(name) || !passes(name) {
			continue
		}
		b, err := lockfile.ReadIn(root, name, maxVariable)
		switch {
		case err != nil:
			return nil, err
		case strings.ContainsRune(string(b), 0):
			return nil, fmt.Errorf("%s has a zero byte", name)
		}
		out = append(out, name+"="+strings.TrimSuffix(string(b), "\n"))
	}
	return out, nil
}
