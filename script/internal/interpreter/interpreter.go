package interpreter

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/internal/envs"
	"github.com/agent-base/agent-base/script/internal/fail"
)

// argv returns the argument list that runs the script, up to the script's own path. The extension decides, and the #! line among
// the programs of one extension. It decides alone for a .sh file and for a file without a known extension. Only shell scripts are run
// by a shell.
func (c *Chooser) argv(ctx context.Context, src *source) ([]string, error) {
	lang := survey.LanguageOf(src.Script.File)
	switch lang {
	case survey.Python:
		return c.python(ctx, src)
	case "", survey.Shell:
	default:
		return c.program(ctx, src, lang)
	}
	b := survey.Head(src.Skill.FS(), src.Script.File)
	if b == nil {
		return nil, src.fail("", fs.ErrNotExist, "cannot be read: load the skill again, and check the file's permissions")
	}
	bang, err := survey.ParseShebang(b)
	if err != nil {
		return nil, src.fail(fail.ReasonShebang, err, "cannot be run: %v", err)
	}
	switch {
	case bang.Path != "":
		return c.followShebang(ctx, src, bang)
	case lang != "":
		return c.program(ctx, src, lang)
	case survey.Foreign(survey.Platform(b)):
		return nil, src.fail(fail.ReasonPlatform, nil, "is a program for %s: it has to be built for this machine", survey.Platform(b))
	}
	return []string{src.File}, nil
}

// followShebang returns the arguments that a #! line asks for: its path, or a program of that name elsewhere.
func (c *Chooser) followShebang(ctx context.Context, src *source, bang survey.Shebang) ([]string, error) {
	lang := survey.LanguageNamed(bang.Name())
	if lang == survey.Python {
		return c.python(ctx, src)
	}
	path := bang.Path
	if info, err := os.Stat(path); !filepath.IsAbs(path) || err != nil || !info.Mode().IsRegular() {
		if path, err = c.o.Operator.LookPath(bang.Name()); err != nil {
			cure := "install it, or change the #! line"
			if lang != "" {
				cure = lang.Row().Install
			}
			return nil, src.fail(fail.ReasonInterpreter, err, "needs %s, named in its #! line, %s", bang.Name(), program.Lack(err, cure))
		}
	}
	src.By = language.ProgramNamed(bang.Name())
	return src.By.Follow(path, src.File, bang.Args, src.own(src.By.Name())...), nil
}

// program returns the arguments for the first interpreter of the script's language that is installed.
func (c *Chooser) program(ctx context.Context, src *source, lang survey.Language) ([]string, error) {
	var names []string
	var missing error // the first, or else one about a program whose folder is not used
	var tooOld string
	bang, _ := survey.ParseShebang(survey.Head(src.Skill.FS(), src.Script.File)) // the extension decides about what cannot be followed
	runs := lang.Row().RunsNamed(bang.Name())
	for _, name := range runs {
		if name == "node" && strings.EqualFold(filepath.Ext(src.Script.File), ".tsx") {
			continue // node strips types, but knows no JSX
		}
		path, err := c.o.Operator.LookPath(name)
		if err != nil {
			names = append(names, name)
			if missing == nil || isDropped(err) {
				missing = err
			}
			continue
		}
		src.By = language.ProgramNamed(name)
		path = c.programs.Real(ctx, path, src.By.Where)
		own := src.own(name)
		if lang == survey.TypeScript && name == "node" {
			if own, err = c.stripTypes(ctx, path); err != nil {
				tooOld = err.Error()
				continue
			}
		}
		return src.By.Command(path, src.File, own...), nil
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
		return nil, src.fail(fail.ReasonInterpreter, nil, "needs Node.js 22 or newer, bun or deno: %s; %s", tooOld, cure)
	case len(names) > 1 && !isDropped(missing):
		return nil, src.fail(fail.ReasonInterpreter, nil, "needs %s, and none of them is installed: %s", strings.Join(names, " or "), cure)
	}
	return nil, src.fail(fail.ReasonInterpreter, missing, "needs %s, %s", strings.Join(names, " or "), program.Lack(missing, cure))
}

// python returns the argument list that runs a Python script: with the python of a prepared environment when it needs
// packages, else with python3. Python is given its own absolute path, by which it finds its environment, and
// arguments to ignore PYTHON* and the user's own packages; -B and utf8 stand for the variables that it then ignores too.
func (c *Chooser) python(ctx context.Context, src *source) ([]string, error) {
	exe, err := c.o.Envs.Python(ctx, src.Of)
	if err != nil {
		return nil, err
	}
	text, err := envs.Text(src.Skill, src.Script)
	if err != nil {
		return nil, err
	}
	if root, name := survey.Module(src.Skill.FS(), src.Script.File, text); name != "" {
		dir := strings.TrimSuffix(src.File, filepath.FromSlash(src.Script.File))
		return append(src.isolated(exe, "-I"), "-c", runModule, filepath.Join(dir, filepath.FromSlash(root)), filepath.Dir(src.File), name), nil
	}
	return append(src.isolated(exe, "-E", "-s"), src.File), nil
}

// runModule runs a script as a module of its package, as python -m does, but without the working directory on sys.path.
// The script's own folder comes last: what it shadows there is not meant.
const runModule = `import runpy, sys
root, own, name = sys.argv[1:4]
del sys.argv[1:4]
sys.path.insert(0, root)
sys.path.append(own)
runpy.run_module(name, run_name="__main__", alter_sys=True)
`

// isDropped reports whether an error of LookPath is about a program whose folder is not used.
func isDropped(err error) bool {
	_, ok := errors.AsType[*program.DroppedError](err)
	return ok
}
