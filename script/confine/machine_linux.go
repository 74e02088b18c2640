package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/script/runner"
)

// machine is what is known about this machine. The zero value knows nothing.
type machine struct {
	lost    map[string]error // layers that it turned out not to have
	version int              // of Landlock, plus 1; 0 means not asked
	system  map[string]entry // the view that all commands have
	groups  atomic.Int64     // cgroups made so far
	watcher watcher
	lookout lookout
	swept   sync.Once // removes the cgroups of engines that were killed
}

// errLeftOff is why a layer is missing that Options.Without names.
var errLeftOff = errors.New("left off")

// layers returns the layers that the machine has as far as is known.
func (r *Runner) layers() layers {
	abi := r.abi()
	r.mu.Lock()
	defer r.mu.Unlock()
	has := func(layer string) bool { return r.lost[layer] == nil && !slices.Contains(r.o.Without, layer) }
	return layers{namespaces: has(Namespaces), landlock: abi > 0 && has(Landlock), seccomp: has(seccomp)}
}

// confines reports whether files and network are confined.
func (l layers) confines() bool { return (l.namespaces || l.landlock) && (l.namespaces || l.seccomp) }

// tier returns the tier that the layers make up.
func (l layers) tier() string {
	switch {
	case l.namespaces && l.landlock && l.seccomp:
		return "A"
	case l.confines():
		return "B"
	case l.seccomp:
		return "C"
	}
	return "E"
}

// lose notes that a layer is missing. It returns false if that was known.
func (r *Runner) lose(l *lostLayer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost == nil {
		r.lost = map[string]error{}
	}
	if r.lost[l.layer] != nil {
		return false
	}
	r.lost[l.layer] = l.err
	return true
}

// overlays are the file systems of Command.Layer. A machine may have namespaces without them.
const overlays = "overlays"

func (r *Runner) hasLost(layer string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost[layer] != nil
}

// abi returns the version of Landlock, 0 if there is none.
func (r *Runner) abi() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.version == 0 {
		v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
		if errno != 0 {
			v = 0
		}
		r.version = int(v) + 1
	}
	return r.version - 1
}

// base returns the part of the view that all commands have.
func (r *Runner) base() map[string]entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.system == nil {
		v := &view{entries: map[string]entry{}}
		for _, path := range system {
			v.follow(path)
		}
		r.system = v.entries
	}
	return r.system
}

// Report says what confines a command on this machine. It sets a sandbox up to find out, for a program that does not exist.
func (r *Runner) Report(ctx context.Context) runner.Sandbox {
	c := &runner.Command{Path: "/dev/null/none", Args: []string{"none"}, Dir: "/", Timeout: reportTimeout, Limits: runner.Limits{OpenFiles: 1024}}
	_, _ = r.Run(ctx, c)
	return *r.describe(&plan{c: c, layers: r.layers(), abi: r.abi()})
}

// describe says what confines the command of a plan.
func (r *Runner) describe(p *plan) *runner.Sandbox {
	s := &runner.Sandbox{Tier: p.layers.tier(), Layers: []string{}, Missing: []string{}}
	if p.c.Confine == runner.ConfineOff {
		s.Tier = "off"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range []struct {
		name, detail string
		held         bool
	}{
		{Namespaces, "", p.layers.namespaces}, {Landlock, fmt.Sprintf(" %d", p.abi), p.layers.landlock}, {seccomp, "", p.layers.seccomp},
	} {
		switch {
		case l.held:
			s.Layers = append(s.Layers, l.name+l.detail)
		case p.c.Confine == runner.ConfineOff:
			// not wanted
		default:
			s.Missing = append(s.Missing, l.name+": "+r.whyLost(l.name).Error())
		}
	}
	if p.layers.landlock && !p.layers.namespaces && p.abi < scopes {
		s.Missing = append(s.Missing, "signals: a command can end other processes of its user before Linux 6.12")
	}
	s.Layers = append(s.Layers, wholeTree)
	l := p.c.Limits
	if l.FileSize > 0 || l.OpenFiles > 0 || l.CPU > 0 {
		s.Layers = append(s.Layers, limits)
	}
	if l.Memory > 0 {
		s.Layers = append(s.Layers, memory)
	}
	if l.Processes > 0 && (p.cgroup || os.Geteuid() != 0) {
		s.Layers = append(s.Layers, processes)
	} else if l.Processes > 0 {
		s.Missing = append(s.Missing, processes+": no cgroup can be made, and root has no other limit")
	}
	if p.hosts {
		s.Layers = append(s.Layers, hosts)
	}
	s.Missing = append(append(s.Missing, p.c.Missing...), p.missing...)
	return s
}

// whyLost returns why a layer is missing. r.mu is held.
func (r *Runner) whyLost(layer string) error {
	switch {
	case slices.Contains(r.o.Without, layer):
		return errLeftOff
	case r.lost[layer] != nil:
		return r.lost[layer]
	case layer == Landlock && r.version == 1:
		return errors.New("the kernel has none")
	}
	return errors.New("unknown")
}

// missing returns the error for a command that must be confined, on a machine that cannot do it.
func (r *Runner) missing() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &runner.SandboxError{Layer: Namespaces, Err: r.whyLost(Namespaces), Cure: "Allow user namespaces, or use a kernel with Landlock (5.13 or newer) and seccomp."}
}
