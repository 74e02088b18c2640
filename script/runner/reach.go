package runner

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/program"
)

// Reach says what a command gets of the machine: one of a script, a hook, a toolset, the agent's bash, or a program of the engine's own.
// Its method Command is the only place where these fields of a Command are set. All paths are absolute.
type Reach struct {
	Guard Guard // what of the user's files it does not see, and does not change

	Home, Temp string   // its HOME and TMPDIR, which it writes; "" for none. Temp is also its /tmp, see Command.Temp
	UsersHome  bool     // Home is the user's, which it reads
	Own        []string // further folders of its own, which it writes
	Stored     []string // folders that it writes, see Command.Stored

	Read     []string                 // files and folders that it reads
	Sockets  []string                 // sockets of programs outside that it uses
	Lacks    []string                 // what it was given and does not get, as lines for Command.Missing
	Programs []string                 // further programs that it runs: it reads their installations, and that of Command.Path
	Path     []string                 // the folders of its PATH: it reads them, and the libraries next to them
	Getenv   func(name string) string // the user's environment, which says where version managers are; nil is an empty one
	EnvFiles bool                     // it reads every file that its variables name, and not only certificates

	Here      []string // folders of the user's that it reads
	WriteHere []string // those of Here that it writes, except those in Guard.Keep

	GrantRead, GrantWrite []string // what the user named

	Denied   []Denied // rules about files, which come before all that
	Approved []string // folders in which Denied denies nothing

	Network Network
	Confine Confinement
	Limits  Limits
}

// Command returns c with all that r says, c.Env with HOME and TMPDIR. What c says about the same is replaced. It returns a *DeniedError
// if it cannot keep to the rules of Denied.
//
// The paths of the command have no symbolic links: Links has those that lead to them. A path that leads nowhere is left out and named in
// Missing.
func (r *Reach) Command(c Command) (*Command, error) {
	c.Env = r.environment(c.Env, c.Phase) // with the names that the user knows
	r, at := r.resolved()
	c.Dir = at.real(c.Dir)
	if c.Path != "" {
		at.real(c.Path)
	}
	guard := &r.Guard
	c.Own, c.Temp, c.Stored = slices.Concat(r.Own, r.folders()), r.Temp, slices.Clone(r.Stored)
	users := slices.Concat(r.GrantWrite, guard.Writable(r.WriteHere))
	read := slices.Clone(r.GrantRead)
	if r.UsersHome {
		read = append(read, r.Home)
	}
	given := slices.Concat(read, r.GrantWrite)
	gitRead, gitWrite := repositories(at, paths.Unique(slices.Concat(r.Here, given)), users)
	users, read = append(users, gitWrite...), append(read, gitRead...)
	c.Write = slices.Concat(c.Own, c.Stored, users)
	installed := r.installed(at, append(r.Programs[:len(r.Programs):len(r.Programs)], c.Path))
	c.Installed = paths.Unique(paths.Without(installed, slices.Concat(read, r.Here, users)))
	c.Read = slices.Concat(at.there("read", r.Read), installed, read, paths.Without(r.Here, c.Write), at.reals(filesNamed(c.Env, c.Write, r.EnvFiles)))
	c.Sockets = at.there("socket", r.Sockets)
	c.Network, c.Confine, c.Limits = r.Network, r.Confine, r.Limits
	c.Hide, c.Denied, c.Keep, c.Absent, c.Seen, c.Missing = guard.Hidden(slices.Concat(r.Here, given), given), nil, nil, nil, nil, nil
	guard.Protect(&c, users, r.GrantWrite)
	searched := paths.Unique(slices.Concat(r.Here, given, users))
	for _, d := range r.Denied {
		if err := d.Deny(&c, searched, r.Approved); err != nil {
			return nil, err
		}
	}
	c.Read, c.Write, c.Links = paths.Unique(c.Read), paths.Unique(c.Write), at.links
	c.Missing = slices.Concat(c.Missing, r.Lacks, at.missing)
	return &c, nil
}

// resolved returns r with the paths that its own lead to, but for those of Read, Programs and Path, and what follows further paths.
func (r *Reach) resolved() (*Reach, *resolver) {
	at, g := &resolver{home: r.Guard.Home}, &r.Guard
	out := *r
	out.Guard = Guard{Home: at.real(g.Home), Private: at.reals(g.Private), Keep: at.reals(g.Keep), Open: g.Open}
	for _, l := range at.follow(g.Home).links {
		at.homeLinks = append(at.homeLinks, l.Path)
	}
	out.Guard.Keep = append(out.Guard.Keep, at.homeLinks...) // else a command chooses what the home is
	out.Home, out.Temp = at.real(r.Home), at.real(r.Temp)
	out.Own, out.Stored, out.Approved = at.reals(r.Own), at.reals(r.Stored), at.reals(r.Approved)
	out.Here, out.WriteHere = at.reals(r.Here), at.reals(r.WriteHere)
	at.realHome, at.private, at.keys = out.Guard.Home, out.Guard.Private, keysOf(out.Guard.Home)
	at.written = slices.DeleteFunc(slices.Concat(out.Here, out.WriteHere), func(dir string) bool { return at.guarded(dir) != "" })
	for _, path := range r.GrantWrite {
		at.written = append(at.written, at.follow(path).real)
	}
	out.GrantRead, out.GrantWrite = at.granted("read", r.GrantRead), at.granted("write", r.GrantWrite)
	return &out, at
}

// folders returns its home, if it is its own, and its folder for temporary files.
func (r *Reach) folders() []string {
	var out []string
	if r.Home != "" && !r.UsersHome {
		out = append(out, r.Home)
	}
	if r.Temp != "" {
		out = append(out, r.Temp)
	}
	return out
}

// installed returns where the programs that it runs, and those of its PATH, are installed.
func (r *Reach) installed(at *resolver, programs []string) []string {
	var all []string
	for _, path := range programs {
		if filepath.IsAbs(path) {
			all = append(all, program.Installation(path, r.Guard.Home)...)
			at.links = append(at.links, slices.DeleteFunc(slices.Clone(at.follow(path).links), func(l Link) bool { return program.OfSystem(l.Path) })...)
		}
	}
	for _, m := range r.managers() {
		for _, path := range []string{m.Folder, m.File} {
			if path != "" && at.guarded(at.follow(path).real) == "" {
				all = append(all, path)
			}
		}
		if m.Untold != "" {
			at.leaveOut("read", m.Untold, "is not read: it may set variables that are secrets")
		}
	}
	out := at.there("read", all)
	for _, dir := range paths.Unique(slices.Clone(r.Path)) {
		if !filepath.IsAbs(dir) || program.OfSystem(dir) && dir != program.LocalPrograms {
			continue
		}
		all, real := []string{dir}, at.follow(dir).real
		if program.OfSystem(real) {
			all = nil
		} else if at.guarded(real) == "" {
			all = append(all, program.Libraries(real, r.Guard.Home)...)
		}
		if at.guarded(real) == "" {
			all = append(all, program.Linked(real, r.Guard.Home, all)...)
		}
		for _, real := range at.there("path", all) {
			if why := at.guarded(real); why != "" {
				at.leaveOut("path", dir, "is not read: "+why)
				continue
			}
			out = append(out, real)
		}
	}
	return out
}

// managers returns the version managers of its PATH.
func (r *Reach) managers() []program.Manager {
	return program.Managers(r.Path, &program.User{Home: r.Guard.Home, Getenv: r.Getenv})
}

// HomeVariables returns the variables that name a home and a folder for temporary files on this system.
func HomeVariables(home, temp string) map[string]string {
	if runtime.GOOS == "windows" {
		return map[string]string{"HOME": home, "TMPDIR": temp, "USERPROFILE": home, "TEMP": temp, "TMP": temp}
	}
	return map[string]string{"HOME": home, "TMPDIR": temp}
}

// impatient makes installers fail at once without a network, where they would try for minutes.
var impatient = []string{"npm_config_fetch_retries=0", "PIP_RETRIES=0"}

// patient lets installers wait while a person is asked about a host. Others wait long enough, or come back.
var patient = []string{"PIP_DEFAULT_TIMEOUT=150", "UV_HTTP_CONNECT_TIMEOUT=150"} // seconds

// environment returns an environment with the variables of the home and of version managers, with impatient where there is no network and
// with patient where there are questions.
func (r *Reach) environment(env []string, phase Phase) []string {
	out := slices.Clone(env)
	if r.Home != "" && r.Temp != "" {
		own := HomeVariables(r.Home, r.Temp)
		out = slices.DeleteFunc(out, func(kv string) bool {
			name, _, _ := strings.Cut(kv, "=")
			_, replaced := own[name]
			return replaced
		})
		out = append(out, program.Pairs(own)...)
	}
	for _, m := range r.managers() {
		for _, kv := range m.Env {
			name, _, _ := strings.Cut(kv, "=")
			if !slices.ContainsFunc(out, func(have string) bool { return strings.HasPrefix(have, name+"=") }) {
				out = append(out, kv)
			}
		}
	}
	switch {
	case phase != Execute || r.Network.All || r.Confine == ConfineOff:
	case r.Network.Ask != nil && r.Network.Waits:
		out = append(out, patient...)
	case len(r.Network.Hosts) == 0:
		out = append(out, impatient...)
	}
	return out
}

// filesNamed returns the files and folders that the variables of an environment name, except those in some folders: all of them, or
// the certificates, such as SSL_CERT_FILE.
func filesNamed(env, except []string, all bool) []string {
	var out []string
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		value = strings.TrimPrefix(value, "file://")
		if !all && !program.NeededByNetwork(name) || !filepath.IsAbs(value) || program.OfSystem(value) || value == os.DevNull || paths.Within(except, value) {
			continue
		}
		if _, err := os.Stat(value); err == nil {
			out = append(out, filepath.Clean(value))
		}
	}
	return out
}
