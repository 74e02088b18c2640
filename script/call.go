package script

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/skill"
)

// call is one execution of a script.
type call struct {
	s         *skill.Skill
	sc        Script
	args      []string
	env       []string // of the caller, as NAME=value
	timeout   time.Duration
	waited    time.Duration // of it, for the cache
	stopAtMax bool
	addedJSON bool   // --json is an argument that the caller did not give
	packages  string // the folder of its npm packages; "" for none

	note            string   // of the grant
	withheld, unset []string // variables that it reads and did not get, after it failed
}

// call runs the script. It returns an *Error if the script cannot be started, times out or ends with an exit code. It
// leaves output over its limit to the caller.
func (h *Host) call(ctx context.Context, c *call) (*Output, error) {
	dir, file, err := c.place(ctx)
	if err != nil {
		return nil, err
	}
	grant, err := h.granted(ctx, c.s)
	if err != nil {
		return nil, err
	}
	c.note = grant.Note
	passes := grant.passing(c.s.Manifest())
	given, err := c.given(passes)
	if err != nil {
		return nil, err
	}
	src := &source{host: h, s: c.s, sc: c.sc, file: file, with: grant.With}
	argv, dir, err := h.ready(ctx, c, src, dir)
	if err != nil {
		return nil, err
	}
	w, err := h.workplace(ctx, c.s, grant.Home)
	if err != nil {
		return nil, &Error{Code: ExecutionFailed, Err: err, Message: fmt.Sprintf("Script %s has no work directory: %v", c.sc.Name, err)}
	}
	defer w.remove()
	cwd := h.cwd(c.s, dir, src.file, w)
	cmd := &Command{
		Path: argv[0], Args: append(argv, c.args...), Dir: cwd.dir,
		Timeout: c.timeout - c.waited, Grace: grace, MaxStdout: h.o.MaxOutput, StopAtMax: c.stopAtMax,
		Read: []string{dir}, Write: append([]string{w.work, w.temp, w.cache}, cwd.write...),
	}
	if !grant.Home {
		cmd.Write = append(cmd.Write, w.home)
	}
	if c.packages != "" {
		cmd.Read = append(cmd.Read, c.packages)
	}
	cmd.Limits = Limits{FileSize: 256 << 20, OpenFiles: 1024, CPU: cmd.Timeout + time.Second}
	env := h.environment(passes, w.variables(h, c.s, dir))
	env["PATH"] = h.withCommands(env["PATH"], c.s.Manifest().Requires)
	for name, value := range given {
		env[name] = value
	}
	cmd.Env = program.Pairs(env)
	out, err := h.o.Runner.Run(ctx, cmd)
	if err == nil && out.ExitCode != 0 {
		c.withheld, c.unset = h.lacking(c, env, out)
	}
	return c.judge(ctx, cmd, out, err)
}

// place returns the skill's folder and the script's path in it. Both must exist: the system's error for a missing folder
// reads as if the interpreter were missing.
func (c *call) place(ctx context.Context) (dir, file string, err error) {
	nowhere := func(err error) error {
		return &Error{Code: ExecutionFailed, Reason: ReasonFolder, Err: err,
			Message: fmt.Sprintf("Skill '%s' has no folder to run scripts in: %v", c.s.Name(), err)}
	}
	if err := checkOpen(c.s); err != nil {
		return "", "", err
	}
	if dir, err = c.s.Dir(ctx); err != nil {
		return "", "", nowhere(err)
	}
	if !filepath.IsAbs(dir) {
		return "", "", nowhere(fmt.Errorf("its source says that it lies in %q, which is not an absolute path", dir))
	}
	file = filepath.Join(dir, filepath.FromSlash(c.sc.File))
	if _, err := os.Stat(file); err != nil {
		return "", "", &Error{Code: ExecutionFailed, Reason: ReasonFolder, Err: err,
			Message: fmt.Sprintf("Script %s is not in the skill's folder any more: load the skill again (%v)", c.sc.Name, err)}
	}
	return dir, file, nil
}

// judge returns the error of a finished command, if there is one. The exit code counts before any output.
func (c *call) judge(ctx context.Context, cmd *Command, out *Output, err error) (*Output, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, startError(c.sc, cmd, err)
	case out.TimedOut:
		return nil, &Error{Code: Timeout, Stdout: said(out), Message: "Script timed out after " + seconds(cmd.Timeout) + stderrTail(out)}
	case out.Stopped:
		return out, nil
	case out.ExitCode != 0:
		return nil, c.failed(cmd, out)
	}
	return out, nil
}

// failed returns the error of a script that ended with an exit code.
func (c *call) failed(cmd *Command, out *Output) error {
	e := &Error{Code: ExecutionFailed, Stdout: said(out), Warning: c.note,
		Message: fmt.Sprintf("Script failed with exit code %d%s", out.ExitCode, signalHint(out, cmd))}
	if m := missing(c.s, c.sc, out); m != nil {
		e.Reason, e.Err = ReasonModule, m
		e.Message += ". " + m.Error()
	} else {
		e.Withheld = c.withheld
		e.Message += lackingText(c.withheld, c.unset)
		if c.addedJSON && refusesJSON(out) {
			e.Reason = ReasonJSON
		}
	}
	e.Message += failureTail(out)
	return e
}

// given are the caller's variables, checked against what passes.
func (c *call) given(passes *passing) (map[string]string, error) {
	env := map[string]string{}
	for _, kv := range c.env {
		name, value, _ := strings.Cut(kv, "=")
		if !passes.allows(name) {
			return nil, &Error{Code: PermissionDenied, Message: fmt.Sprintf("Env var '%s' not in allowlist", name)}
		}
		env[name] = value
	}
	return env, nil
}

func startError(sc Script, cmd *Command, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if info, statErr := os.Stat(cmd.Dir); statErr != nil || !info.IsDir() {
			return &Error{Code: ExecutionFailed, Reason: ReasonFolder, Err: err,
				Message: fmt.Sprintf("Script %s cannot start in %q: it is not a folder, or not any more; make it, or have the script start elsewhere", sc.Name, cmd.Dir)}
		}
	}
	e := &Error{Code: ExecutionFailed, Err: err, Message: fmt.Sprintf("Script %s cannot be started with %s: %v", sc.Name, cmd.Path, err)}
	switch _, missing := os.Stat(cmd.Path); {
	case errors.Is(err, fs.ErrNotExist) && missing == nil:
		e.Reason = ReasonPlatform
		e.Message += ": the program is there, but what loads it is not (it was built for another system)"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		e.Reason = ReasonInterpreter
	case strings.Contains(err.Error(), "exec format error"):
		e.Reason = ReasonPlatform
		e.Message += ": it was built for another system or processor"
	}
	return e
}

// workplace is what one run may write to.
type workplace struct{ root, work, home, temp, cache string }

// workplace makes the folders of one run, which remove deletes, and the skill's home and cache, which stay. With ownHome the
// home is the operator's.
func (h *Host) workplace(ctx context.Context, s *skill.Skill, ownHome bool) (*workplace, error) {
	temp := h.o.Temp
	name, err := placeName(ctx, s)
	if err != nil {
		return nil, err
	}
	w := &workplace{cache: filepath.Join(h.o.Cache, "skill-cache", name), home: filepath.Join(h.o.Homes, name)}
	if ownHome {
		if w.home = h.operatorHome(); w.home == "" {
			return nil, errors.New("it was granted the user's home, and there is none")
		}
	}
	for _, d := range []string{temp, w.cache, w.home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	if err := w.checkKept(ownHome); err != nil {
		return nil, err
	}
	h.once.Do(func() { sweepRuns(temp) })
	if w.root, err = os.MkdirTemp(temp, runPrefix); err != nil {
		return nil, err
	}
	w.work, w.temp = filepath.Join(w.root, "work"), filepath.Join(w.root, "tmp")
	for _, d := range []string{w.work, w.temp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			w.remove()
			return nil, err
		}
	}
	return w, nil
}

// checkKept returns an error if a folder that a skill keeps is a link: a run of its scripts may have put it there.
func (w *workplace) checkKept(ownHome bool) error {
	kept := []string{w.cache, w.home}
	if ownHome {
		kept = kept[:1]
	}
	for _, dir := range kept {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return errors.Join(err, fmt.Errorf("%q is not a folder: remove it", dir))
		}
	}
	return nil
}

func (w *workplace) variables(h *Host, s *skill.Skill, dir string) map[string]string {
	return map[string]string{
		"HOME": w.home, "TMPDIR": w.temp,
		"AGENT_SKILL_DIR": dir, "AGENT_SKILL_NAME": s.Canonical(), "AGENT_WORKSPACE": h.o.Workspace,
		"AGENT_SKILL_WORK_DIR": w.work, "AGENT_SKILL_CACHE_DIR": w.cache,
	}
}

func (w *workplace) remove() { program.RemoveAll(w.root) }

const (
	runPrefix = "run-"
	abandoned = 24 * time.Hour // age of a work directory whose run was killed
)

// sweepRuns removes the work directories of engines that were killed.
func sweepRuns(temp string) {
	entries, _ := os.ReadDir(temp)
	for _, d := range entries {
		info, err := d.Info()
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), runPrefix) && time.Since(info.ModTime()) > abandoned {
			program.RemoveAll(filepath.Join(temp, d.Name()))
		}
	}
}
