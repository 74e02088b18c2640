package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

var errNoUV = errors.New("uv is not installed: get it with `pip install uv` or from https://docs.astral.sh/uv/")

// whichPython makes a Python print its own path and version.
const whichPython = "import sys; print(sys.executable); print('%d.%d.%d' % sys.version_info[:3])"

// python returns the argument list that runs a Python script: with the python of a prepared environment
// when its PEP 723 block names dependencies, else with python3 (C29). Python is told its own absolute
// path, by which it finds its environment, and to ignore PYTHON* and the user's own packages; -B and
// utf8 stand for the variables that it then ignores too.
func (h *Host) python(ctx context.Context, src *source) ([]string, error) {
	block, err := src.block()
	if err != nil {
		return nil, err
	}
	var exe string
	if block != nil && len(block.Dependencies) > 0 {
		env, err := h.prepare(ctx, src, block, &PrepareOptions{})
		if err != nil {
			return nil, err
		}
		exe = env.python
	} else if exe, err = h.basePython(ctx, src, block); err != nil {
		return nil, err
	}
	return []string{exe, "-E", "-s", "-B", "-X", "utf8", src.file}, nil
}

// block reads the script's PEP 723 block; nil when it has none.
func (src *source) block() (*Block, error) {
	b, err := src.s.ReadFile(src.sc.File)
	if err != nil {
		return nil, src.fail("", err, "cannot be read: %v", err)
	}
	block, err := ParseBlock(b)
	if err != nil {
		return nil, src.fail(ReasonMetadata, err, "is not run: %v", err)
	}
	return block, nil
}

// basePython returns the Python that fulfils the block's requires-python: python3, else one that uv
// knows of. uv is only asked where it is: it does not see the script.
func (h *Host) basePython(ctx context.Context, src *source, block *Block) (string, error) {
	var required string
	if block != nil {
		required = block.RequiresPython
	}
	path, version, err := h.systemPython(ctx, required != "")
	if err == nil && required == "" {
		return path, nil
	}
	specs, badSpec := parseSpecifiers(required)
	if badSpec != nil {
		return "", src.fail(ReasonMetadata, badSpec, "is not run: requires-python: %v", badSpec)
	}
	if err == nil && satisfies(version, specs) {
		return path, nil
	}
	if found, uvErr := h.uvPython(ctx, required); uvErr == nil {
		return found, nil
	}
	if err != nil {
		return "", src.fail(ReasonInterpreter, err, "needs Python %s, which is not installed: %s", cmp.Or(required, "3"), languages[0].cure)
	}
	return "", src.fail(ReasonPython, nil, "requires Python %s, but %s is %s: install such a version, or have uv do it: uv python install '%s'",
		required, path, version, required)
}

// systemPython is python3 as the operator has it, and its version where that is wanted.
func (h *Host) systemPython(ctx context.Context, version bool) (path, v string, err error) {
	path, err = h.LookPath("python3")
	if err != nil && runtime.GOOS == "windows" {
		path, err = h.LookPath("python")
	}
	if err != nil {
		return "", "", err
	}
	if !version && !isShim(path) {
		return path, "", nil
	}
	said, err := h.ask(ctx, path, "-I", "-S", "-c", whichPython)
	if err != nil {
		return "", "", fmt.Errorf("%s does not work: %w", path, err)
	}
	exe, v, ok := strings.Cut(said, "\n")
	if !ok {
		return "", "", fmt.Errorf("%s is no Python: it said %q", path, firstRunes(said, 80))
	}
	if isShim(path) && identity(exe) != "" {
		path = exe
	}
	return path, strings.TrimSpace(v), nil
}

// uvPython asks uv for a Python that is installed already and fulfils the requirement.
func (h *Host) uvPython(ctx context.Context, required string) (string, error) {
	uv, err := h.uv(ctx)
	if err != nil {
		return "", err
	}
	args := []string{"python", "find", "--no-project", "--no-config", "--no-python-downloads"}
	if required != "" {
		args = append(args, required)
	}
	said, err := h.askNow(ctx, uv, args)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(said) {
		return "", fmt.Errorf("uv found no Python: %q", firstRunes(said, 80))
	}
	return said, nil
}

// uv finds uv: on PATH, else as a module of python3 (R106). The error says what to do.
func (h *Host) uv(ctx context.Context) (string, error) {
	path, err := h.LookPath("uv")
	if err == nil {
		if path, err = filepath.Abs(path); err == nil && identity(path) == "" {
			return "", fmt.Errorf("uv is to be %s, which is not there: correct that path", path)
		}
		return path, err
	}
	if python, _, err := h.systemPython(ctx, false); err == nil {
		said, err := h.ask(ctx, python, "-c", "import uv; print(uv.find_uv_bin())")
		if err == nil && filepath.IsAbs(said) && identity(said) != "" {
			return said, nil
		}
	}
	return "", errNoUV
}
