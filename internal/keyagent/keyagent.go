// Package keyagent finds the agents that hold a user's keys, such as ssh-agent, and what a command needs to use one of them that has
// another home. It reads files and starts nothing.
package keyagent

import (
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/want"
)

// User is whose agents are looked for.
type User struct {
	Home   string                   // absolute; "" for none
	Getenv func(name string) string // the user's environment
}

// Agent is what a command needs to use an agent.
type Agent struct {
	Socket string   // absolute
	Env    []string // NAME=value, for the command
	keys   string   // the folder with the public keys, for gpg
}

// Given is what a command gets of some agents.
type Given struct {
	Sockets []string // absolute
	Env     []string // NAME=value
	Own     []string // folders of its own, which it writes
	Reads   []string // further files that it reads
	Lacks   []string // what it does not get, as lines "socket: …"
}

// Give returns what a command needs to use some agents, by the names of their wants. It makes files for it in a folder that nobody else
// writes in, and names the agents that do not run.
func (u *User) Give(names []string, dir string) (*Given, error) {
	out := &Given{}
	for _, name := range names {
		a, err := u.Find(name)
		if err != nil {
			out.Lacks = append(out.Lacks, "socket: "+name+" was given, and "+err.Error())
			continue
		}
		at := filepath.Join(dir, "."+name)
		if err := os.RemoveAll(at); err != nil { // of a run that is repeated
			return nil, err
		}
		if err := a.Prepare(at); err != nil {
			return nil, err
		}
		out.Sockets, out.Env = append(out.Sockets, a.Socket), append(out.Env, a.Env...)
	}
	return out, nil
}

// Find returns an agent of the user by the name of its want.Socket. It returns an error that says what is missing if it does not run.
func (u *User) Find(name string) (*Agent, error) {
	switch name {
	case want.SSH:
		socket := u.Getenv("SSH_AUTH_SOCK")
		if socket == "" {
			return nil, errors.New("SSH_AUTH_SOCK is not set")
		}
		if err := isSocket(socket); err != nil {
			return nil, err
		}
		return &Agent{Socket: filepath.Clean(socket), Env: []string{"SSH_AUTH_SOCK=" + filepath.Clean(socket)}}, nil
	case want.GPG:
		return u.gpg()
	}
	return nil, want.Of(want.Socket, name).Check()
}

// isSocket returns an error for what is no socket.
func isSocket(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%q is not an absolute path", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%s %s", path, paths.Why(err))
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s is not a socket", path)
	}
	return nil
}

// The sockets of gpg-agent. The first one is for other machines: it does not give secret keys away.
var gpgSockets = []string{"S.gpg-agent.extra", "S.gpg-agent"}

func (u *User) gpg() (*Agent, error) {
	usual := filepath.Join(u.Home, ".gnupg")
	home := u.Getenv("GNUPGHOME")
	if home == "" {
		home = usual
	}
	if home = filepath.Clean(home); !filepath.IsAbs(home) || u.Home == "" && home == ".gnupg" {
		return nil, errors.New("it is not known where gpg keeps its files")
	}
	run := fmt.Sprintf("/run/user/%d/gnupg", os.Geteuid())
	if home != filepath.Clean(usual) {
		run = filepath.Join(run, "d."+shortened(home))
	}
	for _, name := range gpgSockets {
		for _, dir := range []string{run, home} {
			socket := redirected(filepath.Join(dir, name))
			if isSocket(socket) == nil {
				return &Agent{Socket: socket, keys: home}, nil
			}
		}
	}
	return nil, fmt.Errorf("gpg-agent does not run: there is no socket in %s or %s", run, home)
}

// shortened returns what gpg calls the folder of a home that is not the usual one: a part of its hash in the alphabet of z-base-32.
func shortened(home string) string {
	const bytes = 15
	sum := sha1.Sum([]byte(home))
	return base32.NewEncoding("ybndrfg8ejkmcpqxot1uwisza345h769").WithPadding(base32.NoPadding).EncodeToString(sum[:bytes])
}

// redirect is how a file begins that names a socket elsewhere.
const redirect = "%Assuan%\nsocket="

// redirected returns the path of the socket that a file names, or the path itself.
func redirected(path string) string {
	const most = 4096
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return path
	}
	b, err := lockfile.Read(path, most)
	if target, ok := strings.CutPrefix(string(b), redirect); ok && err == nil {
		return strings.TrimSpace(target)
	}
	return path
}

// mostKeys is how many bytes of public keys are copied.
const mostKeys = 64 << 20

// Prepare makes in an empty folder what the agent's programs need where the user's own files are not seen: for gpg a home with the public
// keys. It sets Env.
func (a *Agent) Prepare(dir string) error {
	if a.keys == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, name := range []string{"pubring.kbx", "pubring.gpg", "trustdb.gpg"} {
		b, err := lockfile.Read(filepath.Join(a.keys, name), mostKeys)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			return err
		}
	}
	a.Env = []string{"GNUPGHOME=" + dir}
	return os.WriteFile(filepath.Join(dir, gpgSockets[1]), []byte(redirect+a.Socket+"\n"), 0o600)
}
