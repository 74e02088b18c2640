package script

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// workplace is what one run may write to.
type workplace struct {
	root, work, home, temp, cache string

	lasting *temp // what temp is, if it stays after the run; else nil

	kept string // where stays what scripts write in the folder of the skill: a folder for each content. Only the engine writes there
}

// workplace makes the folders of one run, which remove deletes, and those of the skill that stay. A granted home is the operator's.
func (h *Host) workplace(ctx context.Context, s *skill.Skill, g *Grant) (*workplace, error) {
	name, err := h.placeName(ctx, s)
	if err != nil {
		return nil, err
	}
	w := &workplace{cache: filepath.Join(h.o.Cache, cachesFolder, name), home: filepath.Join(h.o.Homes, name), kept: h.keptFiles(name)}
	if plan.OwnHome(g) {
		if w.home = h.operatorHome(); w.home == "" {
			return nil, errors.New("it was granted the user's home, and there is none")
		}
	}
	for _, d := range []string{h.o.Temp, w.cache, w.home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	if err := w.checkKept(plan.OwnHome(g)); err != nil {
		return nil, err
	}
	h.once.Do(func() { h.sweepOld(ctx) })
	if w.lasting, err = h.temp(ctx, name, g); err != nil {
		return nil, err
	}
	if err := w.make(h.o.Temp); err != nil {
		w.remove()
		return nil, err
	}
	return w, nil
}

// make makes the folders that go with the run.
func (w *workplace) make(in string) (err error) {
	if w.root, err = os.MkdirTemp(in, runPrefix); err != nil {
		return err
	}
	w.work, w.temp = filepath.Join(w.root, "work"), filepath.Join(w.root, "tmp")
	if w.lasting != nil {
		w.temp = w.lasting.dir
		return os.Mkdir(w.work, 0o700)
	}
	return errors.Join(os.Mkdir(w.work, 0o700), os.Mkdir(w.temp, 0o700))
}

// checkKept returns an error if a folder that a skill keeps is a link: a run of its scripts may have put it there.
func (w *workplace) checkKept(ownHome bool) error {
	kept := []string{w.cache, w.home}
	if ownHome {
		kept = kept[:1]
	}
	for _, dir := range kept {
		if err := checkFolder(dir); err != nil {
			return err
		}
	}
	return nil
}

func checkFolder(dir string) error {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return errors.Join(err, fmt.Errorf("%q is not a folder: remove it", dir))
	}
	return nil
}

func (w *workplace) variables(h *Host, s *skill.Skill, dir string) map[string]string {
	env := runner.HomeVariables(w.home, w.temp)
	maps.Copy(env, map[string]string{
		"AGENT_SKILL_DIR": dir, "AGENT_SKILL_NAME": s.Canonical(), "AGENT_WORKSPACE": h.o.Workspace,
		"AGENT_SKILL_WORK_DIR": w.work, "AGENT_SKILL_CACHE_DIR": w.cache,
	})
	return env
}

func (w *workplace) remove() {
	if w.root != "" {
		program.RemoveAll(w.root)
	}
	if w.lasting != nil {
		w.lasting.free()
	}
}

const (
	runPrefix = "run-"
	abandoned = 24 * time.Hour // age of a work directory whose run was killed
)

// sweepOld removes what engines that were killed left, and what is not kept any longer.
func (h *Host) sweepOld(ctx context.Context) {
	for _, d := range inFolder(h.o.Temp) {
		info, err := d.Info()
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), runPrefix) && time.Since(info.ModTime()) > abandoned {
			program.RemoveAll(filepath.Join(h.o.Temp, d.Name()))
		}
	}
	h.sweepTemps(ctx)
}
