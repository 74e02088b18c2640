package places

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/skill"
)

// Workplace is what one run may write to.
type Workplace struct {
	plan.Folders
	Lasting *TempFolder // what Temp is, if it stays after the run; else nil

	Kept string // where stays what scripts write in the folder of the skill: a folder for each content. Only the engine writes there
}

// Workplace makes the folders of one run, which Remove deletes, and those of the skill that stay. A granted home is the operator's.
func (st *Store) Workplace(ctx context.Context, s *skill.Skill, g *plan.Grant) (*Workplace, error) {
	name, err := st.name(ctx, s)
	if err != nil {
		return nil, err
	}
	w := &Workplace{Kept: st.keptFiles(name), Folders: plan.Folders{Cache: st.cache(name), Home: st.home(name)}}
	if plan.OwnHome(g) {
		if w.Home = st.o.UserHome; w.Home == "" {
			return nil, errors.New("it was granted the user's home, and there is none")
		}
	}
	for _, d := range []string{st.o.Runs, w.Cache, w.Home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	if err := w.checkKept(plan.OwnHome(g)); err != nil {
		return nil, err
	}
	st.once.Do(func() { st.sweepOld(ctx) })
	if w.Lasting, err = st.temp(ctx, name, g); err != nil {
		return nil, err
	}
	if err := w.make(st.o.Runs); err != nil {
		w.Remove()
		return nil, err
	}
	return w, nil
}

// make makes the folders that go with the run.
func (w *Workplace) make(in string) (err error) {
	if w.Root, err = os.MkdirTemp(in, runPrefix); err != nil {
		return err
	}
	w.Work, w.Temp = filepath.Join(w.Root, workInside), filepath.Join(w.Root, tempInside)
	if w.Lasting != nil {
		w.Temp = w.Lasting.Dir
		return os.Mkdir(w.Work, 0o700)
	}
	return errors.Join(os.Mkdir(w.Work, 0o700), os.Mkdir(w.Temp, 0o700))
}

// checkKept returns an error if a folder that a skill keeps is a link: a run of its scripts may have put it there.
func (w *Workplace) checkKept(ownHome bool) error {
	kept := []string{w.Cache, w.Home}
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

// Remove deletes the folders of the run.
func (w *Workplace) Remove() {
	if w.Root != "" {
		if w.Lasting != nil {
			w.Lasting.unmade(w.Root)
		}
		ondisk.RemoveAll(w.Root)
	}
	if w.Lasting != nil {
		w.Lasting.free()
	}
}

// abandoned is the age of a work directory whose run was killed.
const abandoned = 24 * time.Hour

// sweepOld removes what engines that were killed left, and what is not kept any longer.
func (st *Store) sweepOld(ctx context.Context) {
	for _, d := range inFolder(st.o.Runs) {
		info, err := d.Info()
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), runPrefix) && time.Since(info.ModTime()) > abandoned {
			ondisk.RemoveAll(filepath.Join(st.o.Runs, d.Name()))
		}
	}
	st.sweepTemps(ctx)
}
