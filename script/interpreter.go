package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/script/internal/envs"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/survey"
)

// bunGuards keep bun from installing packages and from reading .env and bunfig.toml in the working directory.
var bunGuards = []string{"--no-install", "--env-file=" + os.DevNull, "--config=" + os.DevNull}

// own returns the options of a program that depend on the skill's files.
func (src *source) own(name string) []string {
	switch name {
	case "bun":
		return append(slices.Clone(bunGuards), bunConfig(src)...)
	case "deno":
		return denoConfig(src)
	case "php": // by itself it looks for included files in the working directory first
		return []string{"-d", "include_path=" + filepath.Dir(src.file)}
	}
	return nil
}

// bunConfig has bun read the skill's tsconfig.json, or none: by itself it reads the one of the working directory too.
func bunConfig(src *source) []string {
	return []string{"--tsconfig-override=" + cmp.Or(src.nearest("tsconfig.json"), os.DevNull)}
}

// denoConfig has deno read the skill's configuration, or none, and take packages from node_modules if they were prepared:
// by itself it fetches them.
func denoConfig(src *source) []string {
	args := []string{"--no-config"}
	if file := src.nearest("deno.json", "deno.jsonc"); file != "" {
		args = []string{"--config=" + file}
	}
	if src.packages {
		args = append(args, "--node-modules-dir=manual", "--no-lock")
	}
	return args
}

// source is a script for which a command is built.
type source struct {
	*envs.Of
	file string // absolute path

	packages bool // its npm packages were prepared
	uncached bool // see call

	by *language.Program // what runs it, nil for a program itself and for Python
}

// nearest returns the absolute path of the first file of one of these names in the script's folder or one above it in the
// skill, "" without one.
func (src *source) nearest(names ...string) string {
	root := strings.TrimSuffix(src.file, filepath.FromSlash(src.Script.File))
	for dir := path.Dir(src.Script.File); ; dir = path.Dir(dir) {
		for _, name := range names {
			at := path.Join(dir, name)
			if info, err := fs.Stat(src.Skill.FS(), at); err == nil && info.Mode().IsRegular() {
				return filepath.Join(root, filepath.FromSlash(at))
			}
		}
		if dir == "." {
			return ""
		}
	}
}

// ready returns the argument list that runs a script, and the skill's folder for the run, after preparing what the script
// depends on. That ends after the call's own timeout: what takes longer is to be prepared before a call. The script then
// has the whole timeout for itself.
func (h *Host) ready(ctx context.Context, c *call, src *source, dir string) (argv []string, runDir string, err error) {
	limit := c.timeout - c.waited
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if runDir, src.file, err = h.withPackages(limited, c, src, dir); err == nil {
		src.packages = c.packages != ""
		argv, err = h.interpreter(limited, src)
	}
	if err == nil {
		c.python, err = h.envs.PythonOfCalls(limited, src.Of)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = ctx.Err() // an interpreter that could no longer be asked is not missing
	case limited.Err() != nil:
		err = &Error{Code: Timeout, Reason: ReasonDependencies, Err: err,
			Message: fmt.Sprintf("Dependencies of script %s were not ready after %s: prepare them before the call", c.sc.Name, fail.Seconds(limit))}
	}
	return argv, runDir, err
}

// withPackages returns the skill's folder and the script's path for a run, which are others if it needs npm packages.
func (h *Host) withPackages(ctx context.Context, c *call, src *source, dir string) (runDir, runFile string, err error) {
	runDir, c.packages, err = h.envs.Node(ctx, src.Of, dir)
	if c.packages == "" {
		return runDir, src.file, err
	}
	return runDir, filepath.Join(runDir, filepath.FromSlash(c.sc.File)), nil
}

// interpreter returns the argument list that runs the script, up to the script's own path. The extension decides, and the #! line among
// the programs of one extension. It decides alone for a .sh file and for a file without a known extension. Only shell scripts are run
// by a shell.
func (h *Host) interpreter(ctx context.Context, src *source) ([]string, error) {
	lang := survey.LanguageOf(src.Script.File)
	switch lang {
	case survey.Python:
		return h.python(ctx, src)
	case "", survey.Shell:
	default:
		return h.program(ctx, src, lang)
	}
	b := survey.Head(src.Skill.FS(), src.Script.File)
	if b == nil {
		return nil, src.fail("", fs.ErrNotExist, "cannot be read: load the skill again, and check the file's permissions")
	}
	bang, err := survey.ParseShebang(b)
	if err != nil {
		return nil, src.fail(ReasonShebang, err, "cannot be run: %v", err)
	}
	switch {
	case bang.Path != "":
		return h.followShebang(ctx, src, bang)
	case lang != "":
		return h.program(ctx, src, lang)
	case survey.Foreign(survey.Platform(b)):
		return nil, src.fail(ReasonPlatform, nil, "is a program for %s: it has to be built for this machine", survey.Platform(b))
	}
	return []string{src.file}, nil
}

func (src *source) fail(reason string, err error, format string, args ...any) error {
	return fail.OfScript(src.Script.Name, reason, err, format, args...)
}

// followShebang returns the arguments that a #! line asks for: its path, or a program of that name elsewhere.
func (h *Host) followShebang(ctx context.Context, src *source, bang survey.Shebang) ([]string, error) {
	lang := survey.LanguageNamed(bang.Name())
	if lang == survey.Python {
		return h.python(ctx, src)
	}
	path := bang.Path
	if info, err := os.Stat(path); !filepath.IsAbs(path) || err != nil || !info.Mode().IsRegular() {
		if path, err = h.o.LookPath(bang.Name()); err != nil {
			cure := "install it, or change the #! line"
			if lang != "" {
				cure = lang.Row().Install
			}
			return nil, src.fail(ReasonInterpreter, err, "needs %s, named in its #! line, %s", bang.Name(), program.Lack(err, cure))
		}
	}
	src.by = language.ProgramNamed(bang.Name())
	return src.by.Follow(path, src.file, bang.Args, src.own(src.by.Name())...), nil
}

// program returns the arguments for the first interpreter of the script's language that is installed.
func (h *Host) program(ctx context.Context, src *source, lang survey.Language) ([]string, error) {
	var names []string
	var missing error // the first, or else one about a program whose folder is not used
	var tooOld string
	bang, _ := survey.ParseShebang(survey.Head(src.Skill.FS(), src.Script.File)) // the extension decides about what cannot be followed
	runs := lang.Row().RunsNamed(bang.Name())
	for _, name := range runs {
		if name == "node" && strings.EqualFold(filepath.Ext(src.Script.File), ".tsx") {
			continue // node strips types, but knows no JSX
		}
		path, err := h.o.LookPath(name)
		if err != nil {
			names = append(names, name)
			if missing == nil || isDropped(err) {
				missing = err
			}
			continue
		}
		src.by = language.ProgramNamed(name)
		path = h.programs.Real(ctx, path, src.by.Where)
		own := src.own(name)
		if lang == survey.TypeScript && name == "node" {
			if own, err = h.stripTypes(ctx, path); err != nil {
				tooOld = err.Error()
				continue
			}
		}
		return src.by.Command(path, src.file, own...), nil
	}
	cure := lang.Row().Install
	if len(runs) == 1 && runs[0] == bang.Name() {
		cure = cmp.Or(language.ProgramNamed(runs[0]).Install, cure)
	}
	if strings.EqualFold(filepath.Ext(src.Script.File), ".tsx") {
		cure = "install bun (https://bun.sh)"
	}
	switch {
	case tooOld != "":
		return nil, src.fail(ReasonInterpreter, nil, "needs Node.js 22 or newer, bun or deno: %s; %s", tooOld, cure)
	case len(names) > 1 && !isDropped(missing):
		return nil, src.fail(ReasonInterpreter, nil, "needs %s, and none of them is installed: %s", strings.Join(names, " or "), cure)
	}
	return nil, src.fail(ReasonInterpreter, missing, "needs %s, %s", strings.Join(names, " or "), program.Lack(missing, cure))
}

// isDropped reports whether an error of LookPath is about a program whose folder is not used.
func isDropped(err error) bool {
	_, ok := errors.AsType[*program.DroppedError](err)
	return ok
}

// stripTypes returns the arguments that node needs to run TypeScript: none since 22.18 and 23.6.
func (h *Host) stripTypes(ctx context.Context, path string) ([]string, error) {
	out, err := h.programs.Ask(ctx, path, "--version")
	if err != nil {
		return nil, fmt.Errorf("%s does not say its version: %w", path, err)
	}
	v := strings.TrimPrefix(out, "v")
	is := func(condition string) bool {
		ok, err := pyenv.Satisfies(v, condition)
		return err == nil && ok
	}
	switch {
	case is(">=23.6"), is(">=22.18,<23"):
		return nil, nil
	case is(">=22.6"):
		return []string{"--experimental-strip-types", "--no-warnings=ExperimentalWarning"}, nil
	}
	return nil, fmt.Errorf("%s is node %.40s, which is too old for TypeScript", path, v)
}

// python returns the argument list that runs a Python script: with the python of a prepared environment when it needs
// packages, else with python3. Python is given its own absolute path, by which it finds its environment, and
// arguments to ignore PYTHON* and the user's own packages; -B and utf8 stand for the variables that it then ignores too.
func (h *Host) python(ctx context.Context, src *source) ([]string, error) {
	exe, err := h.envs.Python(ctx, src.Of)
	if err != nil {
		return nil, err
	}
	text, err := envs.Text(src.Skill, src.Script)
	if err != nil {
		return nil, err
	}
	if root, name := survey.Module(src.Skill.FS(), src.Script.File, text); name != "" {
		dir := strings.TrimSuffix(src.file, filepath.FromSlash(src.Script.File))
		return append(src.isolated(exe, "-I"), "-c", runModule, filepath.Join(dir, filepath.FromSlash(root)), filepath.Dir(src.file), name), nil
	}
	return append(src.isolated(exe, "-E", "-s"), src.file), nil
}

// isolated returns the beginning of the command of a Python that takes nothing from its surroundings.
func (src *source) isolated(exe string, mode ...string) []string {
	argv := append(append([]string{exe}, mode...), "-B", "-X", "utf8")
	if src.uncached {
		argv = append(argv, "-X", "pycache_prefix="+noCache)
	}
	return argv
}

// noCache is where Python is told to look for byte code if what lies beside its sources is not to be loaded: no folder, so there is
// none. The packages of an environment then load from their sources, too.
const noCache = os.DevNull

// runModule runs a script as a module of its package, as python -m does, but without the working directory on sys.path.
// The script's own folder comes last: what it shadows there is not meant.
const runModule = `import runpy, sys
root, own, name = sys.argv[1:4]
del sys.argv[1:4]
sys.path.insert(0, root)
sys.path.append(own)
runpy.run_module(name, run_name="__main__", alter_sys=True)
`

// Version returns the first line that a program prints for --version. path is absolute. The answer is kept as long as the program
// stays unchanged.
func (h *Host) Version(ctx context.Context, path string) (string, error) {
	said, err := h.programs.Ask(ctx, path, "--version")
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return strings.TrimSpace(line), err
}
