package nodeenv

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/program"
)

const (
	maxFiles      = 200_000
	unpacking     = 8    // how much larger packages that a person allowed become when they are unpacked, at most
	managerOutput = 1500 // bytes of what a manager printed, in a message
	look          = 200 * time.Millisecond
	reported      = 10_000_000       // bytes between two reports
	askTime       = 30 * time.Second // for the version of a manager
)

// installation is the making of one environment by a manager.
type installation struct {
	j         *job
	env, home string // the environment, and the manager's home, where its cache is
	lock      *lock
	allowed   bool // a large download
}

// choose has versions chosen, or takes those that were chosen before, and reads the lock. The manager sees a package.json with
// the dependencies alone.
func (i *installation) choose(ctx context.Context, next *record) error {
	j := i.j
	if next.choice = j.record.choice; j.given != nil {
		next.choice = *j.given
	}
	if next.Chosen == nil || j.o.anew(next.Resolved) {
		next.Resolved = time.Now()
		m, path, err := j.s.chooser()
		if err != nil {
			return fmt.Errorf("%s has no lock, and %w; or add a package-lock.json to the skill", j.pkg.file, err)
		}
		if err := os.WriteFile(filepath.Join(i.env, "package.json"), j.pkg.canonical(false), 0o600); err != nil {
			return err
		}
		if err := i.run(ctx, m, path, m.choose); err != nil {
			return err
		}
		b, err := readFile(os.DirFS(i.env), m.lock, maxLock)
		if err != nil {
			return fmt.Errorf("%s wrote no lock: %w", m.name, err)
		}
		next.Chosen = &chosen{m.name, string(b)}
	}
	for _, f := range lockFormats() {
		if m, _, _ := j.s.manager(next.Chosen.Program); f.manager == m.name && f.name == m.lock {
			chosen, err := f.check(j.pkg, "the lock that "+m.name+" wrote", []byte(next.Chosen.Lock), j.s.from)
			i.lock = &chosen
			return err
		}
	}
	return fmt.Errorf("the lock of %s cannot be read", next.Chosen.Program)
}

// chosen is a lock that a manager of the operator wrote.
type chosen struct {
	Program string `json:"program"`
	Lock    string `json:"lock"`
}

// install has the manager of the lock install the packages. If they become a large download, it ends the manager, asks, and
// goes on with what is in the manager's cache.
func (i *installation) install(ctx context.Context) error {
	m, path, err := i.j.s.manager(i.lock.format.manager)
	if err != nil {
		return fmt.Errorf("%s is a lock of %s, and %w; or its author can add a package-lock.json", i.lock.file, m.name, err)
	}
	err = errors.Join(os.WriteFile(filepath.Join(i.env, "package.json"), i.j.pkg.canonical(i.j.lock.file != ""), 0o600),
		os.WriteFile(filepath.Join(i.env, m.lock), i.lock.text, 0o600))
	if err != nil {
		return err
	}
	args := m.install
	err = i.run(ctx, m, path, args)
	if m.name == "npm" && err != nil && strings.Contains(err.Error(), "ERESOLVE") { // the lock was made with this option
		args = append(args, "--legacy-peer-deps")
		err = i.run(ctx, m, path, args)
	}
	var large *largeError
	if errors.As(err, &large) {
		if ask := i.j.o.Large; ask != nil {
			if i.allowed, err = ask(ctx, Download{Script: i.j.p.Script, Packages: i.largest(), Bytes: large.bytes}); err != nil {
				return err
			}
		}
		if !i.allowed {
			return fmt.Errorf("%w: more than %d MB", ErrLargeDownload, large.bytes/1_000_000)
		}
		err = i.run(ctx, m, path, args)
	}
	return err
}

// largest returns the packages of the lock, those first of which most is there.
func (i *installation) largest() []string {
	sizes := map[string]int64{}
	for _, id := range i.lock.packages {
		var bytes int64
		var files int
		envstore.Measure(filepath.Join(i.env, modules, filepath.FromSlash(id[:strings.LastIndexByte(id, '@')])), &bytes, &files)
		sizes[id] = bytes
	}
	return slices.SortedStableFunc(slices.Values(i.lock.packages), func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) })
}

type largeError struct{ bytes int64 }

func (*largeError) Error() string { return ErrLargeDownload.Error() }

// check returns an error if what was fetched and installed until now is too much.
func (i *installation) check() error {
	var fetched, bytes int64
	var files int
	envstore.Measure(i.home, &fetched, &files)
	if fetched >= reported {
		i.j.progress.Say(fmt.Sprintf("preparing the npm packages of %s (%d MB fetched)", i.j.p.Script, fetched/reported*reported/1_000_000))
	}
	if fetched > i.j.s.large && !i.allowed {
		return &largeError{fetched}
	}
	limit := i.j.s.o.MaxBytes
	if i.allowed {
		limit = max(limit, unpacking*fetched)
	}
	bytes = fetched
	switch envstore.Measure(i.env, &bytes, &files); {
	case bytes > limit:
		return fmt.Errorf("%w: they take more than %d bytes", ErrTooLarge, limit)
	case files > maxFiles:
		return fmt.Errorf("%w: more than %d files", ErrTooLarge, maxFiles)
	}
	return nil
}

// run runs a manager in the environment, and ends it when it fetches or writes too much.
func (i *installation) run(ctx context.Context, m manager, path string, args []string) error {
	s := i.j.s
	lines := append(slices.Clone(s.from.lines), fmt.Sprintf("fetch-retry-mintimeout=%d", s.pause.Milliseconds()), fmt.Sprintf("fetch-retry-maxtimeout=%d", 4*s.pause.Milliseconds()))
	authorities, err := s.from.authorities()
	if err != nil {
		return err
	}
	if authorities != nil {
		file := filepath.Join(i.home, "authorities.pem")
		lines = append(lines, "cafile="+file)
		if err := os.WriteFile(file, authorities, 0o600); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(i.home, ".npmrc"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	var others []string
	if node, err := s.o.LookPath("node"); err == nil {
		others = append(others, node)
	}
	watched, stop := envstore.Watch(ctx, look, i.check)
	c := &Command{Path: path, Args: append([]string{path}, args...), Dir: i.env, Env: program.Pairs(i.environment(path, authorities != nil)),
		Timeout: s.o.MaxTime, MaxStdout: 64 << 10, Write: []string{i.env, i.home}, Programs: others, Hosts: append(s.from.hosts(), s.o.Hosts...)}
	out, err := s.o.Run(watched, c)
	over := stop()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case over != nil:
		return over
	case err != nil:
		return err
	case out.TimedOut:
		return fmt.Errorf("%s took more than %gs", m.name, s.o.MaxTime.Seconds())
	case out.ExitCode == 0:
		return i.check()
	case len(out.Refused) > 0:
		return fmt.Errorf("%s: %w", m.name, &HostError{Hosts: out.Refused})
	case aboutCertificate(out):
		return fmt.Errorf("%s failed: %s: %w", m.name, i.said(out), errCertificate)
	}
	if err := s.tooOld(ctx, m, c); err != nil {
		return err
	}
	return fmt.Errorf("%s failed with exit code %d: %s", m.name, out.ExitCode, i.said(out))
}

// tooOld returns an error if the manager that failed with a command is older than what it was told.
func (s *Store) tooOld(ctx context.Context, m manager, c *Command) error {
	ask := *c
	ask.Args, ask.Hosts, ask.Timeout = []string{c.Path, "--version"}, nil, min(c.Timeout, askTime)
	out, err := s.o.Run(ctx, &ask)
	if err != nil {
		return nil //nolint:nilerr // why the command failed says more
	}
	version := strings.TrimSpace(string(out.Stdout))
	if have := "v" + version; !semver.IsValid(have) || semver.Compare(have, "v"+m.least) >= 0 {
		return nil
	}
	return fmt.Errorf("%s %s is too old, version %s or later is needed: %s", m.name, version, m.least, m.get)
}

// aboutCertificate reports whether a manager says that it does not know who signed a certificate.
func aboutCertificate(out *Output) bool {
	for _, code := range []string{"SELF_SIGNED_CERT", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "UNABLE_TO_GET_ISSUER_CERT", "self-signed certificate"} {
		if bytes.Contains(out.Stderr, []byte(code)) || bytes.Contains(out.Stdout, []byte(code)) {
			return true
		}
	}
	return false
}

// environment returns the environment of a manager: the programs that it needs, and what the network needs.
func (i *installation) environment(path string, authorities bool) map[string]string {
	folders := []string{filepath.Dir(path)}
	if node, err := i.j.s.o.LookPath("node"); err == nil { // npm is a script of it
		folders = append(folders, filepath.Dir(node))
	}
	env := map[string]string{
		"PATH": strings.Join(append(folders, program.FixedPath), string(filepath.ListSeparator)),
		"HOME": i.home, "USERPROFILE": i.home, "TMPDIR": i.home, "LANG": "C.UTF-8", "NO_COLOR": "1", "CI": "1", "npm_config_globalconfig": os.DevNull,
	}
	for _, kv := range i.j.s.o.Env {
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

// said returns the beginning of what a manager printed, which names the fault, without the paths of this preparation.
func (i *installation) said(out *Output) string {
	b := bytes.TrimSpace(out.Stderr)
	if len(b) == 0 {
		b = bytes.TrimSpace(out.Stdout)
	}
	for _, more := range []string{"\nnpm error\nnpm error Clean install a project", "\nnpm error A complete log"} { // options follow, and what is removed
		b, _, _ = bytes.Cut(b, []byte(more))
	}
	text := strings.NewReplacer(i.home+string(filepath.Separator), "", i.env+string(filepath.Separator), "").Replace(string(bytes.ToValidUTF8(b, []byte("\ufffd"))))
	return strings.ToValidUTF8(text[:min(len(text), managerOutput)], "")
}

// finish removes what is not a package from the environment, and looks at the packages: it returns them as "name@version", and those
// that have install scripts.
func (i *installation) finish() (packages, unbuilt []string, err error) {
	entries, err := os.ReadDir(i.env)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range entries {
		if d.Name() != modules {
			if err := os.RemoveAll(filepath.Join(i.env, d.Name())); err != nil {
				return nil, nil, err
			}
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(i.env, modules), 0o755), os.Mkdir(filepath.Join(i.env, skills), 0o700)); err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(filepath.Join(i.env, modules))
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case d.Type()&fs.ModeSymlink != 0:
			if _, err := root.Stat(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("the link %q leads out of the packages, which is not allowed: ask the author of the package", clip(file))
			}
		case !d.Type().IsRegular():
			return fmt.Errorf("%q is not a file: ask the author of the package", clip(file))
		case d.Name() == "package.json" && isPlace(path.Dir(file)):
			id, installs := readInstalled(root, path.Dir(file))
			if packages = append(packages, id); installs {
				unbuilt = append(unbuilt, id)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for _, name := range sortedKeys(i.j.pkg.Dependencies) {
		if info, err := root.Stat(name); err != nil || !info.IsDir() {
			return nil, nil, fmt.Errorf("%s did not install %s, although its lock has it", i.lock.format.manager, name)
		}
	}
	slices.Sort(packages)
	slices.Sort(unbuilt)
	return slices.Compact(packages), slices.Compact(unbuilt), nil
}

// isPlace reports whether a folder of node_modules is that of a package: NAME there or below another node_modules.
func isPlace(dir string) bool {
	if at := strings.LastIndex("/"+dir, "/"+modules+"/"); at >= 0 {
		dir = dir[at+len(modules)+1:]
	}
	return validName(dir)
}

// readInstalled returns the name and version of an installed package, and whether a manager would run something of it.
func readInstalled(root *os.Root, dir string) (id string, installs bool) {
	var p struct {
		Name, Version string
		Scripts       map[string]json.RawMessage
	}
	if b, err := readFile(root.FS(), dir+"/package.json", maxPackageJSON); err == nil {
		_ = json.Unmarshal(b, &p) // a package may have anything there
	}
	_, err := root.Stat(dir + "/binding.gyp")
	if p.Name == "" || p.Version == "" {
		p.Name, p.Version = path.Base(dir), "unknown"
	}
	return clip(p.Name) + "@" + clip(p.Version), err == nil || p.Scripts["preinstall"] != nil || p.Scripts["install"] != nil || p.Scripts["postinstall"] != nil
}
