package servers

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/mcphost/skillsource"
	"github.com/agent-base/agent-base/script"
)

// projectFile has, in the folder that is kept for the servers of a project, where the project is.
const projectFile = "project"

// How long what nobody uses is kept.
const (
	keepHome   = 180 * 24 * time.Hour // a program may remember something there
	keepServed = 30 * 24 * time.Hour  // it is asked for again
)

// Unneeded returns what is kept of servers and not needed: what belongs to projects that are not there, homes that no program used for half a
// year, and skills that were not listed for 30 days. With remove it is removed. Nothing of a program that runs is among it.
func (m *Servers) Unneeded(ctx context.Context, remove bool) (out []script.Swept) {
	p, now := m.Settings.Config().Paths, m.Sys.Now()
	if p.State() == "" {
		return nil
	}
	drop := func(dir, why string) {
		free, ok := unused(ctx, dir)
		if !ok {
			return
		}
		defer free()
		name, _ := filepath.Rel(p.State(), dir)
		_, bytes := proc.Measure(dir)
		out = append(out, script.Swept{Path: filepath.ToSlash(name), Why: why, Bytes: bytes})
		if remove {
			ondisk.RemoveAll(dir)
		}
	}
	var gone []string
	of, _ := filepath.Glob(filepath.Join(p.State(), "mcp", "*", projectFile))
	for _, file := range of {
		project, err := lockfile.ReadPrivate(file, maxPath)
		if _, there := os.Stat(string(project)); err == nil && errors.Is(there, fs.ErrNotExist) {
			gone = append(gone, filepath.Dir(file))
			drop(filepath.Dir(file), "servers of a project that is not there: "+string(project))
		}
	}
	locks, _ := filepath.Glob(filepath.Join(p.State(), "mcp", "*", "*", homeLock))
	for _, lock := range locks {
		if info, err := os.Lstat(lock); err == nil && now.Sub(info.ModTime()) > keepHome && !paths.Within(gone, lock) {
			drop(filepath.Dir(lock), "home of a server, not used since "+info.ModTime().Format(time.DateOnly))
		}
	}
	for _, name := range skillsource.Old(p.Served(), now.Add(-keepServed)) {
		drop(filepath.Join(p.Served(), name), "skills of a server, not listed for 30 days")
	}
	return out
}

// maxPath is how many bytes the path of a project has.
const maxPath = 8 << 10

// unused reports whether no program runs that has a home in a folder. None is started there before free.
func unused(ctx context.Context, dir string) (free func(), ok bool) {
	var held []func()
	free = func() {
		for _, f := range held {
			f()
		}
	}
	for _, at := range []string{homeLock, filepath.Join("*", homeLock)} {
		locks, _ := filepath.Glob(filepath.Join(dir, at))
		for _, lock := range locks {
			f, err := lockfile.Lock(ctx, lock, time.Nanosecond)
			if err != nil {
				free()
				return nil, false
			}
			held = append(held, f)
		}
	}
	return free, true
}

// Forget removes the homes of a server: those that one of the user's has in all projects, or that of one that this project proposes.
func (m *Servers) Forget(e *Entry) {
	homes := []string{m.folder(homeName(e))}
	if e.State == Own {
		homes, _ = filepath.Glob(filepath.Join(m.Settings.Config().Paths.State(), "mcp", "*", homeName(e)))
	}
	for _, dir := range homes {
		ondisk.RemoveAll(dir)
	}
	_ = skillsource.Remove(m.Settings.Config().Paths.Served(), e.Label, m.scope(e)) // nobody uses it any more
}
