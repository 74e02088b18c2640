package pyenv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/agent-base/agent-base/internal/program"
)

// getPython says how to get an interpreter.
const getPython = "install Python 3: https://www.python.org/downloads/"

// whichPython makes a Python print its own path and version.
const whichPython = "import sys; print(sys.executable); print('%d.%d.%d' % sys.version_info[:3])"

// basePython returns a Python that the script can use: python3, else one that was fetched before, one that uv knows, or one
// that uv fetches. uv only prints a path: it does not see the script.
func (j *job) basePython(ctx context.Context) (string, error) {
	required := j.needs.RequiresPython
	path, version, err := j.s.systemPython(ctx, required != "")
	if err == nil && required == "" {
		return path, nil
	}
	specs, badSpec := parseSpecifiers(required)
	if badSpec != nil {
		return "", j.fail(ReasonMetadata, badSpec, "is not run: requires-python: %v", badSpec)
	}
	if err == nil && satisfies(version, specs) {
		return path, nil
	}
	if found := j.s.fetchedPython(specs); found != "" {
		return found, nil
	}
	if found, uvErr := j.s.uvPython(ctx, required); uvErr == nil {
		return found, nil
	}
	found, fetchErr := j.fetchPython(ctx, cmp.Or(required, ">=3.9"), specs)
	switch {
	case fetchErr == nil:
		return found, nil
	case err != nil:
		return "", j.fail(ReasonInterpreter, err, "needs Python %s, %s (%v)", cmp.Or(required, "3"), program.Lack(err, getPython), fetchErr)
	}
	return "", j.fail(ReasonPython, nil, "requires Python %s, but %s is %s: install such a version, or have uv do it: uv python install '%s' (%v)",
		required, path, version, required, fetchErr)
}

// systemPython returns the operator's python3, and its version if the caller wants it.
func (s *Store) systemPython(ctx context.Context, version bool) (path, v string, err error) {
	path, err = s.o.LookPath("python3")
	if err != nil && runtime.GOOS == "windows" {
		path, err = s.o.LookPath("python")
	}
	if err != nil {
		return "", "", err
	}
	shim := program.IsShim(path)
	if !version && !shim {
		return path, "", nil
	}
	exe, v, err := s.whichPython(ctx, path)
	if err == nil && shim && program.Identity(exe) != "" {
		path = exe
	}
	return path, v, err
}

// whichPython asks a Python for its own path and its version.
func (s *Store) whichPython(ctx context.Context, path string) (exe, version string, err error) {
	said, err := s.asker.Ask(ctx, path, "-I", "-S", "-c", whichPython)
	if err != nil {
		return "", "", fmt.Errorf("%s does not work: %w", path, err)
	}
	exe, version, ok := strings.Cut(said, "\n")
	if !ok {
		return "", "", fmt.Errorf("%s is not a Python: it printed %.80q", path, said)
	}
	return exe, strings.TrimSpace(version), nil
}

// uvPython asks uv for a Python that is installed already and fulfils the requirement.
func (s *Store) uvPython(ctx context.Context, required string) (string, error) {
	uv, err := s.uv(ctx)
	if err != nil {
		return "", err
	}
	args := []string{"python", "find", "--no-project", "--no-config", "--no-python-downloads"}
	if required != "" {
		args = append(args, required)
	}
	said, err := s.asker.AskNow(ctx, uv, args...)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(said) {
		return "", fmt.Errorf("uv found no Python: %.80q", said)
	}
	return said, nil
}

// uv finds uv: on PATH, else as a module of python3. The error says what to do.
func (s *Store) uv(ctx context.Context) (string, error) {
	path, err := s.o.LookPath("uv")
	if err == nil {
		if path, err = filepath.Abs(path); err == nil && program.Identity(path) == "" {
			return "", fmt.Errorf("uv is to be %s, which is not there: correct that path", path)
		}
		return path, err
	}
	if python, _, err := s.systemPython(ctx, false); err == nil {
		said, err := s.asker.Ask(ctx, python, "-c", "import uv; print(uv.find_uv_bin())")
		if err == nil && filepath.IsAbs(said) && program.Identity(said) != "" {
			return said, nil
		}
	}
	if dropped, ok := errors.AsType[*program.DroppedError](err); ok {
		return "", fmt.Errorf("%w: install uv in another folder of PATH", dropped)
	}
	return "", ErrNoUV
}
