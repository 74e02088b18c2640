package confine

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/script/confine/internal/stage"
	"github.com/agent-base/agent-base/script/runner"
)

// plan is how one command is confined.
type plan struct {
	c      *runner.Command
	layers layers
	abi    int // of Landlock
	view   *view
	hosts  bool // the network is that of Command.Network.Hosts
	relay  relay
	cgroup bool // a cgroup counts memory and processes
	temp   int64

	noSockets bool // the command has no unix sockets

	links   []string // of Command.Keep, which cannot be mounted
	missing []string // what the command asked for and does not get
}

// layers are those that hold for a command.
type layers struct{ namespaces, landlock, seccomp bool }

// stageThreads is the number of threads that a stage may have, which count too.
const stageThreads = 8

// Sizes of the private file systems.
const (
	rootSize   = 16 << 20
	sharedSize = 64 << 20
)

// chooseNetwork decides whether the command reaches named hosts.
func (p *plan) chooseNetwork(proxy bool) {
	if !p.c.Network.Some() || p.c.Confine == runner.ConfineOff {
		return
	}
	if p.c.Network.OrAll && !(proxy && (p.layers.namespaces || p.layers.landlock && p.layers.seccomp && p.abi >= 4)) {
		whole := *p.c
		whole.Network.All = true
		p.c = &whole
		p.missing = append(p.missing, hosts+": needs a proxy, and namespaces or Landlock 4, so the command has the whole network")
		return
	}
	switch {
	case !proxy:
		p.missing = append(p.missing, hosts+": there is no proxy, so the command has no network")
	case p.layers.namespaces:
		p.hosts = true
	case p.layers.landlock && p.layers.seccomp && p.abi >= 4:
		p.hosts = true
	default:
		p.missing = append(p.missing, hosts+": needs namespaces or Landlock 4, so the command has no network")
	}
}

// program returns what the stage does.
func (p *plan) program() *stage.Program {
	env := p.relay.env(p.env())
	if !p.hosts && !p.c.Network.All && p.c.Confine != runner.ConfineOff && (p.layers.namespaces || p.layers.seccomp) {
		env = withoutProxies(env)
	}
	prog := &stage.Program{Path: p.c.Path, Args: p.c.Args, Env: env, Sweep: !p.layers.namespaces}
	if !p.cgroup {
		prog.Memory = p.c.Limits.Memory
	}
	if p.layers.namespaces {
		prog.Setup = p.namespaces()
	} else {
		prog.Setup = []stage.Op{{Code: stage.Subreaper}}
	}
	prog.Restrict = p.restrictions()
	return prog
}

// systemGit is git's configuration for the whole machine.
const systemGit = "/etc/gitconfig"

// env returns the variables of the command. Git ends if it may not read a file that it sees, and without namespaces it sees systemGit.
func (p *plan) env() []string {
	set := func(v string) bool {
		return strings.HasPrefix(v, "GIT_CONFIG_NOSYSTEM=") || strings.HasPrefix(v, "GIT_CONFIG_SYSTEM=")
	}
	if p.layers.namespaces || !p.layers.landlock || p.view.sees(systemGit) || slices.ContainsFunc(p.c.Env, set) {
		return p.c.Env
	}
	return append(slices.Clip(p.c.Env), "GIT_CONFIG_NOSYSTEM=1")
}

// insideUser returns the number that the caller's user has inside: its own, but not that of root.
func insideUser(id int) int {
	if id == 0 {
		return 1000
	}
	return id
}

func (p *plan) namespaces() []stage.Op {
	uid, gid := os.Geteuid(), os.Getegid()
	ops := []stage.Op{
		{Code: stage.WriteFile, A: "/proc/self/setgroups", B: "deny"},
		{Code: stage.WriteFile, A: "/proc/self/uid_map", B: fmt.Sprintf("%d %d 1", insideUser(uid), uid)},
		{Code: stage.WriteFile, A: "/proc/self/gid_map", B: fmt.Sprintf("%d %d 1", insideUser(gid), gid)},
		{Code: stage.SlaveMount},
	}
	if !p.c.Network.All {
		ops = append(ops, stage.Op{Code: stage.Loopback})
	}
	if p.hosts {
		ops = append(ops, stage.Op{Code: stage.Listen, N: proxyPort})
	}
	ops = append(ops, stage.Op{Code: stage.Root, B: fmt.Sprintf("mode=755,size=%d", rootSize)})
	list := p.view.sorted()
	for _, e := range list {
		e.holds = e.kind == hiddenFolder && slices.ContainsFunc(list, func(in entry) bool { return strings.HasPrefix(in.path, e.path+"/") })
		ops = append(ops, e.operation())
	}
	for _, e := range p.view.entries {
		if e.kind == hiddenFolder {
			ops = append(ops, stage.Op{Code: stage.ReadOnly, A: e.path})
		}
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		ops = append(ops, stage.Op{Code: stage.Symlink, A: "/dev/" + name, B: target})
	}
	return append(ops, stage.Op{Code: stage.Proc, A: "/proc"}, stage.Op{Code: stage.Enter})
}

// makeView collects what the command sees.
func (p *plan) makeView(base map[string]entry) {
	p.view = &view{entries: map[string]entry{}}
	for path, e := range base {
		p.view.entries[path] = e
	}
	if p.c.Network.All {
		for _, path := range online {
			p.view.follow(path)
		}
	}
	if p.layers.namespaces {
		p.addPrivate()
	} else {
		for _, path := range public {
			p.view.follow(path)
		}
	}
	p.view.follow(p.c.Path)
	p.view.addLinks(p.c.Links)
	for _, path := range p.c.Read {
		p.grant(path, entry{kind: readable, optional: true})
	}
	for _, path := range p.c.Sockets {
		if !p.layers.namespaces {
			p.missing = append(p.missing, "socket: "+path+" is out of reach: without namespaces a command has no unix sockets")
			continue
		}
		p.grant(path, entry{kind: readable, optional: true})
	}
	for _, path := range p.c.Write {
		own := slices.Contains(p.c.Own, path) || slices.Contains(p.c.Stored, path)
		p.grant(path, entry{kind: writable, optional: !own})
	}
	if l := p.c.Layer; l != nil {
		dir := filepath.Clean(l.Dir)
		p.view.entries[dir] = entry{path: dir, kind: layered, text: l.Upper + "\x00" + l.Work}
	}
	if p.layers.namespaces {
		p.hide()
		p.hideSockets()
	}
	if dir := filepath.Clean(p.c.Dir); p.layers.namespaces && !p.view.sees(dir) {
		p.view.add(entry{path: dir, kind: folder})
	}
}

// grant adds a path that the command may use. The root stands for what is in it: what is made for the command alone lies there too.
func (p *plan) grant(path string, e entry) {
	e.path = filepath.Clean(path)
	if e.path != "/" {
		p.view.add(e)
		return
	}
	list, err := os.ReadDir("/")
	if err != nil {
		return
	}
	for _, in := range list {
		name := "/" + in.Name()
		if in.Type()&os.ModeSymlink == 0 && !slices.Contains(made, name) {
			p.view.add(entry{path: name, kind: e.kind, optional: true})
		}
	}
}

// made are the folders that are made for the command alone.
var made = []string{"/proc", "/sys", "/dev", runner.SystemTemp}

// addPrivate adds what is made for the command alone.
func (p *plan) addPrivate() {
	p.view.add(entry{path: runner.SystemTemp, kind: private, from: p.c.Temp, text: fmt.Sprintf("mode=1777,size=%d,nr_inodes=65536", p.temp)})
	p.view.add(entry{path: "/dev/shm", kind: private, text: fmt.Sprintf("mode=1777,size=%d,nr_inodes=4096", sharedSize)})
	for _, path := range devices {
		p.view.add(entry{path: path, kind: device})
	}
	home := "/"
	for _, v := range p.c.Env {
		if dir, ok := strings.CutPrefix(v, "HOME="); ok && filepath.IsAbs(dir) && !strings.ContainsAny(dir, ":\n") {
			home = dir
		}
	}
	uid, gid := insideUser(os.Geteuid()), insideUser(os.Getegid())
	p.view.add(entry{path: "/etc/passwd", kind: file, text: fmt.Sprintf(
		"root:x:0:0:root:/:/bin/sh\nuser:x:%d:%d:user:%s:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n", uid, gid, home)})
	p.view.add(entry{path: "/etc/group", kind: file, text: fmt.Sprintf("root:x:0:\nuser:x:%d:\nnogroup:x:65534:\n", gid)})
	if !p.c.Network.All {
		p.view.add(entry{path: "/etc/hosts", kind: file, text: hostsFile()})
	}
}

// hostsFile returns the /etc/hosts of a command with a network of its own. The machine's name is this network's too: programs look
// it up.
func hostsFile() string {
	text := "127.0.0.1 localhost\n::1 localhost\n"
	if name, err := os.Hostname(); err == nil && name != "" && !strings.ContainsAny(name, " \t\n#") {
		text += "127.0.0.1 " + name + "\n"
	}
	return text
}

// restrictions returns the operations on the thread that starts the command, in an order in which none needs what an earlier one took.
func (p *plan) restrictions() []stage.Op {
	ops := []stage.Op{{Code: stage.Chdir, A: p.c.Dir}}
	if p.layers != (layers{}) {
		ops = append(ops, stage.Op{Code: stage.NoNewPrivs})
	}
	if p.layers.namespaces || p.layers.landlock {
		ops = append(ops, stage.Op{Code: stage.DropCaps})
	}
	if p.layers.landlock {
		ops = append(ops, p.landlock()...)
	}
	ops = append(ops, p.limits()...)
	if p.layers.seccomp {
		ops = append(ops, stage.Op{Code: stage.Filter, B: stage.EncodeFilter(p.filter().build())})
	}
	if p.layers.seccomp && !p.layers.namespaces {
		ops = append(ops, stage.Op{Code: stage.ProtectStage})
	}
	return ops
}

// filter returns what seccomp refuses. In a network of its own, in which nothing else is, a command may open TCP connections: many
// serve themselves.
func (p *plan) filter() rules {
	if p.c.Confine == runner.ConfineOff {
		return rules{}
	}
	return rules{
		confine: true, inet: p.c.Network.All || p.hosts || p.layers.namespaces, noSocket: !p.layers.namespaces || p.noSockets, others: !p.layers.namespaces,
		onlyTCP:  !p.c.Network.All && !(p.hosts && p.layers.namespaces),
		noShared: !p.layers.namespaces || p.c.Limits.Memory > 0 && !p.cgroup,
		noCut:    !p.layers.namespaces && p.abi < truncates,
	}
}

// limits returns the resource limits. The stage gets them too, which needs next to nothing.
func (p *plan) limits() []stage.Op {
	l := p.c.Limits
	limit := func(resource int, n uint64) stage.Op { return stage.Op{Code: stage.Limit, N: uint64(resource), M: n} }
	ops := []stage.Op{limit(unix.RLIMIT_CORE, 0)}
	if l.FileSize > 0 {
		ops = append(ops, limit(unix.RLIMIT_FSIZE, l.FileSize))
	}
	if l.OpenFiles > 0 {
		ops = append(ops, limit(unix.RLIMIT_NOFILE, l.OpenFiles))
	}
	if l.CPU > 0 {
		op := limit(unix.RLIMIT_CPU, uint64((l.CPU+time.Second-1)/time.Second))
		op.B = "\x02" // the signal of the soft limit can be seen; with both equal it is SIGKILL at once
		ops = append(ops, op)
	}
	if l.Processes > 0 && !p.cgroup && os.Geteuid() != 0 {
		ops = append(ops, limit(unix.RLIMIT_NPROC, p.processes(l.Processes+stageThreads)))
	}
	return ops
}

// Rights of Landlock.
const (
	canRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	canWrite = canRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	always = canWrite | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// Versions of Landlock that brought something.
const (
	truncates = 3 // Linux 6.2: a file is emptied only by who may write it
	scopes    = 6 // Linux 6.12: signals reach nothing outside
)

// landlock returns one ruleset: a second one would forbid to move files between folders.
func (p *plan) landlock() []stage.Op {
	files := handled(p.abi)
	set := stage.Op{Code: stage.Ruleset, N: files}
	if p.abi >= 4 && !p.c.Network.All && !p.layers.namespaces { // a rule names ports, and a command may choose any of its own network
		set.M = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	var scoped [8]byte
	if p.abi >= scopes {
		binary.LittleEndian.PutUint64(scoped[:], unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET|unix.LANDLOCK_SCOPE_SIGNAL)
	}
	set.B = string(scoped[:])
	ops := []stage.Op{set}
	allow := func(path string, access uint64) {
		ops = append(ops, stage.Op{Code: stage.Allow, N: access & files, A: path})
	}
	if p.layers.namespaces {
		allow("/", canRead) // nothing else is there
	} else {
		allow("/proc", canRead)
		for _, path := range devices {
			allow(path, canWrite)
		}
	}
	entries := p.view.all() // what lies in a folder may be hidden without a rule of its own
	if p.layers.namespaces {
		entries = p.view.sorted()
	}
	for _, e := range entries {
		rights := uint64(canWrite)
		switch {
		case e.kind == readable && !p.layers.namespaces:
			rights = canRead
		case e.kind != writable && e.kind != private && e.kind != device && e.kind != layered:
			continue
		}
		paths := []string{e.path}
		if !p.layers.namespaces {
			paths = p.opened(e.path)
		}
		for _, path := range paths {
			allow(path, rights)
		}
	}
	if set.M != 0 && p.relay.port != 0 {
		ops = append(ops, stage.Op{Code: stage.AllowPort, N: unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, M: uint64(p.relay.port)})
	}
	return append(ops, stage.Op{Code: stage.Enforce})
}

// handled returns the rights on files that a version of Landlock knows.
func handled(abi int) uint64 {
	files := uint64(always)
	if abi < 2 {
		files &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi < truncates {
		files &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 5 {
		files |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return files
}
