package nodeenv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/program"
)

const resolverOutput = 1500 // bytes of what npm printed, in a message

// resolver is a program that chooses versions and writes a lock.
type resolver struct {
	name string
	args []string
	lock string
	read func(pkg *packageJSON, file string, b []byte, pf platform) (plan, error)
}

// resolvers are in the order in which they are tried. Neither installs anything, runs a script, or asks git.
func resolvers() []resolver {
	return []resolver{
		{"npm", []string{"install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier",
			"--loglevel=error", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=4000", "--lockfile-version=3", "--git=" + os.DevNull}, "package-lock.json", readNPM},
		{"bun", []string{"install", "--lockfile-only", "--ignore-scripts", "--no-progress", "--no-summary", "--save-text-lockfile"}, "bun.lock", readBun},
	}
}

// chosen is a lock that a program of the operator wrote.
type chosen struct {
	Program string `json:"program"`
	Lock    string `json:"lock"`
}

// plan reads the lock.
func (c *chosen) plan(pkg *packageJSON, pf platform) (plan, error) {
	for _, r := range resolvers() {
		if r.name == c.Program {
			p, err := r.read(pkg, "the lock that "+r.name+" wrote", []byte(c.Lock), pf)
			return p, err
		}
	}
	return nil, fmt.Errorf("the lock of %s cannot be read", c.Program)
}

// resolve has npm or bun choose versions for the dependencies. The program sees a package.json with the dependencies alone,
// in a folder of its own with an empty home.
func (j *job) resolve(ctx context.Context, work string) (*chosen, error) {
	for _, r := range resolvers() {
		path, err := j.s.o.LookPath(r.name)
		if err == nil {
			return j.run(ctx, r, path, work)
		}
		if dropped, ok := errors.AsType[*program.DroppedError](err); ok {
			return nil, fmt.Errorf("%s has no lock, and %w: install %s in another folder of PATH; or add a package-lock.json to the skill", j.pkg.file, dropped, r.name)
		}
	}
	return nil, fmt.Errorf("%s has no lock, and %w; or add a package-lock.json to the skill", j.pkg.file, ErrNoNPM)
}

func (j *job) run(ctx context.Context, r resolver, path, work string) (*chosen, error) {
	dir, home := filepath.Join(work, "resolve"), filepath.Join(work, "home")
	lines := slices.Clone(j.s.from.lines)
	authorities, err := j.s.from.authorities()
	if err != nil {
		return nil, err
	}
	if authorities != nil {
		lines = append(lines, "cafile="+filepath.Join(home, caFile))
	}
	err = errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(home, 0o700), os.WriteFile(filepath.Join(dir, "package.json"), j.pkg.canonical(), 0o600),
		os.WriteFile(filepath.Join(home, ".npmrc"), []byte(strings.Join(lines, "\n")+"\n"), 0o600),
		os.WriteFile(filepath.Join(home, caFile), authorities, 0o600))
	if err != nil {
		return nil, err
	}
	var others []string
	if node, err := j.s.o.LookPath("node"); err == nil {
		others = append(others, node)
	}
	out, err := j.s.o.Run(ctx, &Command{Path: path, Args: append([]string{path}, r.args...), Dir: dir, Env: program.Pairs(j.environment(path, home)),
		Timeout: j.s.o.MaxTime, MaxStdout: 64 << 10, Write: []string{work}, Programs: others, Hosts: append(j.s.from.hosts(), j.s.o.Hosts...)})
	switch {
	case err != nil:
		return nil, err
	case out.TimedOut:
		return nil, fmt.Errorf("%s took more than %gs", r.name, j.s.o.MaxTime.Seconds())
	case out.ExitCode != 0 && len(out.Refused) > 0:
		return nil, fmt.Errorf("%s: %w", r.name, &HostError{Hosts: out.Refused})
	case out.ExitCode != 0 && aboutCertificate(out.Stderr):
		return nil, fmt.Errorf("%s failed: %s: %w", r.name, said(out.Stderr, work), ErrCertificate)
	case out.ExitCode != 0:
		return nil, fmt.Errorf("%s failed with exit code %d: %s", r.name, out.ExitCode, said(out.Stderr, work))
	}
	b, err := readFile(os.DirFS(dir), r.lock, maxLock)
	if err != nil {
		return nil, fmt.Errorf("%s wrote no lock: %w", r.name, err)
	}
	return &chosen{r.name, string(b)}, nil
}

// caFile is the copy of the operator's file of authorities, in the home of npm or bun.
const caFile = "authorities.pem"

// aboutCertificate reports whether npm or bun says that it does not know who signed a certificate.
func aboutCertificate(text []byte) bool {
	for _, code := range []string{"SELF_SIGNED_CERT", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "UNABLE_TO_GET_ISSUER_CERT"} {
		if bytes.Contains(text, []byte(code)) {
			return true
		}
	}
	return false
}

// environment returns the environment of npm or bun: the programs that it needs, the registries, and what the network needs.
func (j *job) environment(path, home string) map[string]string {
	folders := []string{filepath.Dir(path)}
	if node, err := j.s.o.LookPath("node"); err == nil { // npm is a script of it
		folders = append(folders, filepath.Dir(node))
	}
	env := map[string]string{
		"PATH": strings.Join(append(folders, program.FixedPath), string(filepath.ListSeparator)),
		"HOME": home, "USERPROFILE": home, "TMPDIR": home, "LANG": "C.UTF-8", "NO_COLOR": "1",
		"npm_config_cache": filepath.Join(home, "cache"), "npm_config_userconfig": filepath.Join(home, ".npmrc"), "npm_config_globalconfig": os.DevNull,
	}
	for _, kv := range j.s.o.Env {
		name, value, _ := strings.Cut(kv, "=")
		if program.NeededByNetwork(name) || program.NeededBySystem(name) {
			env[name] = value
		}
	}
	if file := env["SSL_CERT_FILE"]; file != "" && env["NODE_EXTRA_CA_CERTS"] == "" { // node does not read it
		env["NODE_EXTRA_CA_CERTS"] = file
	}
	return env
}

// said returns the end of what a program printed, without the paths of this preparation.
func said(b []byte, work string) string {
	b = bytes.TrimSpace(bytes.ToValidUTF8(b, []byte("\ufffd")))
	if len(b) > resolverOutput {
		b = b[len(b)-resolverOutput:]
	}
	return strings.ReplaceAll(string(bytes.ToValidUTF8(b, nil)), work+string(filepath.Separator), "")
}
