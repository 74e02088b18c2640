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
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// workplace is what one run may write to.
type workplace struct {
	root, work, home, temp, cache string

	kept string // where stays what scripts write in the folder of the skill: a folder for each content. Only the engine writes there
}

// workplace makes the folders of one run, which remove deletes, and the skill's home and cache, which stay. With ownHome the
// home is the operator's.
func (h *Host) workplace(ctx context.Context, s *skill.Skill, ownHome bool) (*workplace, error) {
	temp := h.o.Temp
	name, err := h.placeName(ctx, s)
	if err != nil {
		return nil, err
	}
	w := &workplace{cache: filepath.Join(h.o.Cache, cachesFolder, name), home: filepath.Join(h.o.Homes, name), kept: h.keptFiles(name)}
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
	env := runner.HomeVariables(w.home, w.temp)
	maps.Copy(env, map[string]string{
		"AGENT_SKILL_DIR": dir, "AGENT_SKILL_NAME": s.Canonical(), "AGENT_WORKSPACE": h.o.Workspace,
		"AGENT_SKILL_WORK_DIR": w.work, "AGENT_SKILL_CACHE_DIR": w.cache,
	})
	return env
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
