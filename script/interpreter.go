package script

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/skill"
)

// source is a script on its way to a command.
type source struct {
	host *Host
	s    *skill.Skill
	sc   Script
	file string // absolute path
}

// interpreter returns the argument list that runs the script, as far as the script's own path (C29).
// The extension decides; a .sh follows its #! line, and so does a file of another kind, which must be
// executable. There is never a shell for what is not a shell's.
func (h *Host) interpreter(ctx context.Context, src *source) ([]string, error) {
	lang, known := languageOf(src.sc.File)
	switch {
	case known && lang.ext == ".py":
		return h.python(ctx, src)
	case known && lang.ext != ".sh":
		return h.program(ctx, src, lang)
	}
	b := head(src.s.FS(), src.sc.File)
	if b == nil {
		return nil, src.fail("", fs.ErrNotExist, "cannot be read")
	}
	bang, err := parseShebang(b)
	if err != nil {
		return nil, src.fail(ReasonShebang, err, "cannot be run: %v", err)
	}
	if !known {
		if err := src.checkMode(); err != nil {
			return nil, err
		}
	}
	switch {
	case bang.path != "":
		return h.followShebang(ctx, src, bang)
	case known:
		return h.program(ctx, src, lang)
	case foreign(platform(b)):
		return nil, src.fail(ReasonPlatform, nil, "is a program for %s: it has to be built for this machine", platform(b))
	}
	return []string{src.file}, nil
}

// fail makes an error of the form "Script NAME …".
func (src *source) fail(reason string, err error, format string, args ...any) error {
	return &Error{Code: ExecutionFailed, Reason: reason, Err: err, Message: "Script " + src.sc.Name + " " + fmt.Sprintf(format, args...)}
}

func (src *source) checkMode() error {
	info, err := fs.Stat(src.s.FS(), src.sc.File)
	if err != nil {
		return src.fail("", err, "cannot be read: %v", err)
	}
	if !executable(info.Mode()) {
		return src.fail(ReasonMode, nil, "is not executable: chmod +x %s in the skill's folder", src.sc.File)
	}
	return nil
}

// followShebang runs what a #! line asks for: the very path, or a program of that name elsewhere.
func (h *Host) followShebang(ctx context.Context, src *source, bang shebang) ([]string, error) {
	lang, known := languageNamed(bang.name())
	if known && lang.ext == ".py" {
		return h.python(ctx, src)
	}
	path := bang.path
	if info, err := os.Stat(path); !filepath.IsAbs(path) || err != nil || !info.Mode().IsRegular() {
		if path, err = h.LookPath(bang.name()); err != nil {
			cure := "install it, or change the #! line"
			if known {
				cure = lang.cure
			}
			return nil, src.fail(ReasonInterpreter, err, "needs %s, which its #! line names and which is not installed: %s", bang.name(), cure)
		}
	}
	return append(append([]string{path}, bang.args...), src.file), nil
}

// program runs the script with the first interpreter of its language that is there.
func (h *Host) program(ctx context.Context, src *source, lang language) ([]string, error) {
	var names []string
	var tooOld string
	for _, p := range lang.programs {
		path, err := h.LookPath(p.name)
		if err != nil {
			names = append(names, p.name)
			continue
		}
		path = h.real(ctx, path, p.where)
		args := p.args
		if lang.ext == ".ts" && p.name == "node" {
			if args, err = h.stripTypes(ctx, path); err != nil {
				tooOld = err.Error()
				continue
			}
		}
		return append(append([]string{path}, args...), src.file), nil
	}
	if tooOld != "" {
		return nil, src.fail(ReasonInterpreter, nil, "needs %s: %s; %s", strings.Join(names, " or "), tooOld, lang.cure)
	}
	return nil, src.fail(ReasonInterpreter, nil, "needs %s, which is not installed: %s", strings.Join(names, " or "), lang.cure)
}

// stripTypes returns the arguments with which node runs TypeScript: none since 22.18 and 23.6.
func (h *Host) stripTypes(ctx context.Context, path string) ([]string, error) {
	out, err := h.ask(ctx, path, "--version")
	if err != nil {
		return nil, fmt.Errorf("the version of %s cannot be told: %w", path, err)
	}
	v := strings.TrimPrefix(out, "v")
	is := func(condition string) bool {
		specs, err := parseSpecifiers(condition)
		return err == nil && satisfies(v, specs)
	}
	switch {
	case is(">=23.6"), is(">=22.18,<23"):
		return nil, nil
	case is(">=22.6"):
		return []string{"--experimental-strip-types", "--no-warnings=ExperimentalWarning"}, nil
	}
	return nil, fmt.Errorf("node %s is too old to run TypeScript (it needs 22.6)", firstRunes(v, 40))
}
