package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/script/runner"
)

// cgroup counts the memory and the processes of one command. Only root can make one.
type cgroup struct {
	dirs []string // one, or one for each controller in the old hierarchy
}

const (
	cgroupRoot   = "/sys/fs/cgroup"
	cgroupPrefix = "agent-base-" // then the engine's process and a number
)

// newCgroup returns a group with limits, nil if none can be made.
func (r *Runner) newCgroup(l runner.Limits) *cgroup {
	if os.Geteuid() != 0 {
		return nil
	}
	r.swept.Do(sweepCgroups)
	name := fmt.Sprintf("%s%d-%d", cgroupPrefix, os.Getpid(), r.groups.Add(1))
	for _, make := range []func(string, runner.Limits) (*cgroup, error){unified, separate} {
		g, err := make(name, l)
		if err == nil {
			return g
		}
		g.remove()
	}
	return nil
}

// unified makes a group in the hierarchy of cgroup 2.
func unified(name string, l runner.Limits) (*cgroup, error) {
	b, err := os.ReadFile(filepath.Join(cgroupRoot, "cgroup.subtree_control"))
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(b), "memory") || !strings.Contains(string(b), "pids") {
		if err := set(cgroupRoot, "cgroup.subtree_control", "+memory +pids"); err != nil {
			return nil, err
		}
	}
	g := &cgroup{}
	dir, err := g.mkdir(cgroupRoot, name)
	if err == nil && l.Memory > 0 {
		err = set(dir, "memory.max", number(l.Memory))
		_ = set(dir, "memory.swap.max", "0") // missing where there is no swap
	}
	if err == nil && l.Processes > 0 {
		err = set(dir, "pids.max", number(l.Processes+stageThreads))
	}
	return g, err
}

// separate makes a group for each controller in the hierarchies of cgroup 1.
func separate(name string, l runner.Limits) (*cgroup, error) {
	g := &cgroup{}
	if l.Memory > 0 {
		dir, err := g.mkdir(filepath.Join(cgroupRoot, "memory"), name)
		if err == nil {
			err = set(dir, "memory.limit_in_bytes", number(l.Memory))
			_ = set(dir, "memory.memsw.limit_in_bytes", number(l.Memory)) // missing where swap is not counted
		}
		if err != nil {
			return g, err
		}
	}
	if l.Processes > 0 {
		dir, err := g.mkdir(filepath.Join(cgroupRoot, "pids"), name)
		if err == nil {
			err = set(dir, "pids.max", number(l.Processes+stageThreads))
		}
		if err != nil {
			return g, err
		}
	}
	return g, nil
}

func (g *cgroup) mkdir(root, name string) (string, error) {
	if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err != nil {
		return "", err
	}
	dir := filepath.Join(root, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	g.dirs = append(g.dirs, dir)
	return dir, nil
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

func set(dir, file, value string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(value), 0) //nolint:gosec // the file exists
}

// add puts a process into the group. A nil group has no limits.
func (g *cgroup) add(pid int) error {
	if g == nil {
		return nil
	}
	for _, dir := range g.dirs {
		if err := set(dir, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return err
		}
	}
	return nil
}

// refused reports whether a process was refused to the group because of its limit.
func (g *cgroup) refused() bool {
	return g.counted("pids.events", "max")
}

// outgrown reports whether a process of the group was ended because of its memory.
func (g *cgroup) outgrown() bool {
	return g.counted("memory.events", "oom_kill") || g.counted("memory.oom_control", "oom_kill") // the latter in cgroup 1
}

// counted reports whether a line of a file says that something has happened.
func (g *cgroup) counted(file, what string) bool {
	if g == nil {
		return false
	}
	for _, dir := range g.dirs {
		b, _ := os.ReadFile(filepath.Join(dir, file)) // missing in the group of another controller
		for line := range strings.Lines(string(b)) {
			if n, ok := strings.CutPrefix(line, what+" "); ok && strings.TrimSpace(n) != "0" {
				return true
			}
		}
	}
	return false
}

// remove ends what is left in the group and removes it.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	for _, dir := range g.dirs {
		_ = set(dir, "cgroup.kill", "1") // missing in cgroup 1
		for range 100 {
			if !errors.Is(unix.Rmdir(dir), unix.EBUSY) {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// sweepCgroups removes the groups of engines that are gone.
func sweepCgroups() {
	for _, root := range []string{cgroupRoot, filepath.Join(cgroupRoot, "memory"), filepath.Join(cgroupRoot, "pids")} {
		entries, err := os.ReadDir(root)
		if err != nil {
			continue
		}
		for _, e := range entries {
			rest, ok := strings.CutPrefix(e.Name(), cgroupPrefix)
			pid, _, _ := strings.Cut(rest, "-")
			n, err := strconv.Atoi(pid)
			if ok && err == nil && errors.Is(unix.Kill(n, 0), unix.ESRCH) {
				(&cgroup{dirs: []string{filepath.Join(root, e.Name())}}).remove()
			}
		}
	}
}
