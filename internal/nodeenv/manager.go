package nodeenv

import (
	"errors"
	"fmt"
	"os"

	"github.com/agent-base/agent-base/internal/program"
)

// manager is a program that installs packages. Nothing that it is told to do runs a script or asks git.
type manager struct {
	name    string
	least   string   // the oldest version that reads the lock and knows the options
	get     string   // how to get it
	install []string // what the lock says, and nothing else
	choose  []string // only write a lock; nil for one that is not asked to
	lock    string   // that choose writes
}

// managers are in the order in which they are asked to choose versions. Their caches are in their home, which is that of one
// installation: what a lock holds to its checksum is fetched for it.
func managers() []manager {
	npm := []string{"--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", "--git=" + os.DevNull}
	return []manager{
		{"npm", "7", "get it with Node.js from https://nodejs.org",
			append([]string{"ci", "--omit=dev", "--replace-registry-host=never"}, npm...),
			append([]string{"install", "--package-lock-only", "--lockfile-version=3"}, npm...), "package-lock.json"},
		{"bun", "1.2", "get it from https://bun.com",
			[]string{"install", "--frozen-lockfile", "--production", "--ignore-scripts", "--no-progress", "--no-summary", "--backend=copyfile"},
			[]string{"install", "--lockfile-only", "--ignore-scripts", "--no-progress", "--no-summary", "--save-text-lockfile"}, "bun.lock"},
		{"pnpm", "9", "get it with npm install -g pnpm",
			[]string{"install", "--frozen-lockfile", "--prod", "--ignore-scripts", "--ignore-pnpmfile", "--ignore-workspace", "--package-import-method=copy",
				"--loglevel=error"}, nil, "pnpm-lock.yaml"},
		{"yarn", "1", "get it with npm install -g yarn@1",
			[]string{"install", "--frozen-lockfile", "--production", "--ignore-scripts", "--non-interactive", "--silent"}, nil, "yarn.lock"},
	}
}

// MissingError is the cause if the manager that installs packages is missing.
type MissingError struct{ Manager, Get string }

// Error names the program and says how to get it.
func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is not installed: %s", e.Manager, e.Get)
}

// manager finds the manager that wrote a lock.
func (s *Store) manager(name string) (m manager, path string, err error) {
	for _, m = range managers() {
		if m.name == name {
			break
		}
	}
	path, err = s.o.LookPath(m.name)
	if dropped, ok := errors.AsType[*program.DroppedError](err); ok {
		return m, "", fmt.Errorf("%w: install %s in another folder of PATH", dropped, m.name)
	}
	if err != nil {
		err = &MissingError{m.name, m.get}
	}
	return m, path, err
}

// chooser finds a manager that chooses versions.
func (s *Store) chooser() (m manager, path string, err error) {
	var first error
	for _, known := range managers() {
		if known.choose == nil {
			continue
		}
		if m, path, err = s.manager(known.name); err == nil || !errors.As(err, new(*MissingError)) {
			return m, path, err
		}
		if first == nil {
			first = err
		}
	}
	return m, "", first
}
